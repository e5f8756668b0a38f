import { Busy } from '../../components/agent/agent-tags.ts'
import { Answering, AwaitingSession } from '../../components/sessions/session-call.ts'
import { Outcome, OwnedBy } from '../../components/effects/effect.ts'
import { Reported, Requested, ToolCall } from '../../components/agent/tool-call.ts'
import type { Entity, Initial } from '../../src/world/component.ts'
import { appendAdopted, appendMade } from '../../src/world/made.ts'
import type { World } from '../../src/world/world.ts'
import { emit, settled } from '../kit.ts'
import { Conversation } from '../../components/agent/conversation.ts'
import type { Message } from '../../src/protocol/message.ts'
import { Llm } from '../../components/agent/llm.ts'
import { Policy } from '../../components/agent/policy.ts'
import { Retrieval } from '../../components/agent/workspace-entry.ts'
import { type CallResult, contentOf, resultOf } from '../../src/rules/projection/call-result.ts'
import { seqAt } from '../../src/rules/projection/places.ts'
import { emitSettled } from './numbered-call.ts'
import { enterResult, noteChanges } from './workspace.ts'

/**
 * Adds tool results to conversations in call order: a result waits for those of earlier calls, and is reported before.
 * Writes: Conversation, Busy, Reported; for agents with a Retrieval WorkspaceEntry, WorkspaceState.
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

/**
 * Takes the results that are next in line; the last of them ends the step. Those behind an open call are reported at once.
 */
export function collectResults(world: World, agent: Entity): void {
  const calls = world.referrers(OwnedBy, agent).filter((entity) => world.has(entity, ToolCall))
  if (calls.length === 0) return
  let isNext = true
  for (const call of calls) {
    const outcome = world.get(call, Outcome)
    // Calls are numbered as they are decided, in call order: what stands behind an undecided one has no number yet.
    if (outcome === undefined && world.has(call, Requested)) return
    if (outcome === undefined || isForOthers(world, call)) isNext = false
    else if (isNext) answerCall(world, agent, call, resultOf(world, call, outcome))
    else if (!world.has(call, Reported)) {
      report(world, agent, call, resultOf(world, call, outcome))
      world.add(call, Reported)
    }
  }
  if (isNext) world.remove(agent, Busy)
}

/** The subagent scheduler turns the outcome of a call about a session into its answer. */
function isForOthers(world: World, call: Entity): boolean {
  return world.has(call, AwaitingSession) || world.has(call, Answering)
}

/** Inserts a call's result behind the message that asked and the results before it, and ends the call. */
export function answerCall(world: World, agent: Entity, call: Entity, result: CallResult): void {
  insert(world, agent, call, result)
  if (world.has(agent, Retrieval)) {
    const seq = seqAt(world, agent, placeOfResults(world, agent) - 1)
    if (result.isError) noteChanges(world, agent, call)
    else enterResult(world, agent, call, textOfResult(result), seq)
  }
  if (!world.has(call, Reported)) report(world, agent, call, result)
  world.despawn(call)
}

/** Emits a call's result: in the tick of its outcome, even if the conversation gets it behind those of earlier calls. */
function report(world: World, agent: Entity, call: Entity, result: CallResult): void {
  const { callId, name } = world.read(call, ToolCall)
  const { isError } = result
  if (world.has(agent, Policy)) emitSettled(world, agent, call, { isError, result: textOfResult(result) })
  emit(world, 'tool-answered', { agent, callId, tool: name, isError, result: contentOf(result) })
}

function textOfResult(result: CallResult): string {
  return contentOf(result)
    .flatMap((block) => (block.type === 'text' ? [block.text] : []))
    .join('\n')
}

function insert(world: World, agent: Entity, call: Entity, result: CallResult): void {
  const { callId, name } = world.read(call, ToolCall)
  const content = contentOf(result)
  const message = { callId, content, ...(result.isError && { isError: true }), name, role: 'tool' as const }
  const place = placeOfResults(world, agent)
  if (place === world.read(agent, Conversation).length) appendMade(world, agent, Conversation, message)
  else world.splice(agent, Conversation, place, 0, [message])
}

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

/** Message, content and block: a call that was given another id is not frozen. */
const levelsOfMessage = 3

/** Inserts a model's message. @param message canonical, as parts of an outcome are */
export function insertMessage(world: World, agent: Entity, place: number, message: Message): void {
  const isLast = place >= world.read(agent, Conversation).length
  if (isLast) return appendAdopted(world, agent, Conversation, message, levelsOfMessage)
  world.splice(agent, Conversation, place, 0, [message])
}
