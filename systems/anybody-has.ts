import type { Component } from '../src/world/component.ts'
import type { World } from '../src/world/world.ts'

/** Does any entity have one of these components? Costs the same however many do: most worlds have few of what there is. */
export function anybodyHas(world: World, ...tokens: readonly Component[]): boolean {
  const { state } = world.core
  for (const token of tokens) if (state.count(token) > 0) return true
  return false
}
