import type { Message, ToolCallBlock } from '../../components/message.ts'

/** A call, and the index of the message that it stands in. */
export interface PlacedCall {
  readonly call: ToolCallBlock
  readonly index: number
}

/** The newest call of a conversation. */
export function newestCall(messages: readonly Message[]): PlacedCall | undefined {
  return lastAsked(messages, messages.length) ?? lastAnswered(messages, messages.length)
}

/** The call before one that the newest message of the model has; `undefined` too if that message has no such call. */
export function callBefore(messages: readonly Message[], callId: string): ToolCallBlock | undefined {
  const index = lastOfModel(messages, messages.length)
  const message = messages[index]
  if (message === undefined) return undefined
  let before: ToolCallBlock | undefined
  for (const block of message.content) {
    if (block.type !== 'tool-call') continue
    if (block.id === callId) return before ?? lastAnswered(messages, index)?.call
    before = block
  }
  return undefined
}

/** The last call of so many messages, which has its result: only results are looked for, as many a message has no call. */
function lastAnswered(messages: readonly Message[], count: number): PlacedCall | undefined {
  let index = count - 1
  while (index >= 0 && messages[index]?.role !== 'tool') index--
  return lastAsked(messages, index)
}

/** The last call of the last message of the model, among so many. */
function lastAsked(messages: readonly Message[], count: number): PlacedCall | undefined {
  const index = lastOfModel(messages, count)
  const call = messages[index]?.content.findLast((block) => block.type === 'tool-call')
  return call === undefined ? undefined : { call, index }
}

function lastOfModel(messages: readonly Message[], count: number): number {
  let index = count - 1
  while (index >= 0 && messages[index]?.role !== 'assistant') index--
  return index
}
