import { Approval } from '../../components/agent/approval.ts'
import { Effect } from '../../components/effects/effect.ts'
import type { StoppedEffect } from '../../components/event.ts'
import { Outcome } from '../../components/effects/outcome.ts'
import { OwnedBy } from '../../components/effects/owned-by.ts'
import { Running } from '../../components/effects/running.ts'
import { ActiveFor, SubagentSession } from '../../components/sessions/subagent-session.ts'
import { ToolCall } from '../../components/agent/tool-call.ts'
import { WaitDeadline } from '../../components/sessions/subagent-wait.ts'
import type { Entity } from '../../src/world/component.ts'
import type { World } from '../../src/world/world.ts'
import { emit } from '../kit/emit.ts'
import { endSession } from './end-session.ts'

/** The error of every cancelled session. */
const cancelledError = 'Session was cancelled'

/** Ends an active session at once; the Runner stops the world that it ran in. */
export function cancelSession(world: World, session: Entity): void {
  endSession(world, session, { status: 'cancelled', fields: { error: cancelledError } })
}

/** Ends all active sessions of an agent. One whose outcome has come already is left to it. */
export function cancelSessionsOf(world: World, agent: Entity): void {
  for (const session of activeSessions(world, agent)) cancelSession(world, session)
}

/** Tells what a cancel of an agent is about to stop. Comes before it. */
export function tellCancelled(
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

/** An agent's sessions that are queued or running, and have not just ended, ascending. */
export function activeSessions(world: World, agent: Entity): readonly Entity[] {
  return world.referrers(ActiveFor, agent).filter((session) => !world.has(session, Outcome))
}

/** An agent's effects that are under way, ascending. */
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
