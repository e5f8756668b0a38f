import { maxFailedNamed, type SweepResult } from '../../sim/sweep.ts'

export interface SeedRange {
  readonly from: number
  readonly seeds: number
}

/** Without `keepGoing` a range ends at its first failure. */
export interface RangeResult<F> {
  readonly tally: Tally
  /** Of the lowest failed seed. */
  readonly failure: F | undefined
}

/** Real time that a range should take: progress is shown after each. */
const rangeMs = 200
const maxRange = 500

/**
 * Hands out seeds in ranges, and adds up their results. Without `keepGoing` only seeds up to the lowest failed one count,
 * so the sum does not depend on how fast each job is.
 */
export class SeedRanges<F extends { readonly seed: number }> {
  readonly #end: number
  readonly #keepGoing: boolean
  #next: number
  #results: { readonly from: number; readonly result: RangeResult<F> }[] = []
  #failure: F | undefined
  #tally: Tally = emptyTally

  constructor({ from, seeds, keepGoing }: SeedRange & { readonly keepGoing: boolean }) {
    this.#next = from
    this.#end = from + seeds
    this.#keepGoing = keepGoing
  }

  get tally(): Tally {
    return this.#tally
  }

  get failure(): F | undefined {
    return this.#failure
  }

  /** @param msARun how long the job takes per run. Returns `undefined` when no seed is left. */
  next(msARun: number | undefined): SeedRange | undefined {
    const end = this.#keepGoing ? this.#end : Math.min(this.#end, this.#failure?.seed ?? this.#end)
    if (this.#next >= end) return undefined
    const wanted = msARun === undefined ? 1 : Math.floor(rangeMs / Math.max(msARun, 0.001))
    const seeds = Math.min(Math.max(1, wanted), maxRange, end - this.#next)
    const range = { from: this.#next, seeds }
    this.#next += seeds
    return range
  }

  done({ from }: SeedRange, result: RangeResult<F>): void {
    if (!this.#keepGoing && from > (this.#failure?.seed ?? Infinity)) return
    this.#tally = added(this.#tally, result.tally)
    this.#results.push({ from, result })
    const { failure } = result
    if (failure === undefined || failure.seed > (this.#failure?.seed ?? Infinity)) return
    this.#failure = failure
    if (this.#keepGoing) return
    this.#results = this.#results.filter((each) => each.from <= failure.seed)
    this.#tally = this.#results.reduce((sum, each) => added(sum, each.result.tally), emptyTally)
  }
}

/** Plain data, so that jobs can send it. */
export type Tally = Omit<SweepResult, 'results' | 'ok' | 'failure' | 'realMs' | 'runsPerSecond'>

export const emptyTally: Tally = {
  runs: 0,
  failures: 0,
  failed: [],
  broken: {},
  faults: {},
  checks: 0,
  ticks: 0,
  crashes: 0,
  virtualMs: 0,
}

export function tallyOf(result: SweepResult): Tally {
  const { runs, failures, failed, broken, faults, checks, ticks, crashes, virtualMs } = result
  return { runs, failures, failed, broken, faults, checks, ticks, crashes, virtualMs }
}

function added(one: Tally, other: Tally): Tally {
  return {
    runs: one.runs + other.runs,
    failures: one.failures + other.failures,
    failed: [...one.failed, ...other.failed].toSorted((a, b) => a - b).slice(0, maxFailedNamed),
    broken: summed(one.broken, other.broken),
    faults: summed(one.faults, other.faults),
    checks: one.checks + other.checks,
    ticks: one.ticks + other.ticks,
    crashes: one.crashes + other.crashes,
    virtualMs: one.virtualMs + other.virtualMs,
  }
}

export function faultsIn({ faults }: Tally): number {
  return Object.values(faults).reduce((sum, count) => sum + count, 0)
}

type Counts = Readonly<Partial<Record<string, number>>>

function summed(one: Counts, other: Counts): Record<string, number> {
  const names = [...new Set([...Object.keys(one), ...Object.keys(other)])].toSorted()
  return Object.fromEntries(names.map((name) => [name, (one[name] ?? 0) + (other[name] ?? 0)]))
}
