import { z } from 'zod'
import { defineComponent, defineLog, defineTag } from '../../src/world/component.ts'
import { Message } from '../../src/protocol/message.ts'

/** All changes of the conversation before its end since the last request, as one. Removed once that is compared. */
export const Edited = defineComponent('Edited', () =>
  z.strictObject({
    /** Index of the first message that is another one. */
    from: z.number().int().nonnegative(),
    inserted: z.number().int().nonnegative(),
    removed: z.number().int().nonnegative(),
  }),
)

/** The conversation ends in a message that the model has not answered. Set by each write. */
export const Unread = defineTag('Unread')

/** Messages, oldest first. An agent with an unanswered last message answers it. */
export const Conversation = defineLog('Conversation', Message, {
  edited: Edited,
  marks: { tag: Unread, when: (last) => last.role !== 'assistant' },
})
