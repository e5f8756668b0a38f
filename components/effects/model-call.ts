import { z } from 'zod'
import { defineComponent } from '../../src/world/component.ts'

/** One step of an agent. The request is projected when the call begins, from the agent's components. */
export const ModelCall = defineComponent('ModelCall', () =>
  z.strictObject({
    /** The projection was rewritten after it began: what it read says nothing of what is sent next. */
    isOutdated: z.literal(true).optional(),
    /** How many messages of the conversation it answers; its reply goes right behind them. */
    messages: z.number().int().nonnegative(),
  }),
)
