import type { Message, ToolCallBlock } from '../../protocol/message.ts'

/** A call, and the index of the message that it stands in. */
export interface PlacedCall {
  readonly call: ToolCallBlock
  readonly index: number
}

/** The newest call of a conversation. */
export function newestCall(messages: readonly Message[]): PlacedCall | undefined {
  const last = lastOfModel(messages, messages.length)
  const index = lastCallIn(messages[last]) === undefined ? lastAnswered(messages, messages.length) : last
  const call = lastCallIn(messages[index])
  return call === undefined ? undefined : { call, index }
}

/** The call before one that the newest message of the model has; `undefined` too if that message has no such call. */
export function callBefore(messages: readonly Message[], callId: string): ToolCallBlock | undefined {
  const index = lastOfModel(messages, messages.length)
  const message = messages[index]
  if (message === undefined) return undefined
  let before: ToolCallBlock | undefined
  for (const block of message.content) {
    if (block.type !== 'tool-call') continue
    if (block.id === callId) return before ?? lastCallIn(messages[lastAnswered(messages, index)])
    before = block
  }
  return undefined
}

/**
 * The index of the message that has the last call of so many messages of those that have their results: these are looked
 * for, as many a message has no call.
 */
function lastAnswered(messages: readonly Message[], count: number): number {
  let index = count - 1
  while (index >= 0 && messages[index]?.role !== 'tool') index--
  return lastOfModel(messages, index)
}

function lastCallIn(message: Message | undefined): ToolCallBlock | undefined {
  const content = message?.content ?? []
  for (let index = content.length - 1; index >= 0; index--) {
    const block = content[index]
    if (block?.type === 'tool-call') return block
  }
  return undefined
}

function lastOfModel(messages: readonly Message[], count: number): number {
  let index = count - 1
  while (index >= 0 && messages[index]?.role !== 'assistant') index--
  return index
}
