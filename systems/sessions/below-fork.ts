import { Ancestry } from '../../components/sessions/ancestry.ts'
import type { Entity } from '../../src/world/component.ts'
import type { World } from '../../src/world/world.ts'

/** Is the agent a fork, or in a session somewhere below one? */
export function isBelowFork(world: World, agent: Entity): boolean {
  return world.get(agent, Ancestry)?.sessions.some(({ kind }) => kind === 'fork') === true
}
