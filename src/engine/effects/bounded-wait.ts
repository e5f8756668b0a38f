import type { Failure } from '../../protocol/failure.ts'

/**
 * A provider's failure with a valid wait: a negative one or NaN is dropped. If the wait exceeds the bound, the failure is final
 * and its message names both.
 */
export function withBoundedWait({ retryAfterMs: asked, ...failure }: Failure, maxRetryAfterMs: number): Failure {
  if (asked === undefined || !(asked >= 0)) return failure
  // A World holds no infinite numbers.
  const retryAfterMs = Math.min(asked, Number.MAX_SAFE_INTEGER)
  if (retryAfterMs <= maxRetryAfterMs) return { ...failure, retryAfterMs }
  const message =
    `${failure.message} It asks for a wait of ${retryAfterMs / 1_000} s; the longest that is waited for is ` +
    `${maxRetryAfterMs / 1_000} s (maxRetryAfterMs of the retry policy), so the call is not tried again.`
  return { ...failure, isFinal: true, message, retryAfterMs }
}
