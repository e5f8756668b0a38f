import { refuseUnknownOptions } from '../world/known-options.ts'
import { thrownMessage } from '../tools/thrown-message.ts'
import { EntiaError } from '../world/entia-error.ts'
import { failureReport } from './failure-report.ts'
import type { FaultName } from './fault.ts'
import { checkedOptions, simulateOptionNames, type SimulateOptions } from './options.ts'
import { checkShapes } from './option-shapes.ts'
import { watchRealUse } from './real-use.ts'
import type { ServiceSet } from './service.ts'
import { shrink, type ShrunkCase } from './shrink.ts'
import { simulate, type SimulationResult } from './simulate.ts'

/** What is run under each seed, and how many seeds there are. */
export interface SweepOptions<S extends ServiceSet = ServiceSet> extends Omit<SimulateOptions<S>, 'seed' | 'onTrace'> {
  /** How many seeds. */
  readonly seeds: number
  /** The first one. @default 1 */
  readonly from?: number
  /** Whether the first failure is made smaller. @default true */
  readonly shrink?: boolean
  /** Whether runs go on after a failure. @default false */
  readonly keepGoing?: boolean
  /** Told after each run. */
  readonly onProgress?: (progress: SweepProgress) => void
}

/** How far a sweep is. */
export interface SweepProgress {
  readonly done: number
  readonly seeds: number
  readonly failures: number
  /** Real time of the runs so far, in milliseconds. */
  readonly realMs: number
}

/** The first run of a sweep that broke a law. */
export interface SweepFailure {
  readonly result: SimulationResult
  /** `undefined`: it was not asked for, or the run could not be made again. */
  readonly shrunk: ShrunkCase | undefined
  /** All that people want to know of it, with a test to paste. */
  readonly report: string
}

/** What became of the runs of a sweep, counted. The same options give the same, real time aside. */
export interface SweepResult {
  /** Every law held in every run. */
  readonly ok: boolean
  readonly runs: number
  /** How many runs broke a law. */
  readonly failures: number
  /** The seeds of these, at most the first 100. */
  readonly failed: readonly number[]
  /** In how many runs each law was broken. */
  readonly broken: Readonly<Record<string, number>>
  readonly failure: SweepFailure | undefined
  /** How often each fault struck. */
  readonly faults: { readonly [N in FaultName]?: number }
  /** How often a law was asked. */
  readonly checks: number
  readonly ticks: number
  readonly crashes: number
  readonly virtualMs: number
  /** Real time of the runs, in milliseconds, without what made the failure smaller. */
  readonly realMs: number
  readonly runsPerSecond: number
}

export const sweepDefaults = { from: 1, shrink: true, keepGoing: false } as const

/** So many failed seeds are named. */
export const maxFailedNamed = 100

const ownNames = ['seeds', 'from', 'shrink', 'keepGoing', 'onProgress']

/**
 * Simulates the same under many seeds, one after the other, and reports on the first run that breaks a law.
 *
 * @throws `invalid-argument`; also when `world` throws, with the seed for which it did
 */
export async function sweep<S extends ServiceSet = ServiceSet>(options: SweepOptions<S>): Promise<SweepResult> {
  const { seeds, from, isShrinking, keepGoing, onProgress, simulated } = checked(options as SweepOptions)
  const tally = new Tally()
  let first: SimulationResult | undefined
  // Watched from the first run to the last: each time that globals are replaced, what was compiled for them is lost.
  const endWatch = watchRealUse()
  try {
    for (let seed = from; seed < from + seeds; seed++) {
      const beganMs = performance.now()
      const result = await simulateOne(simulated, seed)
      tally.add(result, performance.now() - beganMs)
      if (!result.ok) first ??= result
      onProgress?.({ done: tally.runs, seeds, failures: tally.failures, realMs: tally.realMs })
      if (first !== undefined && !keepGoing) break
    }
    return tally.result(first && (await failureOf(first, simulated, isShrinking)))
  } finally {
    endWatch()
  }
}

async function simulateOne(options: SimulateOptions, seed: number): Promise<SimulationResult> {
  try {
    return await simulate({ ...options, seed })
  } catch (error) {
    const message = `sweep(): seed ${seed} could not be run: ${thrownMessage(error)}`
    throw new EntiaError('invalid-argument', message, { seed }, { cause: error })
  }
}

async function failureOf(
  result: SimulationResult,
  options: SimulateOptions,
  isShrinking: boolean,
): Promise<SweepFailure> {
  const shrunk = isShrinking ? await shrink(options, result) : undefined
  const isUnsteady = isShrinking && shrunk === undefined
  return { result, shrunk, report: failureReport(result, { shrunk, isUnsteady, options: Object.keys(options) }) }
}

/** Sums over runs. What a run has left behind is let go of. */
class Tally {
  runs = 0
  failures = 0
  realMs = 0
  readonly #failed: number[] = []
  readonly #broken: Record<string, number> = {}
  readonly #faults: Partial<Record<FaultName, number>> = {}
  #checks = 0
  #ticks = 0
  #crashes = 0
  #virtualMs = 0

  add({ seed, violation, faults, checks, ticks, crashes, virtualMs }: SimulationResult, realMs: number): void {
    this.runs++
    this.realMs += realMs
    this.#checks += checks
    this.#ticks += ticks
    this.#crashes += crashes
    this.#virtualMs += virtualMs
    for (const { what } of faults) this.#faults[what] = (this.#faults[what] ?? 0) + 1
    if (violation === undefined) return
    this.failures++
    this.#broken[violation.law] = (this.#broken[violation.law] ?? 0) + 1
    if (this.#failed.length < maxFailedNamed) this.#failed.push(seed)
  }

  result(failure: SweepFailure | undefined): SweepResult {
    const { runs, failures, realMs } = this
    return {
      ok: failures === 0,
      runs,
      failures,
      failed: this.#failed,
      broken: this.#broken,
      failure,
      faults: this.#faults,
      checks: this.#checks,
      ticks: this.#ticks,
      crashes: this.#crashes,
      virtualMs: this.#virtualMs,
      realMs,
      runsPerSecond: realMs > 0 ? (runs / realMs) * 1_000 : 0,
    }
  }
}

function checked(options: SweepOptions) {
  checkShapes('sweep()', options)
  const runNames = simulateOptionNames.filter((name) => name !== 'seed' && name !== 'onTrace')
  refuseUnknownOptions('sweep()', options, [...ownNames, ...runNames])
  const {
    seeds,
    from = sweepDefaults.from,
    shrink: isShrinking = sweepDefaults.shrink,
    keepGoing = sweepDefaults.keepGoing,
    onProgress,
    ...simulated
  } = options
  if (!(Number.isSafeInteger(seeds) && seeds >= 1)) {
    throw new EntiaError('invalid-argument', `sweep(): seeds is a whole number of 1 or more; came ${String(seeds)}.`)
  }
  if (!(Number.isSafeInteger(from) && from >= 0 && Number.isSafeInteger(from + seeds))) {
    throw new EntiaError('invalid-argument', `sweep(): from is a whole number of 0 or more; came ${String(from)}.`)
  }
  checkedOptions(simulated)
  return { seeds, from, isShrinking, keepGoing, onProgress, simulated }
}
