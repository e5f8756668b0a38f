import { Archive, ArchiveJob, EndedTurn } from '../../components/context/archive.ts'
import { Boundary } from '../../components/context/boundary.ts'
import { CompactionPending } from '../../components/context/compaction-state.ts'
import { Conversation, Unread } from '../../components/agent/conversation.ts'
import { ModelCall } from '../../components/effects/model-call.ts'
import { Outcome, OwnedBy } from '../../components/effects/effect.ts'
import { HolderOf } from '../../components/context/holder.ts'
import { LastCall } from '../../components/context/last-call.ts'
import { Llm } from '../../components/agent/llm.ts'
import { Rewound } from '../../components/agent/rewound.ts'
import { ActiveFor, SubagentSession } from '../../components/sessions/subagent-session.ts'
import { Ancestry } from '../../components/sessions/ancestry.ts'
import { Summarizing, Terminal } from '../../components/agent/agent-tags.ts'
import { Turn } from '../../components/agent/turn.ts'
import { UncountedCalls } from '../../components/money/token-factors.ts'
import type { InputOf } from '../../src/protocol/input.ts'
import type { Message } from '../../src/protocol/message.ts'
import { seqAt } from '../../src/rules/projection/places.ts'
import { type RewindPoint, rewindPoint } from '../../src/rules/projection/rewind-point.ts'
import type { Entity } from '../../src/world/component.ts'
import type { World } from '../../src/world/world.ts'
import { dropJob } from '../context/archive-jobs.ts'
import { cancelSession } from '../sessions/end-session.ts'
import { markRead } from '../sessions/session-answers.ts'
import { unreadSessions } from '../sessions/wait.ts'
import { emit, inputsOf } from '../kit.ts'
import { cancelWork } from './cancellation.ts'
import { forgetEntries } from './workspace.ts'

/**
 * Takes back the end of conversations, from a message of the user on, as if it had not been said. A turn under way is
 * cancelled first; sessions that only this part knows are cancelled. What was spent stays spent.
 * Writes: Conversation, Rewound, Boundary, LastCall, UncountedCalls, CompactionPending, ArchiveJob, WorkspaceEntry, and what cancelling
 * writes.
 */
export const rewinding = {
  name: 'rewinding',
  priority: -93,
  wakes: ['rewind'],
  run(world: World): void {
    for (const input of inputsOf(world, 'rewind')) {
      const reason = refusal(world, input)
      if (reason === undefined) rewind(world, input)
      else emit(world, 'input-refused', { kind: 'rewind', agent: input.agent, reason })
    }
  },
}

function refusal(world: World, { agent, fromSeq, messages }: InputOf<'rewind'>): string | undefined {
  if (!world.has(agent, Llm) || !world.has(agent, Conversation)) return 'there is no such agent'
  if (world.has(agent, Terminal)) return 'the agent has ended'
  if (world.has(agent, Ancestry)) return 'it is the agent of a session'
  const point = rewindPoint(world, agent, messages)
  if (point === undefined) return 'its user has not said so much'
  return fromSeq === undefined || fromSeq === point.seq ? undefined : 'the conversation has changed meanwhile'
}

function rewind(world: World, { agent, messages: count }: InputOf<'rewind'>): void {
  const reason = 'The user went back to an earlier message.'
  if (world.has(agent, Turn) || world.has(agent, Summarizing)) cancelWork(world, agent, reason)
  const point = rewindPoint(world, agent, count)
  if (point === undefined) return
  const { index, seq: fromSeq } = point
  const before = world.read(agent, Conversation)
  const toSeq = seqAt(world, agent, before.length - 1)
  const [kept, removed] = [before.slice(0, index), before.slice(index)]
  forgetTurns(world, agent, fromSeq)
  forgetSessions(world, agent, kept, removed)
  world.splice(agent, Conversation, index, removed.length, [])
  noteRange(world, agent, { fromSeq, toSeq })
  close(world, agent, kept.at(-1))
  forgetContext(world, agent, fromSeq)
  forgetEntries(world, agent, fromSeq)
  world.remove(agent, Unread)
  emit(world, 'rewound', { agent, fromSeq, toSeq, messages: removed.length })
}

/**
 * Takes back the newest messages of the user that no model has read yet, at most so many, and nothing else. Returns how many.
 * Writes: Conversation, Rewound.
 */
