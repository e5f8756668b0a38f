import { z } from 'zod'
import { defineComponent } from '../../src/world/component.ts'

/**
 * Where the agent's conversation, or what forks share of it, was changed before its end since its last request: all
 * changes as one. Written by the World itself, removed when the next request was compared with the last one.
 */
export const Edited = defineComponent('Edited', () =>
  z.strictObject({
    /** Index of the first message that is another one. */
    from: z.number().int().nonnegative(),
    /** So many messages stand there now. */
    inserted: z.number().int().nonnegative(),
    /** So many stood there before. */
    removed: z.number().int().nonnegative(),
  }),
)
