import { z } from 'zod'
import { defineComponent } from '../src/world/component.ts'

/**
 * An agent's newest own model call: a step of its, and not a summary. Goes when the projection is rewritten, since what was
 * read then says nothing of what is sent next.
 */
export const LastCall = defineComponent('LastCall', () =>
  z.strictObject({
    /** Tokens that the model's context window holds; absent: not known. */
    contextWindow: z.number().int().positive().optional(),
    /** `provider/model`. */
    model: z.string(),
    /** Input, cache read and cache write together; absent: the provider did not say. */
    promptTokens: z.number().int().nonnegative().optional(),
  }),
)
