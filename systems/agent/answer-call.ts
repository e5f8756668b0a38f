import { Conversation } from '../../components/agent/conversation.ts'
import { Effect } from '../../components/effects/effect.ts'
import type { FileBlock, TextBlock } from '../../src/protocol/message.ts'
import type { OutcomeData } from '../../components/effects/outcome.ts'
import { ToolCall } from '../../components/agent/tool-call.ts'
import type { ToolOutput } from '../../src/tools/port.ts'
import type { Entity } from '../../src/world/component.ts'
import type { World } from '../../src/world/world.ts'
import { insertMessage } from './insert-message.ts'
import { refusalOf } from '../kit/refusal-of.ts'
import { emit } from '../kit/emit.ts'

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
    const text = `Error: The result of '${name}' is malformed: ${problem}`
    answer = withDoubt({ text, isError: true }, doubtOf(world, call))
    insert(world, agent, call, answer)
  }
  world.despawn(call)
  const { isError } = answer
  emit(world, 'tool-answered', { agent, callId, tool: name, isError, result: contentOf(answer) })
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

/** A settled call's result. A failure says so if the work may be done all the same. */
export function resultOf(world: World, call: Entity, outcome: OutcomeData): CallResult {
  const result = outcomeText(outcome)
  return result.isError ? withDoubt(result, doubtOf(world, call, outcome)) : result
}

function withDoubt(result: CallResult, doubt: string | undefined): CallResult {
  const content = contentOf(result)
  // What is malformed is refused by the conversation.
  if (doubt === undefined || !Array.isArray(content)) return result
  return { content: [...content, { type: 'text', text: doubt }], isError: true }
}

/** Why a call that has failed may have done its work. */
function doubtOf(world: World, call: Entity, outcome?: OutcomeData): string | undefined {
  const { attempt, restart } = world.get(call, Effect) ?? {}
  if (restart === 'keyed' && attempt !== undefined && attempt > 1) return ranBefore
  const mayHaveRun = restart === 'keyed' || restart === 'once'
  return mayHaveRun && outcome?.ok === false && outcome.failure.kind === 'timed-out' ? ranTooLong : undefined
}

const ranBefore =
  '[The process ended while an earlier run of this call was under way: it may have happened, or not, or in part.]'

const ranTooLong = '[It was under way until then: it may have happened, or not, or in part.]'

function outcomeText(outcome: OutcomeData): CallResult {
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
