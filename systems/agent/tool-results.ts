import { Busy } from '../../components/agent/agent-tags.ts'
import { Answering, AwaitingSession } from '../../components/sessions/session-call.ts'
import { Effect, Outcome, OwnedBy } from '../../components/effects/effect.ts'
import type { OutcomeData } from '../../src/protocol/failure.ts'
import { ToolCall } from '../../components/agent/tool-call.ts'
import type { Entity, Initial } from '../../src/world/component.ts'
import type { World } from '../../src/world/world.ts'
import { emit, refusalOf, settled } from '../kit.ts'
import { Conversation } from '../../components/agent/conversation.ts'
import type { FileBlock, Message, TextBlock } from '../../src/protocol/message.ts'
import type { ToolOutput } from '../../src/tools/port.ts'
import { Llm } from '../../components/agent/llm.ts'
import { Policy } from '../../components/agent/policy.ts'
import { Retrieval } from '../../components/agent/workspace-entry.ts'
import { seqAt } from '../../src/rules/projection/places.ts'
import { emitSettled } from './numbered-call.ts'
import { enterResult, noteChanges } from './workspace.ts'

/**
 * Adds tool results to conversations in call order: a result waits for those of earlier calls.
 * Writes: Conversation, Busy; for agents with a Retrieval WorkspaceEntry, WorkspaceState.
 */
export const toolResults = {
  name: 'tool-results',
  priority: -60,
  wakes: [[ToolCall, Outcome]],
  run(world: World): void {
    const answered = settled(world, ToolCall)
    if (answered.length === 0) return
    const agents = new Set(answered.map((call) => world.read(call, OwnedBy).agent))
    for (const agent of agents) collectResults(world, agent)
  },
}

/** Takes the results that are next in line; the last of them ends the step. */
export function collectResults(world: World, agent: Entity): void {
  const calls = world.referrers(OwnedBy, agent).filter((entity) => world.has(entity, ToolCall))
  if (calls.length === 0) return
  for (const call of calls) {
    const outcome = world.get(call, Outcome)
    if (outcome === undefined || isForOthers(world, call)) return
    answerCall(world, agent, call, resultOf(world, call, outcome))
  }
  world.remove(agent, Busy)
}

/** The subagent scheduler turns the outcome of a call about a session into its answer. */
function isForOthers(world: World, call: Entity): boolean {
  return world.has(call, AwaitingSession) || world.has(call, Answering)
}

/** The result of a call as the model reads it. */
export type CallResult =
  | { readonly text: string; readonly isError: boolean }
  | { readonly content: readonly (TextBlock | FileBlock)[]; readonly isError: boolean }

/** Inserts a call's result behind the message that asked and the results before it, and ends the call. */
export function answerCall(world: World, agent: Entity, call: Entity, result: CallResult): void {
  const { callId, name } = world.read(call, ToolCall)
  let answer = result
  const problem = refusalOf(() => insert(world, agent, call, answer))
  if (problem !== undefined) {
    const text = `Error: The result of '${name}' is malformed: ${problem}`
    answer = withDoubt({ text, isError: true }, doubtOf(world, call))
    insert(world, agent, call, answer)
  }
  const { isError } = answer
  if (world.has(agent, Retrieval)) {
    const seq = seqAt(world, agent, placeOfResults(world, agent) - 1)
    if (isError) noteChanges(world, agent, call)
    else enterResult(world, agent, call, textOfResult(answer), seq)
  }
  if (world.has(agent, Policy)) emitSettled(world, agent, call, { isError, result: textOfResult(answer) })
  world.despawn(call)
  emit(world, 'tool-answered', { agent, callId, tool: name, isError, result: contentOf(answer) })
}

function textOfResult(result: CallResult): string {
  return contentOf(result)
    .flatMap((block) => (block.type === 'text' ? [block.text] : []))
    .join('\n')
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

/** A settled call's result. A failure says so if the work may have been done. */
export function resultOf(world: World, call: Entity, outcome: OutcomeData): CallResult {
  if (outcome.ok) {
    const { content, isError } = (outcome.value ?? {}) as ToolOutput
    return isError === true
      ? withDoubt({ content, isError }, doubtOf(world, call, outcome))
      : { content, isError: false }
  }
  const { kind, message } = outcome.failure
  const head = kind === 'tool-denied' ? '' : kind === 'interrupted' ? '[interrupted] ' : 'Error: '
  return withDoubt({ text: head + message, isError: true }, doubtOf(world, call, outcome))
}

function withDoubt(result: CallResult, doubt: string | undefined): CallResult {
  const content = contentOf(result)
  // The conversation refuses malformed content.
  if (doubt === undefined || !Array.isArray(content)) return result
  return { content: [...content, { type: 'text', text: doubt }], isError: true }
}

/** Why a failed call may have done its work. */
function doubtOf(world: World, call: Entity, outcome?: OutcomeData): string | undefined {
  const { attempt, restart } = world.get(call, Effect) ?? {}
  if (restart === 'keyed' && attempt !== undefined && attempt > 1) return ranBefore
  const mayHaveRun = restart === 'keyed' || restart === 'once'
  return mayHaveRun && outcome?.ok === false && outcome.failure.kind === 'timed-out' ? ranTooLong : undefined
}

const ranBefore =
  '[The process ended while an earlier run of this call was under way: it may have happened, or not, or in part.]'

const ranTooLong = '[It was under way until then: it may have happened, or not, or in part.]'

/** Messages that arrived during the calls stand behind the results. */
function placeOfResults(world: World, agent: Entity): number {
  const messages = world.read(agent, Conversation)
  let place = messages.length
  while (place > 0 && messages[place - 1]?.role !== 'tool' && messages[place - 1]?.role !== 'assistant') place--
  return place
}

/** The outcome of a tool call answered with a text. */
export function textOutcome(text: string, isError = false): Initial {
  return Outcome({ ok: true, value: { content: [{ type: 'text', text }], ...(isError && { isError }) } })
}

/** Answers a call with a problem. The caller collects the result. */
export function refuseCall(world: World, call: Entity, problem: string): void {
  world.add(call, textOutcome(`Error: ${problem}`, true))
}

/** The problem of a call that the token limit cut. */
export function cutProblem(world: World, agent: Entity, tool: string): string {
  const limit = world.get(agent, Llm)?.maxOutputTokens
  const where = limit === undefined ? 'the token limit' : `the limit of ${limit} tokens`
  return `'${tool}' did not run: your reply was cut at ${where} before its arguments were complete. Call it again with shorter arguments, or in several calls.`
}

export function insertMessage(world: World, agent: Entity, place: number, message: Message): void {
  if (place >= world.read(agent, Conversation).length) return world.append(agent, Conversation, message)
  world.splice(agent, Conversation, place, 0, [message])
}
