import { z } from 'zod'
import type { DataOf } from '../world/component.ts'
import { lazily } from '../world/lazily.ts'
import { failureKinds } from './failure.ts'

/** When a failed model call is tried again. */
export const RetryPolicy = lazily(() =>
  z.strictObject({
    /** Tries in all, the first included. */
    maxAttempts: z.number().int().min(1),
    /** Wait before the second try; it doubles from then on. */
    firstDelayMs: z.number().nonnegative(),
    /** Longest wait that the doubling reaches. A longer `retryAfterMs` of the provider counts, up to `maxRetryAfterMs`. */
    maxDelayMs: z.number().nonnegative(),
    /**
     * Longest `retryAfterMs` of the provider that is waited for. One that asks for more is not held, and the call fails with
     * what it said. @default 600_000, ten minutes
     */
    maxRetryAfterMs: z.number().nonnegative().optional(),
    /** Kinds of failure that are worth another try. */
    kinds: z.array(z.enum(failureKinds)),
  }),
)
export type RetryPolicy = DataOf<typeof RetryPolicy>

/** Applies wherever neither the agent nor the provider says otherwise. */
export const standardRetry: RetryPolicy & { readonly maxRetryAfterMs: number } = {
  maxAttempts: 3,
  firstDelayMs: 4_000,
  maxDelayMs: 60_000,
  maxRetryAfterMs: 600_000,
  kinds: ['rate-limited', 'overloaded', 'timed-out', 'truncated'],
}
