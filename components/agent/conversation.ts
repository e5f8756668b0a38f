import { defineLog } from '../../src/world/component.ts'
import { Message } from '../../src/protocol/message.ts'
import { Edited } from './edited.ts'
import { Unread } from './unread.ts'

/** What was said, oldest first. An agent with an unanswered last message answers it by itself. */
export const Conversation = defineLog('Conversation', Message, {
  edited: Edited,
  marks: { tag: Unread, when: (last) => last.role !== 'assistant' },
})
