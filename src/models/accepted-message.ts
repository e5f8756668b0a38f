import type { AssistantMessage, Message, ProviderBlock, ThinkingBlock } from '../protocol/message.ts'

const emptyMessage = '(empty message)'

/** Does a provider accept this block of its own or another provider's? */
export type TakesBack = (block: ThinkingBlock | ProviderBlock) => boolean

/**
 * Prepares a message for a provider; `undefined` leaves it out. It depends on the message alone, so that requests keep their
 * prefix.
 *
 * Drops an assistant's foreign blocks, and thinking and blank text at its end: providers refuse thinking with nothing after it.
 * A blank user message becomes a placeholder: without it the assistant's own words could be the last.
 */
export function acceptedMessage(message: Message, takesBack: TakesBack): Message | undefined {
  if (message.role === 'tool') return message
  if (message.role === 'assistant') return acceptedReply(message, takesBack)
  const isBlank = message.content.every((block) => block.type === 'text' && block.text.trim() === '')
  return isBlank ? { ...message, content: [{ type: 'text', text: emptyMessage }] } : message
}

function acceptedReply(message: AssistantMessage, takesBack: TakesBack): AssistantMessage | undefined {
  const taken = message.content.filter((block) => {
    return (block.type !== 'thinking' && block.type !== 'provider') || takesBack(block)
  })
  const end = taken.findLastIndex((block) => {
    return block.type !== 'thinking' && (block.type !== 'text' || block.text.trim() !== '')
  })
  if (end === -1) return undefined
  const isWhole = end === message.content.length - 1
  return isWhole ? message : { ...message, content: taken.slice(0, end + 1) }
}
