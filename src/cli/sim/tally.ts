import { maxFailedNamed, type SweepResult } from '../../sim/sweep.ts'

/** What runs have come to, added up. Plain data, so that jobs can send it. */
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

/** Both together. */
export function added(one: Tally, other: Tally): Tally {
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
