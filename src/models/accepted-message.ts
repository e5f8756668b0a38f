import type { AssistantMessage, Message, ProviderBlock, ThinkingBlock } from '../protocol/message.ts'

/** Stands for a message of the user, or of the world, that says nothing. */
const emptyMessage = '(empty message)'

/** Does a provider take this block back? It takes none of another provider's, and not each of its own. */
export type TakesBack = (block: ThinkingBlock | ProviderBlock) => boolean

/**
 * A message as a provider accepts it; `undefined` if it is to be left out. Always the same of one message, wherever it stands,
 * so that requests keep their prefix.
 *
 * Of an assistant's message it leaves out what the provider does not take back, and thinking and blank text at its end:
 * providers refuse thinking with nothing behind it. A reply that was cut while its model thought is nothing but that. A blank
 * message of the user stays, as a placeholder: without it the assistant's own words could be the last.
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
