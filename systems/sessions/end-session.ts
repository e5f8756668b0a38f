import { Delegated } from '../../components/sessions/delegation-limits.ts'
import type { DelegationFacts, StoppedEffect } from '../../src/protocol/event.ts'
import { Effect, Outcome, OwnedBy, Pending, Running } from '../../components/effects/effect.ts'
import {
  ActiveFor,
  GrantAwaited,
  ReportedUsage,
  SubagentSession,
  type SubagentSessionData,
} from '../../components/sessions/subagent-session.ts'
import { AwaitingSession } from '../../components/sessions/session-call.ts'
import { type SessionStatus, transitionProblem } from '../../src/protocol/delegation.ts'
import {
  EndedInWait,
  Notified,
  SubagentNotification,
  SubagentWait,
  UnreadBy,
  WaitDeadline,
} from '../../components/sessions/subagent-wait.ts'
import type { SessionUsage } from '../../src/protocol/usage.ts'
import { maxInlineBytes } from '../../src/rules/delegation/session-outcome.ts'
import { returned } from '../../src/rules/delegation/grants.ts'
import { highestOf } from '../../src/rules/tokens/token-counts.ts'
import type { Entity, PatchOf } from '../../src/world/component.ts'
import type { World } from '../../src/world/world.ts'
import { noteUnknown } from '../money/charge.ts'
import { emit } from '../kit.ts'
import { answerSessionCall } from './session-answers.ts'
import { isCaptured, releaseBlueprint } from './blueprints.ts'
import { delegatedBy } from './delegation.ts'
import { isAwaited } from './wait.ts'
import { Approval, ToolCall } from '../../components/agent/tool-call.ts'
import { EntiaError } from '../../src/base/entia-error.ts'
import { Ancestry } from '../../components/sessions/ancestry.ts'

export interface SessionEnding {
  readonly status: Exclude<SessionStatus, 'queued' | 'running'>
  /** Fields for the record. */
  readonly fields?: PatchOf<SubagentSessionData>
  /** The whole result, for waiting calls and listeners. */
  readonly text?: string
  /** Absent: not known yet. */
  readonly usage?: SessionUsage | undefined
}

/** Ends of background sessions of which the agent is notified. */
const worthWaking: ReadonlySet<SessionStatus> = new Set(['succeeded', 'failed', 'timed_out'])

/** Ends a session in one tick: its state, notification, the parent's budget, and the answers of waiting calls. */
export function endSession(world: World, session: Entity, ending: SessionEnding): void {
  const { grant, mode, notify, parent, sessionId, startedAtMs } = world.read(session, SubagentSession)
  const { status, fields } = ending
  // What the workers of a session died of is given up without a word of what it has spent since it last reported.
  const usage = ending.usage && highestOf(world.get(session, ReportedUsage)?.usage, ending.usage)
  const facts = delegationFacts(world, session)
  const delegated = delegatedBy(world, parent)
  const finishedSequence = delegated.finished + 1
  if (usage !== undefined) world.remove(session, ReportedUsage)
  else if (startedAtMs !== undefined) noteUnknown(world, parent, session)
  // Unknown usage stays reserved until it is reported.
  const isKnown = usage !== undefined
  world.set(parent, Delegated, {
    ...(isKnown ? returned(delegated, grant, usage) : delegated),
    finished: finishedSequence,
  })
  const left = { finishedAtMs: world.nowMs, finishedSequence, usage, ...(isKnown && { grant: undefined }) }
  const over = status === 'succeeded' ? { denied: undefined, loadedBy: undefined } : {}
  moveSession(world, session, status, { ...fields, ...left, ...over })
  for (const token of [ActiveFor, Effect, GrantAwaited, Outcome, Pending, Running]) world.remove(session, token)
  if (status === 'succeeded' || !isCaptured(world, session)) releaseBlueprint(world, session)
  if (mode === 'background' && notify !== false && worthWaking.has(status)) {
    world.set(session, SubagentNotification, { id: `${sessionId}:${status}`, state: 'unread' })
    world.set(session, UnreadBy, { agent: parent })
    world.add(parent, Notified)
  }
  noteForWait(world, parent, session)
  if (startedAtMs !== undefined) emitCompleted(world, session, facts, ending)
  emit(world, 'session-ended', { agent: parent, session, sessionId, lifecycleStatus: status })
  for (const call of world.referrers(AwaitingSession, session)) answerSessionCall(world, call, ending.text)
}

