import type { AssistantMessage, Message, ToolCallBlock, ToolMessage, UserMessage } from '../../protocol/message.ts'
import { EntiaError } from '../../base/entia-error.ts'

/** The result of a call that is open at a fork. The agent itself gets the real one. */
const openCallText = 'Fork started — processing in background'

export interface ForkHistory {
  /** How many messages the fork starts with, unchanged. */
  readonly shared: number
  /** Results of open calls in the last of these: existing ones that stand further back, then placeholders. */
  readonly behind: readonly ToolMessage[]
}

/**
 * The history that a fork starts with. Walks back from the end only as far as needed.
 * @param callId of the requesting call; absent: a program forks
 * @throws `invalid-argument` if no message has that call
 */
export function forkHistory(messages: readonly Message[], callId?: string): ForkHistory {
  return callId === undefined ? atTheEnd(messages) : behindCall(messages, callId)
}

/** All calls of the message count as open, so that all its forks are alike. */
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

/** Messages behind the last answer are dropped, even before late results: no model call has answered them. */
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

/** The system prompt of a fork whose parent has none and has made no request. */
export const builtInForkPrompt =
  'You are an agent that carries out one directive on its own, with the tools that it has, and reports what came of it.'

/** The same in every fork, so that forks of one message differ only in their directives. */
const boilerplate = `<fork-boilerplate>
You are a fork: a copy of the agent in the conversation above, working in the background beside it.

- Everything above is background. That agent goes on with it; what its calls still have to give goes to it, not to you.
- Carry out the one directive below yourself, with your tools. Start no fork: you cannot.
- Ask no questions: nobody is there to answer. Where something is open, decide, and say so in the report.
- Stay in the scope of the directive. What else you come across belongs in the report, not in your work.
- Make no commit unless the directive says so.

When you are done, answer with exactly this form and nothing before or after it, with a report of under 500 words in full_result:

<subagent_background_result><summary>what came of it, in one or two sentences</summary><full_result>Scope: what the directive asked for, in a sentence
Result: what you found or did
Key files: the files that matter, or none
Files changed: the files that you changed, or none
Issues: what is open, uncertain or went wrong, or none</full_result></subagent_background_result>
</fork-boilerplate>`

/** The last message of a fork's conversation: its role and its directive. */
export function forkDirective(prompt: string): UserMessage {
  return { role: 'user', content: [{ type: 'text', text: `${boilerplate}\n\nDirective: ${prompt}` }] }
}
