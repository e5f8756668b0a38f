import type { Component, Entity } from '../src/world/component.ts'
import type { World } from '../src/world/world.ts'
import { anybodyHas } from './anybody-has.ts'

const none: readonly Entity[] = Object.freeze([])

/**
 * Entities that have a mark which mostly goes in the tick in which it came, ascending. Those of earlier ticks are asked for
 * only if there are any, so that bitECS is not told of each that comes and goes.
 */
export function marked(world: World, mark: Component): readonly Entity[] {
  if (!anybodyHas(world, mark)) return none
  const { state } = world.core
  const fresh = state.written([mark]).filter((entity) => world.has(entity, mark))
  return fresh.length === state.count(mark) ? fresh : world.query(mark)
}
