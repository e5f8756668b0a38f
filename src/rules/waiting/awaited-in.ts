import { AwaitingApproval } from '../../../components/agent/tool-call.ts'
import { AwaitingReply, AwaitingSession, SessionQuery } from '../../../components/sessions/session-call.ts'
import { Due, Effect, Outcome, OwnedBy, Running } from '../../../components/effects/effect.ts'
import { WaitDeadline } from '../../../components/sessions/subagent-wait.ts'
import type { Component, Entity } from '../../world/component.ts'
import type { World } from '../../world/world.ts'
import { type Awaited, awaitedBy, type OpenThing } from './awaited.ts'

const answering: readonly (readonly [Component, OpenThing['answeredBy']])[] = [
  [AwaitingApproval, 'person'],
  [AwaitingReply, 'reply'],
  [AwaitingSession, 'session'],
  // Also one that is in line behind another question, and has no effect yet.
  [SessionQuery, 'reply'],
]

/** What an effect or a tool call waits for. A result that only waits for those of earlier calls does not: `undefined`. */
function awaitedIn(world: World, entity: Entity): Awaited | undefined {
  if (world.has(entity, Outcome)) return undefined
  const { deadlineMs, kind } = world.get(entity, Effect) ?? {}
  return awaitedBy({
    answeredBy: answering.find(([token]) => world.has(entity, token))?.[1],
    deadlineMs,
    dueMs: world.get(entity, Due)?.atMs,
    isRunning: world.has(entity, Running),
    kind,
  })
}

/** What all the open effects of a world wait for. */
export function awaitedInWorld(world: World): readonly Awaited[] {
  return world.entitiesWith(Effect).flatMap((effect) => awaitedIn(world, effect) ?? [])
}

/** What the calls and effects of an agent's turn wait for. The deadline of a wait for sessions is part of that wait. */
export function awaitedByAgent(world: World, agent: Entity): readonly Awaited[] {
  const owned = world.referrers(OwnedBy, agent).filter((entity) => !world.has(entity, WaitDeadline))
  return owned.flatMap((entity) => awaitedIn(world, entity) ?? [])
}
