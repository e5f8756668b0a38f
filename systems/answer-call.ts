import { Conversation } from '../components/conversation.ts'
import type { FileBlock, TextBlock } from '../components/message.ts'
import type { OutcomeData } from '../components/outcome.ts'
import { ToolCall } from '../components/tool-call.ts'
import type { ToolOutput } from '../src/tools/port.ts'
import type { Entity } from '../src/world/component.ts'
import type { World } from '../src/world/world.ts'
import { insertMessage } from './insert-message.ts'
import { refusalOf } from './refusal-of.ts'
import { tell } from './tell.ts'

/** What a model reads as the result of a call: blocks as they came, or a text. */
export type CallResult =
  | { readonly text: string; readonly isError: boolean }
  | { readonly content: readonly (TextBlock | FileBlock)[]; readonly isError: boolean }

/** Puts the result of a call where it belongs, behind the message that asked and the results before it, and ends the call. */
export function answerCall(world: World, agent: Entity, call: Entity, result: CallResult): void {
  const { callId, name } = world.read(call, ToolCall)
  let answer = result
  const problem = refusalOf(() => insert(world, agent, call, answer))
  if (problem !== undefined) {
    answer = { text: `Error: The result of '${name}' is malformed: ${problem}`, isError: true }
    insert(world, agent, call, answer)
  }
  world.despawn(call)
  const { isError } = answer
  tell(world, 'tool-answered', { agent, callId, tool: name, isError, result: contentOf(answer) })
}

function contentOf(result: CallResult): readonly (TextBlock | FileBlock)[] {
  return 'content' in result ? result.content : [{ type: 'text', text: result.text }]
}

function insert(world: World, agent: Entity, call: Entity, result: CallResult): void {
  const { callId, name } = world.read(call, ToolCall)
  const content = contentOf(result)
  const message = { callId, content, ...(result.isError && { isError: true }), name, role: 'tool' as const }
  insertMessage(world, agent, placeOfResults(world, agent), message)
}

/** A settled call's result. */
export function outcomeText(outcome: OutcomeData): CallResult {
  if (!outcome.ok) return { text: failureText(outcome.failure), isError: true }
  const { content, isError } = (outcome.value ?? {}) as ToolOutput
  return { content, isError: isError === true }
}

function failureText({ kind, message }: { readonly kind: string; readonly message: string }): string {
  return kind === 'tool-denied' ? message : kind === 'interrupted' ? `[interrupted] ${message}` : `Error: ${message}`
}

/** Messages that came while the calls were under way stand behind the results. */
function placeOfResults(world: World, agent: Entity): number {
  const messages = world.read(agent, Conversation)
  let place = messages.length
  while (place > 0 && messages[place - 1]?.role !== 'tool' && messages[place - 1]?.role !== 'assistant') place--
  return place
}
