import type { Changes, Header } from './changes.ts'
import type { Component, Entity } from './component.ts'
import type { Json } from '../base/json.ts'
import type { World } from './world.ts'

// What simulators and replays read of a World, and do to it, beyond what its users can.

export function headerOf({ core }: World): Header {
  return core.header
}

export function knownComponents({ core }: World): ReadonlySet<Component> {
  return core.tokens
}

/** `undefined` if the entity does not have it. */
export function valueOf({ core }: World, entity: Entity, component: string): Json | undefined {
  const token = core.find(component)
  return token && core.state.get(entity, token)
}

export function allEntities({ core }: World): readonly Entity[] {
  return core.state.entities.all()
}

export function* allValues({ core: { state } }: World): Generator<readonly [Entity, component: string, Json]> {
  for (const column of state.columns()) {
    for (const row of column.rows()) yield [state.entities.at(row), column.token.name, column.get(row) as Json]
  }
}

export function postedInputs({ core }: World): number {
  return core.inbox.length
}

/** Component → the system that wrote it last in the newest tick. Before the next begins. */
export function lastWriters({ core }: World): Readonly<Record<string, string>> {
  return core.state.tracking.writers()
}

/** `undefined` between ticks. */
export function runningSystem({ core }: World): string | undefined {
  return core.underway?.writer
}

/** Also run sleeping systems, and fail if they do anything. */
export function checkWakes({ core }: World, isOn: boolean): void {
  core.checksWakes = isOn
}

export function redo({ core }: World, changes: Changes, header: Partial<Header>): void {
  core.apply(changes)
  core.header = { ...core.header, ...header }
}

export function hasAny({ core: { state } }: World, tokens: readonly Component[]): boolean {
  for (const { index } of tokens) if ((state.columnAt[index]?.count ?? 0) > 0) return true
  return false
}
