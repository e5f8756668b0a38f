import { z } from 'zod'
import { defineComponent } from '../../src/world/component.ts'

/** What an agent said last in its newest turn that is archived: the conversation has a summary in that place. */
export const LastWords = defineComponent('LastWords', () =>
  z.strictObject({
    /** Of the turn's last message, and of the summary that stands for it. */
    seq: z.number().int().positive(),
    text: z.string(),
  }),
)
