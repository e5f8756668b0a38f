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
import { FleetSimulation } from './fleet/fleet-simulation.ts'
import { Simulation } from './simulation.ts'
import type { Trace } from './trace.ts'
import type { StruckFault, Violation } from './run-recorder.ts'
import type { SavedWorld } from '../engine/recording/recording.ts'
import { misuse } from './describe-value.ts'

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
  /** A store kept its worlds. */
  readonly isKept: boolean
  /** The faults that struck, in order: passed as `faults`, they reproduce the run; with `store: 'none'` unless `isKept`. */
  readonly faults: readonly Fault[]
  readonly ticks: number
  readonly crashes: number
  readonly checks: number
  /** How often each law has looked, by name. */
  readonly looks: Readonly<Record<string, number>>
  /** The same faults, and where the run was when each struck. */
  readonly struck: readonly StruckFault[]
  /** World time that passed, in milliseconds. */
  readonly virtualMs: number
  readonly services: ServiceStates<S>
  readonly realUses: readonly RealUse[]
  /** Calls without an answer in the recording, in order: the first says where the run diverged. */
  readonly missed: readonly Missed[]
  /** All ticks of all worlds, the root first. @throws `invalid-argument` where none are kept: with `onTrace` */
  readonly recorded: () => readonly SavedWorld[]
}

/**
 * Runs a world under a seed, on a virtual clock and with faults, until nothing is in flight or due, or a law is broken.
 * The same seed gives the same run.
 * @throws `invalid-argument`; what `world` throws. A broken law is no error: the result reports it.
 */
export async function simulate<S extends ServiceSet = ServiceSet>(
  options: SimulateOptions<S>,
): Promise<SimulationResult<S>> {
  return runSimulation(options, true)
}

/** @param keepsTicks whether `recorded()` has them: of most runs of a sweep no one asks for them */
export async function runSimulation<S extends ServiceSet = ServiceSet>(
  options: SimulateOptions<S>,
  keepsTicks: boolean,
): Promise<SimulationResult<S>> {
  const checked = checkedOptions(options as SimulateOptions)
  const Run = checked.processes === 1 ? Simulation : FleetSimulation
  const simulation = new Run(checked, keepsTicks)
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
    isKept: simulation.isKept,
    faults: plan.struck,
    ticks,
    crashes,
    checks: book.checks,
    virtualMs: nowMs,
    services: Object.fromEntries(services) as ServiceStates<S>,
    realUses,
    missed: simulation.missed,
    looks: book.looks,
    struck: recorder.struckFaults,
    recorded: () => {
      if (recorder.history !== undefined) return recorder.history.saved()
      const why = keepsTicks ? 'with onTrace none are. Leave out onTrace' : 'a sweep keeps those of its failure alone'
      throw misuse(`The ticks of a run are kept as its trace is; ${why}.`)
    },
  }
}

function needsPrices(models: Readonly<Record<string, ModelProvider>>): boolean {
  return Object.entries(models).some(([name, { isInProcess }]) => isMakersName(name) || isInProcess !== true)
}
