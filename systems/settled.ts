import { Outcome } from '../components/outcome.ts'
import type { Component, Entity } from '../src/world/component.ts'
import type { World } from '../src/world/world.ts'
import { anybodyHas } from './anybody-has.ts'

const none: readonly Entity[] = Object.freeze([])

/**
 * Effects of one kind that are settled, ascending. One query serves all kinds: few are settled at a time, and what bitECS
 * follows costs time and memory for each entity.
 */
export function settled(world: World, token: Component): readonly Entity[] {
  if (!anybodyHas(world, token)) return none
  return world.query(Outcome).filter((effect) => world.has(effect, token))
}
