import { z } from 'zod'
import { defineComponent, defineLog, defineTag } from '../../src/world/component.ts'
import { Message } from '../../src/protocol/message.ts'

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

/** The agent's conversation ends in something that its model has not answered. Comes by itself with what is written there. */
export const Unread = defineTag('Unread')

/** What was said, oldest first. An agent with an unanswered last message answers it by itself. */
export const Conversation = defineLog('Conversation', Message, {
  edited: Edited,
  marks: { tag: Unread, when: (last) => last.role !== 'assistant' },
})
