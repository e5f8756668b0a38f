import type { RunFacts } from '../inspector/reading/wire.ts'
import { failureReport, pastedTest } from './failure-report.ts'
import type { ShrunkCase } from './shrink.ts'
import type { SimulationResult } from './simulate.ts'

/** What is said of a saved run besides what the run says itself. */
export interface RunFactsDetails {
  /** @default that of the root world */
  readonly name?: string | undefined
  /** Fewer faults that break the same law. @default not looked for */
  readonly shrunk?: (Pick<ShrunkCase, 'faults'> & Partial<Pick<ShrunkCase, 'latencyMs' | 'runs'>>) | undefined
  /** @default `reportOf` the run */
  readonly report?: string | undefined
  /** Names of the options of the run, for the test. */
  readonly options?: readonly string[] | undefined
}

/** What a simulation found, as the inspector shows it. */
export function runFacts(result: SimulationResult, { name, options, report, shrunk }: RunFactsDetails = {}): RunFacts {
  const { hash, looks, seed, struck, violation, virtualMs, world, worlds } = result
  const nameOf = (label: string): string => worlds.get(label)?.world.name ?? label
  return {
    name: name ?? world.name,
    seed,
    atMs: virtualMs,
    hash,
    laws: Object.entries(looks).map(([law, count]) => {
      return { name: law, looks: count, ...(violation?.law === law && { broken: true }) }
    }),
    faults: struck.map(({ atMs, fault: { what, ...facts }, label, tick }) => {
      return { atMs, name: what, ...(label !== undefined && { world: nameOf(label), tick }), facts: { ...facts } }
    }),
    ...(violation !== undefined && {
      violation: {
        law: violation.law,
        message: violation.message,
        world: nameOf(violation.world),
        tick: violation.tick,
        atMs: violation.atMs,
      },
      test: pastedTest(result, { latencyMs: undefined, ...(shrunk ?? { faults: result.faults }) }, options),
      report: report ?? failureReport(result, options === undefined ? {} : { options }),
    }),
    ...(shrunk !== undefined && {
      shrunk: { faults: shrunk.faults.map((fault) => ({ ...fault })), runs: shrunk.runs },
    }),
    canShrink: false,
  }
}
