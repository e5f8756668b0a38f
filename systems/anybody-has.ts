import type { Component } from '../src/world/component.ts'
import type { World } from '../src/world/world.ts'

/** Does any entity have a component, or the other? Costs the same however many do: most worlds have few of what there is. */
export function anybodyHas({ core: { state } }: World, token: Component, other = token): boolean {
  return state.count(token) > 0 || (other !== token && state.count(other) > 0)
}
