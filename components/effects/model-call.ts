import { z } from 'zod'
import { defineComponent } from '../../src/world/component.ts'
import { entity } from '../../src/protocol/values.ts'

/** One step of an agent. The request is projected when the call begins, from the agent's components. */
export const ModelCall = defineComponent('ModelCall', () =>
  z.strictObject({
    /** The projection was rewritten after it began: what it read says nothing of what is sent next. */
    isOutdated: z.literal(true).optional(),
    /** How many messages of the conversation it answers; its reply goes right behind them. */
    messages: z.number().int().nonnegative(),
  }),
)

/**
 * A model call of an agent that is no step of its own: about a part of its conversation, without tools and history. An
 * effect of kind `model`; it does not end with the agent's turn. Its purpose says which system takes the outcome.
 */
export const SideCall = defineComponent(
  'SideCall',
  () =>
    z.strictObject({
      agent: entity(),
      /** What is asked stands before the part, and what closes the question behind it. */
      ask: z.string(),
      /** A text that goes before the part: of an earlier boundary. */
      carried: z.string().optional(),
      close: z.string().optional(),
      /** The part begins behind the message of this `seq`; 0: at the first. */
      fromSeq: z.number().int().nonnegative(),
      /** Of the part as a text: of a longer one the middle is left out. */
      maxChars: z.number().int().nonnegative().optional(),
      maxOutputTokens: z.number().int().positive(),
      /** `provider/model`. */
      model: z.string(),
      purpose: z.enum(['compaction', 'checkpoint', 'archival-summary']),
      /** An earlier reply, and what was wrong with it. */
      repair: z.strictObject({ problem: z.string(), reply: z.string() }).optional(),
      system: z.string(),
      /** The part ends with the message of this `seq`. */
      toSeq: z.number().int().nonnegative(),
    }),
  { ref: 'agent', cascade: true },
)
