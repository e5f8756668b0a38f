import { Ancestry } from '../../components/sessions/ancestry.ts'
import type { DelegationFacts } from '../../components/event.ts'
import { SubagentSession } from '../../components/sessions/subagent-session.ts'
import type { Entity } from '../../src/world/component.ts'
import type { World } from '../../src/world/world.ts'

/** What tells a session's delegation from others. */
export function delegationFacts(world: World, session: Entity): DelegationFacts {
  const { sessionId, correlationId, parent, category, kind, mode, prompt } = world.read(session, SubagentSession)
  const above = world.get(parent, Ancestry)?.sessions.length ?? 0
  return { sessionId, correlationId, parent, category, kind, mode, task: prompt, depth: above + 1 }
}
