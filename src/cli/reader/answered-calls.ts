import { type JsonObject, type Message, textOf } from '../../index.ts'

/** A tool call of this turn and what came of it. */
export interface AnsweredCall {
  readonly name: string
  readonly arguments: JsonObject
  readonly text: string
  readonly isError: boolean
}

/** The calls that were answered since the user spoke last, in the order of their answers. */
export function answeredCalls(messages: Iterable<Message>): AnsweredCall[] {
  let calls: AnsweredCall[] = []
  const asked = new Map<string, JsonObject>()
  for (const message of messages) {
    if (message.role === 'user') calls = []
    else if (message.role === 'assistant') {
      for (const block of message.content) if (block.type === 'tool-call') asked.set(block.id, block.arguments)
    } else if (message.role === 'tool') {
      const { name, callId, isError = false } = message
      calls.push({ name, arguments: asked.get(callId) ?? {}, text: textOf(message), isError })
    }
  }
  return calls
}
