import { Ancestry, SlotReleased, SlotRequest } from '../../components/sessions/ancestry.ts'
import { Settling } from '../../components/context/holder.ts'
import type { InputOf } from '../../components/input.ts'
import { Outcome } from '../../components/effects/outcome.ts'
import { Answering, AwaitingSession, SessionQuery } from '../../components/sessions/session-call.ts'
import { isFinal } from '../../src/protocol/session-status.ts'
import { SubagentSession } from '../../components/sessions/subagent-session.ts'
import { SessionOutcome } from '../../src/rules/delegation/session-outcome.ts'
import type { Entity } from '../../src/world/component.ts'
import type { Input } from '../../src/world/input.ts'
import { parsedAs } from '../../src/world/parsed-as.ts'
import type { World } from '../../src/world/world.ts'
import { admitSession } from './admit-session.ts'
import { answerQuery } from './query-session.ts'
import { giveAnswer, settleCall } from './answer-session-call.ts'
import { activeSessions, cancelSessionsOf, openEffects, tellCancelled } from './cancel-sessions.ts'
import { takeSettling } from './settle-session.ts'
import { settleGrant } from './end-session.ts'
import { takeGrant } from './delegation.ts'
import { takeOutcome } from './take-outcome.ts'
import { takeRequest } from './take-request.ts'
import { emit } from '../kit/emit.ts'
import { type FoundText, timeoutAnswer, withText } from './result-answer.ts'

/**
 * Moves sessions along: what programs ask for, admissions by the pool, outcomes and deadlines, in order of arrival; and
 * answers the calls that wait for them.
 *
 * Query: Outcome. Writes: SubagentSession and what goes with it, Delegated, SubagentNotification. Starts: session, record,
 * queue-position, query, settling.
 */
export function subagentScheduler(defaultTimeoutMs: number | undefined) {
  return {
    name: 'subagent-scheduler',
    priority: -30,
    wakes: [
      'delegate',
      'session-cancel',
      'query',
      'collected',
      'granted',
      'session-stopped',
      'session-spent',
      SubagentSession,
      SlotRequest,
      [Outcome, AwaitingSession],
      [Outcome, Answering],
      [Outcome, SessionQuery],
      [Outcome, Settling],
    ],
    run(world: World): void {
      const ended = new Set(world.query(Outcome))
      for (const input of world.inputs) {
        if (input.kind === 'outcome' || input.kind === 'due') takeEnd(world, input, ended)
        else takeInput(world, input, defaultTimeoutMs)
      }
      for (const effect of world.query(Outcome)) takeSettled(world, effect)
    },
  }
}

/** Effects that were settled in this tick, sessions by their deadlines among them. */
function takeSettled(world: World, effect: Entity): void {
  // The one before it may have taken this one along.
  if (!world.has(effect, Outcome)) return
  if (world.has(effect, SubagentSession)) takeOutcome(world, effect)
  else if (world.has(effect, AwaitingSession)) endWaiting(world, effect)
  else if (world.has(effect, Answering)) completeAnswer(world, effect)
  else if (world.has(effect, SessionQuery)) answerQuery(world, effect)
  else if (world.has(effect, Settling)) takeSettling(world, effect)
  else if (world.has(effect, SlotRequest)) takeSlot(world, effect)
}

/**
 * The end of a session, unless something that came before it has ended it: then it is dropped, and only what the session
 * had spent still counts.
 *
 * @param ended effects that this tick has settled, and whose end was not taken yet
 */
function takeEnd(world: World, input: Input, ended: Set<Entity>): void {
  const { effect } = input as InputOf<'due'>
  const record = world.get(effect, SubagentSession)
  if (record === undefined) return
  const isNew = ended.delete(effect)
  if (world.has(effect, Outcome)) return takeOutcome(world, effect)
  if (isNew) emit(world, 'input-dropped', { kind: input.kind, effect, reason: 'settled' })
  if (input.kind !== 'outcome' || record.usage !== undefined) return
  const { outcome } = input as InputOf<'outcome'>
  const usage = outcome.ok ? parsedAs(SessionOutcome(), outcome.value)?.usage : undefined
  if (usage !== undefined) settleGrant(world, effect, usage)
}

function takeInput(world: World, input: Input, defaultTimeoutMs: number | undefined): void {
  switch (input.kind) {
    case 'admitted': {
      const { effect } = input as InputOf<'admitted'>
      if (world.has(effect, SubagentSession)) admitSession(world, effect)
      return
    }
    case 'granted':
      return takeGrant(world, input as InputOf<'granted'>)
    case 'session-stopped':
      return stopSessions(world)
    case 'session-spent':
      return takeSpending(world, input as InputOf<'session-spent'>)
    default:
      takeRequest(world, input, defaultTimeoutMs)
  }
}

/** The session of this world was stopped from above: its own end, and the rest stands still, so that it could go on. */
function stopSessions(world: World): void {
  for (const agent of world.query(Ancestry)) {
    tellCancelled(world, agent, activeSessions(world, agent), openEffects(world, agent))
    cancelSessionsOf(world, agent)
  }
}

function takeSpending(world: World, { asker, session, usage }: InputOf<'session-spent'>): void {
  const record = world.get(session, SubagentSession)
  if (record !== undefined && asker === undefined && isFinal(record.status)) settleGrant(world, session, usage)
}

/** The time is over for which a call was to wait for a session. */
function endWaiting(world: World, call: Entity): void {
  const { read = { method: 'full' as const }, session, timeoutMs = 0 } = world.read(call, AwaitingSession)
  giveAnswer(world, call, timeoutAnswer(world, session, read, timeoutMs))
}

/** What an answer wanted has come. A place in a queue that has moved on meanwhile is left out. */
function completeAnswer(world: World, call: Entity): void {
  const { answer, wants } = world.read(call, Answering)
  const outcome = world.read(call, Outcome)
  const value = outcome.ok ? outcome.value : null
  if ('queuePositionOf' in wants) {
    const place = typeof value === 'number' ? { queue_position: value } : {}
    return settleCall(world, call, JSON.stringify({ ...answer, ...place }))
  }
  settleCall(world, call, JSON.stringify(withText(answer, value as FoundText | null)))
}

/** The agent of this world has a slot again. */
function takeSlot(world: World, effect: Entity): void {
  world.despawn(effect)
  for (const agent of world.query(Ancestry)) world.remove(agent, SlotReleased)
}
