import { Outcome, OwnedBy } from '../../components/effects/effect.ts'
import { Busy, Terminal } from '../../components/agent/agent-tags.ts'
import { Ceilings } from '../../components/money/ceilings.ts'
import { Conversation, Unread } from '../../components/agent/conversation.ts'
import { LastTurn, Turn } from '../../components/agent/turn.ts'
import {
  EndedInWait,
  Notified,
  SubagentNotification,
  SubagentWait,
  UnreadBy,
  WaitDeadline,
} from '../../components/sessions/subagent-wait.ts'
import { subagentDefaults, SubagentRegistry } from '../../components/sessions/subagent-registry.ts'
import { ActiveFor, SubagentSession } from '../../components/sessions/subagent-session.ts'
import { isPermittedTo, permittedTools } from '../../src/rules/delegation/permissions.ts'
import {
  endedLine,
  type ResultTool,
  seconds,
  stillLine,
  updatesText,
} from '../../src/rules/delegation/session-lines.ts'
import type { DeepReadonly, Entity } from '../../src/world/component.ts'
import { not } from '../../src/world/entities.ts'
import type { World } from '../../src/world/world.ts'
import { latchOf, settled } from '../kit.ts'
import { markRead } from './session-answers.ts'
import { isFinal } from '../../src/protocol/delegation.ts'
import type { z } from 'zod'

/**
 * Notifies agents of ended sessions in one message: waiting agents when their wait is over, others before their next
 * step, idle ones at once. An agent that wakes may think in the same tick.
 * Writes: Conversation, SubagentWait, SubagentNotification, Notified.
 */
export const wait = {
  name: 'wait',
  priority: -5,
  wakes: [Notified, [WaitDeadline, Outcome]],
  run(world: World): void {
    for (const deadline of settled(world, WaitDeadline)) endInTime(world, world.read(deadline, OwnedBy).agent, deadline)
    for (const agent of world.query(Notified, not(Busy), not(Terminal))) deliver(world, agent)
  },
}

function endInTime(world: World, agent: Entity, deadline: Entity): void {
  world.despawn(deadline)
  const sleep = world.get(agent, SubagentWait)
  // A session that ends at the deadline wakes the agent as usual.
  if (sleep === undefined || isOver(world, agent, sleep)) return
  const still = stillAwaited(world, agent, sleep).map((session) => stillLine(world.read(session, SubagentSession)))
  const head = `Subagent wait timed out after ${seconds(sleep.timeoutMs ?? 0)}.`
  say(world, agent, [head, ...still, ...newsLines(world, agent)].join('\n'))
  endWait(world, agent)
}

function deliver(world: World, agent: Entity): void {
  const sleep = world.get(agent, SubagentWait)
  if (sleep !== undefined && !isOver(world, agent, sleep)) return
  if (sleep === undefined && !mayNotify(world, agent)) return
  // A stopped agent is notified when it goes on.
  if (latchOf(world, agent) !== undefined) return
  const lines = newsLines(world, agent)
  if (lines.length > 0) say(world, agent, updatesText(lines))
  endWait(world, agent)
}

/** Before a step, or after a turn, unless the agent must not be woken. */
function mayNotify(world: World, agent: Entity): boolean {
  if (world.has(agent, Unread)) return true
  if (world.has(agent, Turn)) return false
  const stop = world.get(agent, LastTurn)?.stop
  if (stop === 'failed' || stop === 'cancelled') return false
  // A session that spent its grant is over; an agent stopped by a ceiling goes on after a reset.
  if (stop === 'budget-spent' && !world.has(agent, Ceilings)) return false
  return world.get(agent, SubagentRegistry)?.wakeIdle ?? subagentDefaults.wakeIdle
}

