import type { Message } from '../../protocol/message.ts'

/** The text of a message, without thinking, calls and files. */
export function textOf(message: Message | undefined): string {
  let text = ''
  for (const block of message?.content ?? []) if (block.type === 'text') text += block.text
  return text
}
