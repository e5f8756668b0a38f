import { isFinal } from '../../src/protocol/session-status.ts'
import { UnreadBy } from '../../components/sessions/subagent-notification.ts'
import { ActiveFor, SubagentSession } from '../../components/sessions/subagent-session.ts'
import { EndedInWait, type SubagentWait } from '../../components/sessions/subagent-wait.ts'
import type { DeepReadonly, Entity } from '../../src/world/component.ts'
import type { World } from '../../src/world/world.ts'
import type { z } from 'zod'

export type WaitData = DeepReadonly<z.infer<typeof SubagentWait.schema>>

/** Is it over what an agent waits for? */
export function isOver(world: World, agent: Entity, wait: WaitData): boolean {
  const { mode, sessions, watched = [] } = wait
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

/** Is a session one of those that a wait is about? */
export function isAwaited(world: World, { sessions, watched }: WaitData, session: Entity): boolean {
  const named = sessions ?? watched
  return named === undefined ? world.read(session, SubagentSession).mode === 'background' : named.includes(session)
}

/** The sessions that a wait is about and that have not ended, in the order of their launches. */
export function stillAwaited(world: World, agent: Entity, { sessions, watched }: WaitData): readonly Entity[] {
  const named = sessions ?? watched ?? activeInBackground(world, agent)
  return named.filter((session) => !hasEnded(world, session)).toSorted((a, b) => a - b)
}

export function activeInBackground(world: World, agent: Entity): readonly Entity[] {
  return world
    .referrers(ActiveFor, agent)
    .filter((session) => world.read(session, SubagentSession).mode === 'background')
}

/** Sessions whose notification an agent has not read, in order of finishing. */
export function unreadSessions(world: World, agent: Entity): readonly Entity[] {
  return inOrderOfFinishing(world, world.referrers(UnreadBy, agent))
}

/** Each once, in the order in which they ended. */
export function inOrderOfFinishing(world: World, sessions: readonly Entity[]): readonly Entity[] {
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
