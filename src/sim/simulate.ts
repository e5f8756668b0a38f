import type { ModelProvider } from '../models/port.ts'
import { loadTokenizer } from '../rules/tokens/tokenizer.ts'
import { isMakersName, loadPrices } from '../models/prices.ts'
import type { World } from '../world/world.ts'
import type { Fault } from './fault.ts'
import type { WatchedWorld } from './law.ts'
import { checkedOptions, type SimulateOptions } from './options.ts'
import type { Missed } from './recording/missed.ts'
import type { RealUse } from './real-use.ts'
import type { ServiceSet, ServiceStates } from './service.ts'
import { Simulation } from './simulation.ts'
import type { Trace } from './trace.ts'
import type { Violation } from './run-recorder.ts'

/** What became of a simulated run. */
export interface SimulationResult<S extends ServiceSet = ServiceSet> {
  readonly seed: number
  /** Every law held, and the run came to its end. */
  readonly ok: boolean
  /** What was broken first; nothing went on after it. */
  readonly violation: Violation | undefined
  /** The root world as it was last. */
  readonly world: World
  /** The worlds of all sessions as they were last, and the root, by label. */
  readonly worlds: ReadonlyMap<string, WatchedWorld>
  /** SHA-256 of the root world. */
  readonly hash: string
  readonly trace: Trace
  /** The faults that struck, in order: passed as `faults`, they make the same run again. */
  readonly faults: readonly Fault[]
  readonly ticks: number
  readonly crashes: number
  /** How often a law was asked. */
  readonly checks: number
  /** World time that passed, in milliseconds. */
  readonly virtualMs: number
  /** What the simulated services have become. */
  readonly services: ServiceStates<S>
  /** What used the real clock or real dice. */
  readonly realUses: readonly RealUse[]
  /** What a recording had no answer to, in order: the first says what makes this run another one. */
  readonly missed: readonly Missed[]
}

/**
 * Runs a world under a seed, on a virtual clock, with faults, until nothing is in flight and nothing is due or a law is
 * broken. The same seed gives the same run.
 *
 * @throws `invalid-argument`; what `world` throws. That a law was broken is no error: the result says it.
 */
export async function simulate<S extends ServiceSet = ServiceSet>(
  options: SimulateOptions<S>,
): Promise<SimulationResult<S>> {
  const simulation = new Simulation(checkedOptions(options as SimulateOptions))
  // Loaded in the midst of a process's first run, they could come between calls that are settled at the same instant.
  if (needsPrices(simulation.options.models)) await loadPrices()
  await loadTokenizer()
  await simulation.run()
  const { plan, recorder, world, realUses, nowMs } = simulation
  const { trace, violation, worlds, ticks, crashes, book } = recorder
  const services = Object.entries(simulation.services).map(([name, { state }]) => [name, state] as const)
  return {
    seed: simulation.options.seed,
    ok: violation === undefined,
    violation,
    world,
    worlds,
    get hash() {
      return world.hash()
    },
    trace,
    faults: plan.struck,
    ticks,
    crashes,
    checks: book.checks,
    virtualMs: nowMs,
    services: Object.fromEntries(services) as ServiceStates<S>,
    realUses,
    missed: simulation.missed,
  }
}

function needsPrices(models: Readonly<Record<string, ModelProvider>>): boolean {
  return Object.entries(models).some(([name, { isInProcess }]) => isMakersName(name) || isInProcess !== true)
}
