import type { AssistantMessage, ToolCallBlock } from '../../protocol/message.ts'

/**
 * A reply in which each call has an id of its own. Some servers give all calls of a reply the same one: their results could
 * not be told apart, and other providers refuse such a conversation.
 *
 * @param message not yet checked: what is no call is left as it is
 */
export function withDistinctCallIds(message: AssistantMessage): AssistantMessage {
  const { content } = message
  if (!Array.isArray(content) || content.length < 2) return message
  const taken = new Set<string>()
  let isChanged = false
  const blocks = (content as AssistantMessage['content']).map((block: AssistantMessage['content'][number] | null) => {
    if (block?.type !== 'tool-call') return block
    const id = freeId(block, taken)
    taken.add(id)
    if (id === block.id) return block
    isChanged = true
    return { ...block, id }
  })
  return isChanged ? { ...message, content: blocks as AssistantMessage['content'] } : message
}

function freeId({ id }: ToolCallBlock, taken: ReadonlySet<string>): string {
  let free = id
  for (let count = 2; taken.has(free); count++) free = `${id}-${count}`
  return free
}
