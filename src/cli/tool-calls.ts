import { type Message, textOf } from '../index.ts'
import type { AnsweredTool, OpenTool } from './ask-event.ts'

/** The tool calls of a conversation that are answered, oldest first. */
export function answeredTools(messages: readonly Message[]): AnsweredTool[] {
  const asked = new Map(askedTools(messages).map((call) => [call.callId, call]))
  return messages.flatMap((message) => {
    if (message.role !== 'tool') return []
    const { callId, name: tool, isError = false } = message
    return [{ callId, tool, arguments: asked.get(callId)?.arguments ?? {}, isError, text: textOf(message) }]
  })
}

/** Those that are not. */
export function openTools(messages: readonly Message[]): OpenTool[] {
  const answered = new Set(messages.flatMap((message) => (message.role === 'tool' ? [message.callId] : [])))
  return askedTools(messages).filter(({ callId }) => !answered.has(callId))
}

function askedTools(messages: readonly Message[]): OpenTool[] {
  return messages.flatMap((message) => {
    if (message.role !== 'assistant') return []
    const calls = message.content.filter((block) => block.type === 'tool-call')
    return calls.map(({ id, name, arguments: input }) => ({ callId: id, tool: name, arguments: input }))
  })
}
