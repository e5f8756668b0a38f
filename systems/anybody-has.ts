import type { Component } from '../src/world/component.ts'
import type { World } from '../src/world/world.ts'

/** Does any entity have one of these components? Costs the same however many do: most worlds have few of what there is. */
export function anybodyHas({ core: { state } }: World, token: Component, other = token, third = token): boolean {
  if (state.count(token) > 0) return true
  return (other !== token && state.count(other) > 0) || (third !== token && state.count(third) > 0)
}
