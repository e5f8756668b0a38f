import { EntiaError } from '../world/entia-error.ts'
import { failureReport } from './failure-report.ts'
import { describeValue } from './describe-value.ts'
import type { SimulationResult } from './simulate.ts'
import type { SweepResult } from './sweep.ts'

/** Fails a test if a law was broken, in a run or in any run of a sweep. @throws `law-broken` with the report; `invalid-argument` */
export function assertLawful(result: SimulationResult | SweepResult): void {
  if (typeof result?.ok !== 'boolean') {
    throw new EntiaError(
      'invalid-argument',
      `assertLawful() takes what simulate() or sweep() gives, got ${describeValue(result)}.`,
    )
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
