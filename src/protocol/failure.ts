import { z } from 'zod'
import type { DataOf } from '../world/component.ts'
import { lazily } from '../base/lazily.ts'
import { json } from './values.ts'

/** Closed; decided where the failure is first seen. */
export const failureKinds = [
  'timed-out',
  'rate-limited',
  'overloaded',
  'context-overflow',
  'unauthorized',
  'invalid-request',
  'invalid-output',
  'refused',
  'truncated',
  'tool-threw',
  'tool-denied',
  'step-limit',
  'budget-spent',
  'cost-unknown',
  'watchdog',
  'cancelled',
  'interrupted',
  'store-failed',
  'internal',
] as const

/** A failure of the run, as data. */
export const Failure = lazily(() =>
  z.strictObject({
    /** Of a `context-overflow`: the window in tokens, if known. */
    contextWindow: z.number().int().positive().optional(),
    /** Never retry, whatever the policy says. */
    isFinal: z.literal(true).optional(),
    kind: z.enum(failureKinds),
    message: z.string(),
    /** As the provider asks. */
    retryAfterMs: z.number().nonnegative().optional(),
  }),
)
export type Failure = DataOf<typeof Failure>
/** The kinds of failures of a run. */
export type FailureKind = (typeof failureKinds)[number]

/** Settled exactly once. */
export const outcomeSchema = lazily(() =>
  z.discriminatedUnion('ok', [
    z.strictObject({ ok: z.literal(true), value: json() }),
    z.strictObject({ ok: z.literal(false), failure: Failure() }),
  ]),
)
export type OutcomeData = DataOf<typeof outcomeSchema>

/** `empty-reply`: neither text nor calls, also when asked again. */
export const stops = ['done', 'max-steps', 'declined', 'cancelled', 'budget-spent', 'empty-reply', 'failed'] as const
/** How a turn ended. */
export type Stop = (typeof stops)[number]

/** Retries of failed model calls. */
export const RetryPolicy = lazily(() =>
  z.strictObject({
    /** Including the first. */
    maxAttempts: z.number().int().min(1),
    /** Delay before the second try; doubles each time. */
    firstDelayMs: z.number().nonnegative(),
    /** Highest doubled delay. A longer `retryAfterMs` is respected up to `maxRetryAfterMs`. */
    maxDelayMs: z.number().nonnegative(),
    /** The call fails if the provider's `retryAfterMs` is longer. @default 600_000 */
    maxRetryAfterMs: z.number().nonnegative().optional(),
    kinds: z.array(z.enum(failureKinds)),
  }),
)
export type RetryPolicy = DataOf<typeof RetryPolicy>

/** Default if neither agent nor provider has a policy. */
export const standardRetry: RetryPolicy & { readonly maxRetryAfterMs: number } = {
  maxAttempts: 3,
  firstDelayMs: 4_000,
  maxDelayMs: 60_000,
  maxRetryAfterMs: 600_000,
  kinds: ['rate-limited', 'overloaded', 'timed-out', 'truncated'],
}
