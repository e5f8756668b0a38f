import type { Failure } from '../protocol/failure.ts'
import type { ModelOutcome } from './port.ts'

/** A failure as an outcome. */
export function failed(failure: Failure): ModelOutcome {
  return { ok: false, failure }
}