function noteForWait(world: World, agent: Entity, session: Entity): void {
  const wait = world.get(agent, SubagentWait)
  if (wait === undefined || !isAwaited(world, wait, session)) return
  world.set(session, EndedInWait, { agent })
  world.add(agent, Notified)
}

/** Returns the unspent grant of an ended session once its usage is known. Who else says what it has used comes too late. */
export function settleGrant(world: World, session: Entity, usage: SessionUsage): void {
  const { grant, parent, usage: known } = world.read(session, SubagentSession)
  if (grant === undefined && known !== undefined) return
  const used = highestOf(world.get(session, ReportedUsage)?.usage, usage)
  world.remove(session, ReportedUsage)
  world.patch(session, SubagentSession, { grant: undefined, usage: used })
  if (grant !== undefined) world.set(parent, Delegated, returned(delegatedBy(world, parent), grant, used))
}

function emitCompleted(world: World, session: Entity, facts: DelegationFacts, { status, text }: SessionEnding): void {
  const { startedAtMs = world.nowMs, error, artifactId, resultBytes } = world.read(session, SubagentSession)
  emit(world, 'delegation-completed', {
    ...facts,
    lifecycleStatus: status,
    success: status === 'succeeded',
    durationMs: world.nowMs - startedAtMs,
    result: text === undefined || resultBytes === undefined || resultBytes > maxInlineBytes ? null : text,
    error: error ?? null,
    artifactId: artifactId ?? null,
  })
}

/** Ends an active session at once; the Runner stops its world. */
export function cancelSession(world: World, session: Entity): void {
  endSession(world, session, { status: 'cancelled', fields: { error: 'Session was cancelled' } })
}

/** Ends an agent's active sessions. One whose outcome has already arrived is left to it. */
export function cancelSessionsOf(world: World, agent: Entity): void {
  for (const session of activeSessions(world, agent)) cancelSession(world, session)
}

/** Emits what a cancel is about to stop. Call it before the cancel. */
export function emitCancelled(
  world: World,
  agent: Entity,
  sessions: readonly Entity[],
  effects: readonly Entity[],
): void {
  if (sessions.length === 0 && effects.length === 0) return
  emit(world, 'work-cancelled', {
    agent,
    sessions: sessions.map((session) => {
      const { sessionId, status } = world.read(session, SubagentSession)
      return { sessionId, lifecycleStatus: status }
    }),
    effects: effects.map((effect) => stopped(world, effect)),
  })
}

/** An agent's queued or running sessions without an outcome, ascending. */
export function activeSessions(world: World, agent: Entity): readonly Entity[] {
  return world.referrers(ActiveFor, agent).filter((session) => !world.has(session, Outcome))
}

/** An agent's unsettled effects, ascending. */
export function openEffects(world: World, agent: Entity): readonly Entity[] {
  const isOpen = (effect: Entity): boolean =>
    world.has(effect, Effect) && !world.has(effect, Outcome) && !world.has(effect, WaitDeadline)
  return world.referrers(OwnedBy, agent).filter(isOpen)
}

function stopped(world: World, effect: Entity): StoppedEffect {
  const { kind, restart } = world.read(effect, Effect)
  const tool = world.get(effect, ToolCall)?.name ?? world.get(effect, Approval)?.tool
  const mayHaveHappened = restart === 'once' ? world.has(effect, Running) : restart === 'keyed'
  const fate = mayHaveHappened ? 'unknown' : restart === 'once' ? 'not-begun' : 'aborted'
  return { effect, kind, ...(tool !== undefined && { tool }), fate }
}

/**
 * Changes a session's status.
 * @throws `illegal-transition` for a change that no session makes, such as to the same status; the record stays
 * unchanged
 */
export function moveSession(
  world: World,
  session: Entity,
  status: SessionStatus,
  fields: PatchOf<SubagentSessionData> = {},
): void {
  const before = world.read(session, SubagentSession)
  const problem = transitionProblem(before.status, status)
  if (problem !== undefined) {
    const details = { entity: session, from: before.status, to: status }
    throw new EntiaError('illegal-transition', `Session ${before.sessionId}: ${problem}.`, details)
  }
  world.patch(session, SubagentSession, { ...fields, status, updatedAtMs: world.nowMs })
}

export function delegationFacts(world: World, session: Entity): DelegationFacts {
  const { sessionId, correlationId, parent, category, kind, mode, prompt } = world.read(session, SubagentSession)
  const above = world.get(parent, Ancestry)?.sessions.length ?? 0
  return { sessionId, correlationId, parent, category, kind, mode, task: prompt, depth: above + 1 }
}
