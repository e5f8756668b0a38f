import { AwaitingSession } from '../../../components/sessions/session-call.ts'
import { SubagentSession } from '../../../components/sessions/subagent-session.ts'
import type { Entity } from '../../world/component.ts'
import type { World } from '../../world/world.ts'
import type { Finding, Law } from '../law.ts'

/** What a step has launched and waits for ends with the step: no one else knows of it. */
export const foregroundAwaited: Law = {
  name: 'foreground-awaited',
  meaning: 'A session in the foreground is queued or at work only while a call waits for it.',
  concern: { set: [AwaitingSession, SubagentSession], removed: [AwaitingSession], despawned: true },
  watch() {
    /** Sessions in the foreground that have not ended, by world. */
    const worlds = new Map<string, Set<Entity>>()
    return {
      began({ label, world }) {
        const active = world.entitiesWith(SubagentSession).filter((session) => isActive(world, session))
        worlds.set(label, new Set(active))
      },
      ticked({ changes, label, world }) {
        const active = worlds.get(label)
        if (active === undefined) return undefined
        for (const [session] of changes.of(SubagentSession).set) if (isActive(world, session)) active.add(session)
        return unawaited(world, active)
      },
    }
  },
}

function unawaited(world: World, active: Set<Entity>): Finding {
  for (const session of active) {
    if (!isActive(world, session)) active.delete(session)
    else if (world.referrers(AwaitingSession, session).length === 0) {
      const { sessionId, status } = world.read(session, SubagentSession)
      return `session ${sessionId} is ${status} in the foreground, and no call waits for it`
    }
  }
  return undefined
}

function isActive(world: World, session: Entity): boolean {
  const record = world.get(session, SubagentSession)
  return record?.mode === 'sync' && (record.status === 'queued' || record.status === 'running')
}