/** A line for each unread session, and each that ended in a wait without a notification. Marks them as read. */
function newsLines(world: World, agent: Entity): readonly string[] {
  const unread = unreadSessions(world, agent)
  const silent = world.referrers(EndedInWait, agent).filter((session) => !world.has(session, SubagentNotification))
  const news = inOrderOfFinishing(world, [...unread, ...silent])
  for (const session of unread) markRead(world, session)
  world.remove(agent, Notified)
  const tool = resultToolOf(world, agent)
  return news.map((session) => endedLine(world.read(session, SubagentSession), tool))
}

/** A registry's tools are declared before the next model call. */
function resultToolOf(world: World, agent: Entity): ResultTool | undefined {
  const isShown = world.has(agent, SubagentRegistry) && isPermittedTo(world, agent, 'subagent_result')
  if (isShown) return { name: 'subagent_result' }
  const tools = permittedTools(world, agent)
  for (const name of ['subagent_result', 'collect_subagent'] as const) {
    const tool = tools.find((each) => each.name === name)
    if (tool !== undefined) return { name, deferred: tool.deferred }
  }
  return undefined
}

function say(world: World, agent: Entity, text: string): void {
  world.append(agent, Conversation, { role: 'system', content: [{ type: 'text', text }] })
}

export type WaitData = DeepReadonly<z.infer<typeof SubagentWait.schema>>

/** Is an agent's wait over? */
export function isOver(world: World, agent: Entity, { mode, sessions, watched = [] }: WaitData): boolean {
  if (mode === 'all') return (sessions ?? watched).every((session) => hasEnded(world, session))
  if (sessions !== null) {
    return sessions.some((session) => isWorthWaking(world, session)) || sessions.every((one) => hasEnded(world, one))
  }
  return (
    world.referrers(EndedInWait, agent).some((session) => isWorthWaking(world, session)) ||
    unreadSessions(world, agent).length > 0 ||
    activeInBackground(world, agent).length === 0
  )
}

/** Does a wait include a session? */
export function isAwaited(world: World, { sessions, watched }: WaitData, session: Entity): boolean {
  const named = sessions ?? watched
  return named === undefined ? world.read(session, SubagentSession).mode === 'background' : named.includes(session)
}

/** The awaited sessions that have not ended, in order of launch. */
function stillAwaited(world: World, agent: Entity, { sessions, watched }: WaitData): readonly Entity[] {
  const named = sessions ?? watched ?? activeInBackground(world, agent)
  return named.filter((session) => !hasEnded(world, session)).toSorted((a, b) => a - b)
}

export function activeInBackground(world: World, agent: Entity): readonly Entity[] {
  return world
    .referrers(ActiveFor, agent)
    .filter((session) => world.read(session, SubagentSession).mode === 'background')
}

/** Sessions whose notification the agent has not read, in order of ending. */
export function unreadSessions(world: World, agent: Entity): readonly Entity[] {
  return inOrderOfFinishing(world, world.referrers(UnreadBy, agent))
}

function inOrderOfFinishing(world: World, sessions: readonly Entity[]): readonly Entity[] {
  const place = (session: Entity): number => world.read(session, SubagentSession).finishedSequence ?? 0
  return [...new Set(sessions)].toSorted((a, b) => place(a) - place(b))
}

function hasEnded(world: World, session: Entity): boolean {
  const record = world.get(session, SubagentSession)
  return record === undefined || isFinal(record.status)
}

function isWorthWaking(world: World, session: Entity): boolean {
  return hasEnded(world, session) && world.get(session, SubagentSession)?.status !== 'cancelled'
}

/** Ends an agent's wait, if it waits. Its sessions go on. */
export function endWait(world: World, agent: Entity): void {
  if (!world.has(agent, SubagentWait)) return
  world.remove(agent, SubagentWait)
  for (const session of world.referrers(EndedInWait, agent)) world.remove(session, EndedInWait)
  for (const effect of world.referrers(OwnedBy, agent)) if (world.has(effect, WaitDeadline)) world.despawn(effect)
}