export function takeBackUnread(world: World, agent: Entity, most: number): number {
  const call = world.referrers(OwnedBy, agent).find((owned) => world.has(owned, ModelCall))
  const read =
    call === undefined
      ? world.read(agent, Conversation).findLastIndex(({ role }) => role === 'assistant') + 1
      : world.read(call, ModelCall).messages
  const unread: RewindPoint[] = []
  for (let point = rewindPoint(world, agent, 1); unread.length < most && point !== undefined && point.index >= read;) {
    unread.unshift(point)
    point = rewindPoint(world, agent, unread.length + 1)
  }
  for (const { seq } of unread) noteRange(world, agent, { fromSeq: seq, toSeq: seq })
  for (const { index } of unread.toReversed()) world.splice(agent, Conversation, index, 1, [])
  for (const { seq } of unread) emit(world, 'rewound', { agent, fromSeq: seq, toSeq: seq, messages: 1 })
  return unread.length
}

/** What stays ends with the assistant: a message that was never answered, or answered no further, is closed. */
function close(world: World, agent: Entity, last: Message | undefined): void {
  if (last === undefined || last.role === 'assistant') return
  world.append(agent, Conversation, { role: 'assistant', content: [{ type: 'text', text: '[turn cancelled]' }] })
}

function noteRange(world: World, agent: Entity, range: { readonly fromSeq: number; readonly toSeq: number }): void {
  const before = world.get(agent, Rewound)?.ranges ?? []
  // Nothing stands behind the newest range but what is taken back now.
  const toSeq = before.reduce((last, earlier) => (earlier.toSeq > last ? earlier.toSeq : last), range.toSeq)
  const apart = before.filter(({ fromSeq }) => fromSeq < range.fromSeq)
  world.set(agent, Rewound, { ranges: [...apart, { fromSeq: range.fromSeq, toSeq }] })
}

/** Turns on their way to a holder stay nowhere, and those that have arrived there are not named any more. */
function forgetTurns(world: World, agent: Entity, fromSeq: number): void {
  for (const ended of world.referrers(EndedTurn, agent)) {
    if (world.read(ended, EndedTurn).toSeq >= fromSeq) world.despawn(ended)
  }
  for (const job of world.referrers(ArchiveJob, agent)) {
    if (world.read(job, ArchiveJob).toSeq >= fromSeq) dropJob(world, job)
  }
  const gone = (world.get(agent, Archive) ?? []).filter((entry) => entry.fromSeq >= fromSeq)
  if (gone.length === 0) return
  const ids = new Set(gone.map(({ subagentId }) => subagentId))
  for (const holder of world.referrers(HolderOf, agent)) {
    if (ids.has(world.read(holder, SubagentSession).sessionId)) world.remove(holder, HolderOf)
  }
}

/**
 * Sessions that nothing names any more: those at work are cancelled, and of those that have ended, or end in this tick, the agent is
 * not notified.
 */
function forgetSessions(world: World, agent: Entity, kept: readonly Message[], removed: readonly Message[]): void {
  const sessions = [...world.referrers(ActiveFor, agent), ...unreadSessions(world, agent)]
  if (sessions.length === 0) return
  const [before, after] = [JSON.stringify(kept), JSON.stringify(removed)]
  for (const session of new Set(sessions)) {
    const { sessionId, finishedAtMs } = world.read(session, SubagentSession)
    if (before.includes(sessionId) || !after.includes(sessionId)) continue
    if (finishedAtMs !== undefined) markRead(world, session)
    else if (world.has(session, Outcome)) world.patch(session, SubagentSession, { notify: false })
    else cancelSession(world, session)
  }
}

/** A summary of what was taken back goes with it; the numbers of the last call say nothing of what stays. */
function forgetContext(world: World, agent: Entity, fromSeq: number): void {
  const boundaries = world.get(agent, Boundary) ?? []
  const stays = boundaries.filter(({ seq }) => seq < fromSeq)
  if (stays.length < boundaries.length) {
    if (stays.length === 0) world.remove(agent, Boundary)
    else world.rewrite(agent, Boundary, stays)
  }
  for (const token of [CompactionPending, LastCall, UncountedCalls]) world.remove(agent, token)
}
