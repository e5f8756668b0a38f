import type { Component, Entity } from '../../world/component.ts'
import type { World } from '../../world/world.ts'

const none: readonly Entity[] = []

/** The entities of a world that have a component. Mostly a law asks for what nobody has, which costs nothing. */
export function holdersOf({ core: { state } }: World, token: Component): readonly Entity[] {
  return state.count(token) === 0 ? none : state.entitiesWith(token)
}
