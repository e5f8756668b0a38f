import { type CallUsage, Usage } from '../../components/usage.ts'
import { UsageBeside } from '../../components/usage-beside.ts'
import type { Entity } from '../world/component.ts'
import type { World } from '../world/world.ts'
import { withAdded } from './with-added.ts'

/** What an agent's own calls have used, steps and others; a count that no call reported is absent. */
export function ownUsage(world: World, agent: Entity): CallUsage {
  const steps = world.get(agent, Usage) ?? { calls: 0 }
  const beside = world.get(agent, UsageBeside)
  return beside === undefined ? steps : withAdded(steps, beside)
}
