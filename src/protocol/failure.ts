import { z } from 'zod'
import type { DataOf } from '../world/component.ts'
import { lazily } from '../world/lazily.ts'
import { json } from './values.ts'

/** Every way in which something can fail in a run. Closed; decided once, where the failure is first seen. */
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
    /** Of a `context-overflow`: tokens that the model's window holds, where that is known. */
    contextWindow: z.number().int().positive().optional(),
    /** Another try would end the same way, so there is none, whatever the policy says of the kind. */
    isFinal: z.literal(true).optional(),
    kind: z.enum(failureKinds),
    message: z.string(),
    /** How long the provider asks to be left alone. */
    retryAfterMs: z.number().nonnegative().optional(),
  }),
)
export type Failure = DataOf<typeof Failure>
export type FailureKind = (typeof failureKinds)[number]

/** How an effect ended. It ends exactly once. */
export const outcomeSchema = lazily(() =>
  z.discriminatedUnion('ok', [
    z.strictObject({ ok: z.literal(true), value: json() }),
    z.strictObject({ ok: z.literal(false), failure: Failure() }),
  ]),
)
export type OutcomeData = DataOf<typeof outcomeSchema>

/** Why a turn ended. `empty-reply`: the model gave neither text nor calls, and again when it was asked once more. */
export const stops = ['done', 'max-steps', 'declined', 'cancelled', 'budget-spent', 'empty-reply', 'failed'] as const
export type Stop = (typeof stops)[number]

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
