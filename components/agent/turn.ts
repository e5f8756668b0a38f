import { z } from 'zod'
import { CallUsage } from '../../src/protocol/usage.ts'
import { defineComponent } from '../../src/world/component.ts'
import { Failure, stops } from '../../src/protocol/failure.ts'
import { json } from '../../src/protocol/values.ts'

/** An agent's turn under way: from a message to it to its final text. */
export const Turn = defineComponent('Turn', () =>
  z.strictObject({
    /** Newest replies in a row cut by the token limit inside a tool call. */
    cutReplies: z.number().int().positive().optional(),
    /** Newest replies in a row without text or calls. */
    emptyReplies: z.number().int().positive().optional(),
    /** The `seq` of the message that opened it, where the agent has a `Context` or may be archived. */
    fromSeq: z.number().int().positive().optional(),
    repairs: z.number().int().nonnegative().optional(),
    /** The first entity spawned in it. */
    since: z.number().int().positive().optional(),
    startedAtMs: z.number(),
    steps: z.number().int().nonnegative(),
    /** Decided so far, refused ones included. */
    toolCalls: z.number().int().nonnegative(),
    /** The newest reply hit the output limit. */
    truncated: z.literal(true).optional(),
    /** The agent's `Usage` when it opened; absent: it had used nothing. */
    usedBefore: CallUsage().optional(),
  }),
)
export type TurnData = z.infer<typeof Turn.schema>

/** How an agent's newest finished turn ended. */
export const LastTurn = defineComponent('LastTurn', () =>
  z.strictObject({
    endedAtMs: z.number(),
    failure: Failure().optional(),
    /** The final answer as data, where the agent has an `OutputSchema`. */
    output: json().optional(),
    startedAtMs: z.number(),
    steps: z.number().int().nonnegative(),
    stop: z.enum(stops),
    toolCalls: z.number().int().nonnegative(),
    /** The final text hit the output limit. */
    truncated: z.literal(true).optional(),
    /** Of the agent's own model calls; absent: none. */
    usage: CallUsage().optional(),
  }),
)

/** Limits of each turn of an agent. */
export const Limits = defineComponent('Limits', () =>
  z.strictObject({
    /** Model calls in a turn; tries of the same call count once. @default 50 */
    maxSteps: z.number().int().min(1).optional(),
    /** Tool calls in a turn; further ones are answered with an error. @default 200 */
    maxToolCalls: z.number().int().min(0).optional(),
  }),
)

export const defaultLimits = { maxSteps: 50, maxToolCalls: 200 } as const
