import { isFinal } from '../../src/protocol/delegation.ts'
import { SubagentNotification, UnreadBy } from '../../components/sessions/subagent-wait.ts'
import { SubagentSession, type SubagentSessionData } from '../../components/sessions/subagent-session.ts'
import { maxInlineBytes } from '../../src/rules/delegation/session-outcome.ts'
import { seconds } from '../../src/rules/delegation/session-lines.ts'
import type { Entity } from '../../src/world/component.ts'
import type { Json, JsonObject } from '../../src/base/json.ts'
import type { World } from '../../src/world/world.ts'
import { Effect, Outcome, OwnedBy, Pending } from '../../components/effects/effect.ts'
import { Answering, AwaitingReply, AwaitingSession } from '../../components/sessions/session-call.ts'
import { collectResults, textOutcome } from '../agent/tool-results.ts'

/** How to read a result. `offset` is a byte of the full result. */
export interface Reading {
  readonly method: 'full' | 'summary'
  readonly offset?: number | undefined
}

/** What is missing in an answer: a session's queue position, or a text from the records. */
export type Wanting =
  | { readonly queuePositionOf: string }
  | { readonly offset: number; readonly part: 'full' | 'summary'; readonly recordPath: string }

/** An answer as far as the world knows it. */
export interface PartialAnswer {
  readonly answer: JsonObject
  readonly wants?: Wanting | undefined
}

const noSummary = 'Summary not available for this session. Retry with read_method="full".'

/** What `subagent_result` answers about a session now. */
export function resultAnswer(world: World, session: Entity, reading: Reading): PartialAnswer {
  const record = world.read(session, SubagentSession)
  const answer = payload(record, reading)
  if (record.status === 'queued') return { answer, wants: { queuePositionOf: record.sessionId } }
  if (!isFinal(record.status)) return { answer }
  markRead(world, session)
  if (record.status !== 'succeeded') return { answer: { ...answer, error: record.error ?? null } }
  return reading.method === 'summary' ? summaryAnswer(record, answer) : fullAnswer(record, answer, reading.offset)
}

/** The answer if the session has not ended in time. */
export function timeoutAnswer(world: World, session: Entity, reading: Reading, timeoutMs: number): PartialAnswer {
  const { answer, wants } = resultAnswer(world, session, reading)
  return { answer: { ...answer, error: `Timeout waiting for session result after ${seconds(timeoutMs)}` }, wants }
}

/** The answer for a name that is no session of the agent. */
export function unknownAnswer(named: string, problem: string, { method, offset }: Reading): JsonObject {
  return keys({
    session_id: named,
    read_method: method,
    error: problem,
    ...(offset !== undefined && { next_offset: null }),
  })
}

/** A text read from the records, or why it could not be. */
export type FoundText = { readonly text: string; readonly nextOffset: number | null } | { readonly problem: string }

/** Completes an answer with the text it was missing. `null`, in older worlds: the text is gone. */
export function withText(answer: JsonObject, found: FoundText | null): JsonObject {
  const problem = found === null ? 'The record of this result is gone.' : 'problem' in found ? found.problem : undefined
  if (found === null || 'problem' in found) return { ...answer, status: 'error', error: problem ?? null }
  const hasOffset = Object.hasOwn(answer, 'next_offset')
  return { ...answer, inline_content: found.text, ...(hasOffset && { next_offset: found.nextOffset }) }
}

/** Marks a session's notification as read. */
export function markRead(world: World, session: Entity): void {
  world.remove(session, UnreadBy)
  if (world.get(session, SubagentNotification)?.state === 'unread') {
    world.patch(session, SubagentNotification, { state: 'read' })
  }
}

function payload(record: SubagentSessionData, { method, offset }: Reading): JsonObject {
  const hasWorked = record.status === 'succeeded'
  return keys({
    status: hasWorked ? 'success' : 'error',
    session_id: record.sessionId,
    category: record.category,
    lifecycle_status: record.status,
    read_method: method,
    artifact_id: hasWorked ? (record.artifactId ?? null) : null,
    record_path: hasWorked ? (record.recordPath ?? null) : null,
    ...(offset !== undefined && { next_offset: null }),
  })
}

/** All keys of an answer, in order. */
function keys(known: JsonObject): JsonObject {
  const all: Record<string, Json> = {
    status: 'error',
    session_id: null,
    category: null,
    lifecycle_status: null,
    read_method: null,
    artifact_id: null,
    record_path: null,
    inline_content: null,
    error: null,
  }
  return { ...all, ...known }
}

function summaryAnswer({ summary, recordPath = '' }: SubagentSessionData, answer: JsonObject): PartialAnswer {
  if (summary === undefined) return { answer: { ...answer, status: 'error', error: noSummary } }
  if (summary !== true) return { answer: { ...answer, inline_content: summary } }
  return { answer, wants: { offset: 0, part: 'summary', recordPath } }
}

function fullAnswer(record: SubagentSessionData, answer: JsonObject, offset: number | undefined): PartialAnswer {
  const { inlineContent, recordPath = '', resultBytes = 0 } = record
  if (offset !== undefined) return { answer, wants: { offset, part: 'full', recordPath } }
  if (inlineContent !== undefined) return { answer: { ...answer, inline_content: inlineContent } }
  return resultBytes > maxInlineBytes ? { answer } : { answer, wants: { offset: 0, part: 'full', recordPath } }
}

/**
 * Answers a call that waits for a session which has ended.
 * @param text the session's result, for a call answered with it
 */
export function answerSessionCall(world: World, call: Entity, text = ''): void {
  const { read, session } = world.read(call, AwaitingSession)
  if (read !== undefined) return giveAnswer(world, call, resultAnswer(world, session, read))
  const { category, error, status } = world.read(session, SubagentSession)
  if (status === 'succeeded') settleCall(world, call, text)
  else settleCall(world, call, `Error: Subagent '${category}' failed: ${error}`, true)
}

/** Answers a call, at once or when the missing part arrives. */
export function giveAnswer(world: World, call: Entity, { answer, wants }: PartialAnswer): void {
  if (wants === undefined) return settleCall(world, call, JSON.stringify(answer))
  world.remove(call, AwaitingSession)
  world.add(call, Answering({ answer: answer, wants }))
  const attempt = (world.get(call, Effect)?.attempt ?? 0) + 1
  const kind = 'queuePositionOf' in wants ? 'queue-position' : 'record'
  world.remove(call, Outcome)
  world.set(call, Effect, { attempt, kind, restart: 'pure' })
  world.add(call, Pending)
}

/** Sets a call's result, and collects the results that are next in line. */
export function settleCall(world: World, call: Entity, text: string, isError = false): void {
  for (const token of [Answering, AwaitingReply, AwaitingSession, Outcome, Pending]) world.remove(call, token)
  world.add(call, textOutcome(text, isError))
  collectResults(world, world.read(call, OwnedBy).agent)
}
