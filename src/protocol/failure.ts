import { z } from 'zod'
import type { DataOf } from '../world/component.ts'
import { lazily } from '../world/lazily.ts'

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
