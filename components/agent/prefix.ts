import { z } from 'zod'
import { defineComponent } from '../../src/world/component.ts'

/**
 * What the agent's last request began with, as hashes: the next one has to begin with the same, or the provider's prompt
 * cache is lost. `messages` is the chain over the first `count` messages behind the boundary, if there is one.
 */
export const Prefix = defineComponent('Prefix', () =>
  z.strictObject({
    /** Of the text that stands for what a boundary covers; absent: there is none. */
    boundary: z.number().optional(),
    /** Tokens of it that the provider has cached, as of the last reply, where it says so. */
    cached: z.number().int().nonnegative().optional(),
    count: z.number().int().nonnegative(),
    llm: z.number(),
    messages: z.number(),
    system: z.number(),
    tools: z.number(),
  }),
)
