import type { AssistantMessage, Message, ToolCallBlock, ToolMessage } from '../../protocol/message.ts'
import { EntiaError } from '../../world/entia-error.ts'

/** Stands for the result of a call that is open when its agent is forked. The agent itself gets the real one. */
const openCallText = 'Fork started — processing in background'

/** What a fork knows of the conversation that it comes from. */
export interface ForkHistory {
  /** How many of its messages the fork begins with, unchanged. */
  readonly shared: number
  /** Results of calls in the last of these: those that there are already and stand apart from it, then placeholders. */
  readonly behind: readonly ToolMessage[]
}

/**
 * What a fork begins with. Walks back from the end, no further than to the message that decides.
 *
 * @param callId of the call that asks; absent: a program forks
 * @throws `invalid-argument` if no message holds that call
 */
export function forkHistory(messages: readonly Message[], callId?: string): ForkHistory {
  return callId === undefined ? atTheEnd(messages) : behindCall(messages, callId)
}

/** All calls of the message count as open, so that all forks of one message are alike. */
function behindCall(messages: readonly Message[], callId: string): ForkHistory {
  for (let index = messages.length - 1; index >= 0; index--) {
    const message = messages[index] as Message
    if (message.role !== 'assistant') continue
    const calls = callsOf(message)
    if (calls.some(({ id }) => id === callId)) return { shared: index + 1, behind: calls.map(placeholder) }
  }
  const expected = "expected the id of a call in one of the agent's messages"
  throw new EntiaError('invalid-argument', `A fork: ${expected}, got '${callId}', which none of them holds.`)
}

/** What was said since the last answer is dropped, in front of late results too: no model call has answered it. */
function atTheEnd(messages: readonly Message[]): ForkHistory {
  let last = messages.length - 1
  while (last >= 0 && messages[last]?.role !== 'assistant') last--
  const answer = messages[last]
  if (answer?.role !== 'assistant') return { shared: 0, behind: [] }
  let shared = last + 1
  while (messages[shared]?.role === 'tool') shared++
  const near = resultsIn(messages.slice(last + 1, shared))
  const late = resultsIn(messages.slice(shared))
  const open = callsOf(answer).filter(({ id }) => !near.has(id))
  return { shared, behind: open.map((call) => late.get(call.id) ?? placeholder(call)) }
}

function callsOf({ content }: AssistantMessage): readonly ToolCallBlock[] {
  return content.filter((block) => block.type === 'tool-call')
}

function resultsIn(messages: readonly Message[]): ReadonlyMap<string, ToolMessage> {
  const results = messages.filter((message) => message.role === 'tool')
  return new Map(results.map((result) => [result.callId, result]))
}

function placeholder({ id, name }: ToolCallBlock): ToolMessage {
  return { role: 'tool', callId: id, name, content: [{ type: 'text', text: openCallText }] }
}
