import { Context } from '../../components/context.ts'
import type { Entity } from '../world/component.ts'
import type { World } from '../world/world.ts'

/** Can an agent's conversation be compacted, at least when that is asked for? */
export function hasCompactor(world: World, agent: Entity): boolean {
  return world.has(agent, Context)
}

/** Can the end of a task be marked in an agent's conversation? */
export function hasCheckpointer(world: World, agent: Entity): boolean {
  return world.get(agent, Context)?.checkpoint.enabled === true
}
