import { refuseUnknownOptions } from '../base/known-options.ts'
import { thrownMessage } from '../base/thrown-message.ts'
import { EntiaError } from '../base/entia-error.ts'
import { inspect } from '../base/inspect.ts'
import type { World } from '../world/world.ts'
import { cutText } from '../base/cut-text.ts'
import { describeValue, misuse } from './describe-value.ts'
import { failureReport } from './failure-report.ts'
import type { FaultName } from './fault.ts'
import { checkedOptions, checkShapes, simulateOptionNames, type SimulateOptions } from './options.ts'
import { watchRealUse } from './real-use.ts'
import type { ServiceSet } from './service.ts'
import { shrink, type ShrunkCase } from './shrink.ts'
import { runSimulation, simulate, type SimulationResult } from './simulate.ts'

/** Options of `sweep`. */
export interface SweepOptions<S extends ServiceSet = ServiceSet, C = unknown> extends Omit<
  SimulateOptions<S>,
  'seed' | 'onTrace' | 'world'
> {
  /** Makes the root world, as for `simulate`; with `cases`, of this case. `name` is that of a world of `letters`. */
  readonly world: (seed: number, one: C, name?: string) => World
  /** Each case is run under each seed. @default none */
  readonly cases?: readonly C[]
  /** Options of one case, which override the others: models, tools, users, services, laws. */
  readonly forCase?: (one: C) => Partial<Omit<SimulateOptions<S>, 'seed' | 'onTrace' | 'world'>>
  /** How many seeds to run, for each case. */
  readonly seeds: number
  /** The first seed. @default 1 */
  readonly from?: number
  /** Shrink the first failure. @default true */
  readonly shrink?: boolean
  /** Continue after a failure. @default false */
  readonly keepGoing?: boolean
  /** Called after each run. */
  readonly onProgress?: (progress: SweepProgress) => void
  /** Called with the result of each run, and its case. */
  readonly onResult?: (result: SimulationResult, one: C) => void
}

/** One seed of a sweep. */
export interface SweepRun {
  readonly seed: number
  /** Index of its case; absent without cases. */
  readonly case?: number
  readonly ok: boolean
  readonly law?: string
}

/** How far a sweep is. */
export interface SweepProgress {
  readonly done: number
  /** Number of runs in total: seeds for each case. */
  readonly seeds: number
  readonly failures: number
  /** Real time of the runs so far, in milliseconds. */
  readonly realMs: number
}

/** The first run of a sweep that broke a law. */
export interface SweepFailure {
  readonly result: SimulationResult
  /** `undefined`: not requested, or not reproducible. */
  readonly shrunk: ShrunkCase | undefined
  /** Includes a test to paste. */
  readonly report: string
}

/** Totals of a sweep. Reproducible except for real time. */
export interface SweepResult {
  readonly ok: boolean
  readonly runs: number
  readonly failures: number
  readonly failed: readonly number[]
  /** Number of runs that broke each law. */
  readonly broken: Readonly<Record<string, number>>
  readonly failure: SweepFailure | undefined
  /** All runs in order: by case, then by seed. */
  readonly results: readonly SweepRun[]
  readonly faults: { readonly [N in FaultName]?: number }
  readonly checks: number
  readonly ticks: number
  readonly crashes: number
  readonly virtualMs: number
  /** Real time of the runs in milliseconds, without shrinking. */
  readonly realMs: number
  readonly runsPerSecond: number
}

/** What holds for `sweep` where its options say nothing. */
export const sweepDefaults = { from: 1, shrink: true, keepGoing: false } as const

export const maxFailedNamed = 100

const ownNames = ['seeds', 'from', 'shrink', 'keepGoing', 'onProgress', 'onResult', 'cases', 'forCase']

/**
 * Simulates many seeds, one after the other, and reports the first run that breaks a law.
 * @throws `invalid-argument`; also when `world` throws, with the seed
 */
export async function sweep<S extends ServiceSet = ServiceSet, C = unknown>(
  options: SweepOptions<S, C>,
): Promise<SweepResult> {
  const { cases, seeds, from, isShrinking, keepGoing, onProgress, onResult } = checked(options as SweepOptions)
  const totals = noRuns()
  const total = seeds * cases.length
  let first: { readonly result: SimulationResult; readonly made: CaseOptions } | undefined
  // Watched from the first run to the last: replacing globals discards compiled code.
  const endWatch = watchRealUse()
  try {
    for (const made of cases) {
      for (let seed = from; seed < from + seeds; seed++) {
        const beganMs = performance.now()
        const result = await simulateOne(made.simulated, seed)
        add(totals, result, made.index)
        totals.realMs += performance.now() - beganMs
        if (!result.ok) first ??= { result: await withTicks(result, made), made }
        onResult?.(result, made.one)
        onProgress?.({ done: totals.runs, seeds: total, failures: totals.failures, realMs: totals.realMs })
        if (first !== undefined && !keepGoing) break
      }
      if (first !== undefined && !keepGoing) break
    }
    const failure = first && (await failureOf(first.result, first.made, isShrinking))
    const { runs, realMs } = totals
    return { ok: totals.failures === 0, ...totals, failure, runsPerSecond: realMs > 0 ? (runs / realMs) * 1_000 : 0 }
  } finally {
    endWatch()
  }
}

