import { z } from 'zod'
import { defineComponent } from '../../src/world/component.ts'

/** What was told of an agent's ceilings, and is not told again. */
export const CeilingNotes = defineComponent('CeilingNotes', () =>
  z.strictObject({
    /** By bound, the turn in which a call came near it: that turn's `since`, and 0 between turns. */
    neared: z.strictObject({
      session: z.number().int().nonnegative().optional(),
      turn: z.number().int().nonnegative().optional(),
    }),
    /** Models without a price. */
    unpriced: z.array(z.string()),
  }),
)
