import { OwnedBy } from '../../components/effects/owned-by.ts'
import { EndedInWait, SubagentWait, WaitDeadline } from '../../components/sessions/subagent-wait.ts'
import type { Entity } from '../../src/world/component.ts'
import type { World } from '../../src/world/world.ts'

/** Ends an agent's wait, if it waits. The sessions go on. */
export function endWait(world: World, agent: Entity): void {
  if (!world.has(agent, SubagentWait)) return
  world.remove(agent, SubagentWait)
  for (const session of world.referrers(EndedInWait, agent)) world.remove(session, EndedInWait)
  for (const effect of world.referrers(OwnedBy, agent)) if (world.has(effect, WaitDeadline)) world.despawn(effect)
}
