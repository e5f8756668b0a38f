import { z } from 'zod'
import { defineComponent } from '../../src/world/component.ts'

/** An agent's turn under way: from a message to it to its final text. */
export const Turn = defineComponent('Turn', () =>
  z.strictObject({
    /** Replies in a row, up to the newest one, that the token limit cut in the midst of a tool call. */
    cutReplies: z.number().int().positive().optional(),
    /** Replies in a row, up to the newest one, that had neither text nor calls. */
    emptyReplies: z.number().int().positive().optional(),
    /** The `seq` of the message that opened it, where the agent has a `Context` or may be archived. */
    fromSeq: z.number().int().positive().optional(),
    /** Repairs of a final answer that did not follow its schema. */
    repairs: z.number().int().nonnegative().optional(),
    /** Entities from this one on came up in it, where the agent keeps a `Ledger`. */
    since: z.number().int().positive().optional(),
    startedAtMs: z.number(),
    /** Model calls so far. */
    steps: z.number().int().nonnegative(),
    /** Tool calls decided about so far, those that were refused included. */
    toolCalls: z.number().int().nonnegative(),
    /** The newest reply was stopped at its output limit. */
    truncated: z.literal(true).optional(),
  }),
)
export type TurnData = z.infer<typeof Turn.schema>