interface CaseOptions {
  readonly simulated: SimulateOptions
  /** `undefined`: the sweep has no cases. */
  readonly one: unknown
  readonly index: number | undefined
}

async function simulateOne(options: SimulateOptions, seed: number): Promise<SimulationResult> {
  try {
    return await runSimulation({ ...options, seed }, false)
  } catch (error) {
    const message = `sweep(): seed ${seed} could not be run: ${thrownMessage(error)}`
    throw new EntiaError('invalid-argument', message, { seed }, { cause: error })
  }
}

/** The same run with its ticks, for who looks at it; if it does not come again, as it was. */
async function withTicks(result: SimulationResult, { simulated: options }: CaseOptions): Promise<SimulationResult> {
  const again = await simulate({ ...options, seed: result.seed })
  return again.trace.hash === result.trace.hash ? again : result
}

async function failureOf(
  result: SimulationResult,
  { simulated: options, one, index }: CaseOptions,
  isShrinking: boolean,
): Promise<SweepFailure> {
  const shrunk = isShrinking ? await shrink(options, result) : undefined
  const isUnsteady = isShrinking && shrunk === undefined
  const report = failureReport(result, { shrunk, isUnsteady, options: Object.keys(options) })
  const named = index === undefined ? '' : `Case ${index}: ${cutText(inspect(one, { depth: 2 }), maxCaseChars, '…')}\n`
  return { result, shrunk, report: named + report }
}

const maxCaseChars = 300

/** Totals over runs. Keeps no worlds, so that memory stays bounded. */
function noRuns() {
  return {
    runs: 0,
    failures: 0,
    failed: [] as number[],
    broken: {} as Record<string, number>,
    results: [] as SweepRun[],
    faults: {} as Partial<Record<FaultName, number>>,
    checks: 0,
    ticks: 0,
    crashes: 0,
    virtualMs: 0,
    realMs: 0,
  }
}

function add(totals: ReturnType<typeof noRuns>, result: SimulationResult, index: number | undefined): void {
  const { seed, ok, violation, faults } = result
  const law = violation?.law
  totals.results.push({ seed, ...(index !== undefined && { case: index }), ok, ...(law !== undefined && { law }) })
  totals.runs++
  for (const each of ['checks', 'ticks', 'crashes', 'virtualMs'] as const) totals[each] += result[each]
  for (const { what } of faults) totals.faults[what] = (totals.faults[what] ?? 0) + 1
  if (law === undefined) return
  totals.failures++
  totals.broken[law] = (totals.broken[law] ?? 0) + 1
  if (totals.failed.length < maxFailedNamed) totals.failed.push(seed)
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
    onResult,
    cases,
    forCase,
    ...simulated
  } = options
  if (!(Number.isSafeInteger(seeds) && seeds >= 1)) {
    throw misuse(`sweep(): seeds must be an integer ≥ 1, got ${describeValue(seeds)}.`)
  }
  if (!(Number.isSafeInteger(from) && from >= 0 && Number.isSafeInteger(from + seeds))) {
    throw misuse(`sweep(): from must be an integer ≥ 0, got ${describeValue(from)}.`)
  }
  const made = casesOf(cases).map(({ one, index }): CaseOptions => {
    const own = forCase === undefined || index === undefined ? {} : forCase(one)
    return {
      one,
      index,
      simulated: {
        ...simulated,
        ...own,
        world: (seed, name) => simulated.world(seed, index === undefined ? name : one, name),
      },
    }
  })
  for (const each of made) checkedOptions(each.simulated)
  return { cases: made, seeds, from, isShrinking, keepGoing, onProgress, onResult }
}

/** The cases of a sweep; without any, one placeholder. */
function casesOf(cases: unknown): readonly { readonly one: unknown; readonly index: number | undefined }[] {
  if (cases === undefined) return [{ one: undefined, index: undefined }]
  if (Array.isArray(cases) && cases.length > 0) return cases.map((one: unknown, index) => ({ one, index }))
  const got = Array.isArray(cases) ? 'an empty list' : describeValue(cases)
  throw misuse(`sweep(): cases must be a list of one case or more, got ${got}.`)
}

/**
 * Fails a test if a law was broken in the run or the sweep. @throws `law-broken` with the report; `invalid-argument`
 */
export function assertLawful(result: SimulationResult | SweepResult): void {
  if (typeof result?.ok !== 'boolean') {
    throw misuse(`assertLawful() takes what simulate() or sweep() gives, got ${describeValue(result)}.`)
  }
  if (result.ok) return
  const broken = 'failure' in result ? result.failure?.result : result
  const { seed, violation } = broken ?? {}
  throw new EntiaError('law-broken', reportOf(result), { seed, law: violation?.law })
}

/** The report of a run that broke a law, or of the first such run of a sweep. */
export function reportOf(result: SimulationResult | SweepResult): string {
  if (!('failure' in result)) return failureReport(result)
  return result.failure?.report ?? `No law was broken in ${result.runs} runs.`
}
