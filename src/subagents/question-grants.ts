import { Pending } from '../../components/pending.ts'
import { SessionQuery } from '../../components/session-call.ts'
import type { GrantLimits } from '../../components/subagent-registry.ts'
import type { Entity } from '../world/component.ts'
import type { World } from '../world/world.ts'

const none: readonly GrantLimits[] = []

/** What an agent has set aside for its questions that are under way. */
export function questionGrants(world: World, agent: Entity): readonly GrantLimits[] {
  if (world.core.state.count(SessionQuery) === 0) return none
  return world.query(SessionQuery, Pending).flatMap((query) => {
    const asked = world.read(query, SessionQuery)
    return asked.agent === agent && asked.grant !== undefined ? [asked.grant] : none
  })
}
