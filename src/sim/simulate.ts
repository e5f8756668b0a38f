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

/** What a simulated run has given. */
export interface SimulationResult<S extends ServiceSet = ServiceSet> {
  readonly seed: number
  /** Every law held, and the run reached its end. */
  readonly ok: boolean
  /** The first violation, which ended the run. */
  readonly violation: Violation | undefined
  readonly world: World
  /** The final worlds of the root and all sessions, by label. */
  readonly worlds: ReadonlyMap<string, WatchedWorld>
  /** SHA-256 of the root world. */
  readonly hash: string
  readonly trace: Trace
  /** The faults that struck, in order: passed as `faults`, they reproduce the run. */
  readonly faults: readonly Fault[]
  readonly ticks: number
  readonly crashes: number
  readonly checks: number
  /** World time that passed, in milliseconds. */
  readonly virtualMs: number
  readonly services: ServiceStates<S>
  readonly realUses: readonly RealUse[]
  /** Calls without an answer in the recording, in order: the first says where the run diverged. */
  readonly missed: readonly Missed[]
}

/**
 * Runs a world under a seed, on a virtual clock and with faults, until nothing is in flight or due, or a law is broken.
 * The same seed gives the same run.
 * @throws `invalid-argument`; what `world` throws. A broken law is no error: the result reports it.
 */
export async function simulate<S extends ServiceSet = ServiceSet>(
  options: SimulateOptions<S>,
): Promise<SimulationResult<S>> {
  const simulation = new Simulation(checkedOptions(options as SimulateOptions))
  // Loaded during a process's first run, they could come between calls that settle at the same instant.
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
