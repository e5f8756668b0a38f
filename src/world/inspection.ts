import type { Changes, Header } from './changes.ts'
import type { Component, Entity } from './component.ts'
import type { Json } from './json.ts'
import type { World } from './world.ts'

// What simulators and replays read of a World, and do to it, beyond what its users can.

/** Tick, time, counters and dice, as a journal has them. */
export function headerOf({ core }: World): Header {
  return core.header
}

/** The components that were given to the world, or used in it so far. */
export function knownComponents({ core }: World): ReadonlySet<Component> {
  return core.tokens
}

/** The value of a component by its name; `undefined`: the entity does not have it. */
export function valueOf({ core }: World, entity: Entity, component: string): Json | undefined {
  const token = core.find(component)
  return token && core.state.get(entity, token)
}

/** All entities, in no order. */
export function allEntities({ core }: World): readonly Entity[] {
  return core.state.entities.all()
}

/** All values of a world, component by component. */
export function* allValues({ core: { state } }: World): Generator<readonly [Entity, component: string, Json]> {
  for (const column of state.columns()) {
    for (const row of column.rows()) yield [state.entities.at(row), column.token.name, column.get(row) as Json]
  }
}

/** How many inputs have been posted that no tick has taken. */
export function postedInputs({ core }: World): number {
  return core.inbox.length
}

/** The system that runs at this moment; `undefined`: the world is not in a tick. */
export function runningSystem({ core }: World): string | undefined {
  return core.underway?.writer
}

/** Makes each tick also run the systems that nothing wakes, and fail if one of them does something. */
export function checkWakes({ core }: World, isOn: boolean): void {
  core.checksWakes = isOn
}

/** Makes recorded changes again, whatever systems made them. */
export function redo({ core }: World, changes: Changes, header: Partial<Header>): void {
  core.apply(changes)
  core.header = { ...core.header, ...header }
}

/** Does any entity have one of these components? */
export function hasAny({ core: { state } }: World, tokens: readonly Component[]): boolean {
  return tokens.some((token) => state.count(token) > 0)
}
