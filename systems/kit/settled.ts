import { Outcome } from '../../components/effects/outcome.ts'
import type { Component, Entity } from '../../src/world/component.ts'
import type { World } from '../../src/world/world.ts'

/**
 * Effects of one kind that are settled, ascending. One query serves all kinds: few are settled at a time.
 */
export function settled(world: World, token: Component): readonly Entity[] {
  return world.query(Outcome).filter((effect) => world.has(effect, token))
}
