import { z } from 'zod'
import type { DataOf } from '../src/world/component.ts'
import { lazily } from '../src/world/lazily.ts'

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

/** A failure of the run, as data. `retryAfterMs` is how long the provider asked to be left alone. */
export const Failure = lazily(() =>
  z.strictObject({
    /** Of a `context-overflow`: tokens that the model's window holds, where that is known. */
    contextWindow: z.number().int().positive().optional(),
    kind: z.enum(failureKinds),
    message: z.string(),
    retryAfterMs: z.number().nonnegative().optional(),
  }),
)
export type Failure = DataOf<typeof Failure>
export type FailureKind = (typeof failureKinds)[number]
