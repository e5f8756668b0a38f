import { canonicalOrNone } from './canonical.ts'
import type { DeepReadonly, Entity, Initial, Value } from './component.ts'
import { EntiaError } from './entia-error.ts'
import type { WorldEvent } from './input.ts'
import type { Json } from './json.ts'
import type { World } from './world.ts'

/**
 * Unchecked writes for the standard systems. They build these values from numbers, known names, and parts that were checked
 * on entry, so each value is already canonical and fits its schema: it is frozen, neither copied nor checked. Values from
 * outside go through `World.set`, `add` and `append`. The tests of this project check every value written here.
 */
let checksMade = false

/** Checks every such value from now on. For tests. */
export function checkMade(): void {
  checksMade = true
}

/** A component of such a value: its keys are in order, none is `undefined`, and objects in it are frozen. */
export function made<T>(token: Value<T>, value: DeepReadonly<T>): Initial {
  if (checksMade) assertMade(token, value as Json)
  return { token, initial: Object.freeze(value) as Json }
}

/** Replaces a value by such a one. */
export function setMade<T>(world: World, entity: Entity, token: Value<T>, value: DeepReadonly<T>): void {
  if (checksMade) assertMade(token, value as Json)
  world.core.put(entity, token, Object.freeze(value) as Json)
}

/** Replaces fields of a value that has them already. */
export function patchMade<T>(world: World, entity: Entity, token: Value<T>, fields: Partial<DeepReadonly<T>>): void {
  const value = { ...(world.read(entity, token) as object), ...fields }
  setMade(world, entity, token, value as DeepReadonly<T>)
}

/** Replaces a value that is checked, and down to so many levels frozen where it is instead of copied: no one else holds it. */
export function adopt<T>(world: World, entity: Entity, token: Value<T>, value: DeepReadonly<T>, levels: number): void {
  world.core.put(entity, token, world.core.check(entity, token, value, levels))
}

/** Emits an event that is made of such values. */
export function emitMade(world: World, event: WorldEvent): void {
  world.core.underway?.events.push(event)
}

function assertMade(token: Value, value: Json): void {
  const plain = canonicalOrNone(value)
  const isCanonical = JSON.stringify(plain) === JSON.stringify(value) && hasFrozenParts(value)
  if (plain !== undefined && isCanonical && token.schema.safeParse(plain).success) return
  const what = `Component ${token.name}: a value that is written unchecked is not canonical or does not fit`
  throw new EntiaError('invalid-value', `${what}: ${JSON.stringify(value)}`, { component: token.name })
}

function hasFrozenParts(value: Json): boolean {
  if (typeof value !== 'object' || value === null) return true
  return Object.values(value).every((part) => {
    return part !== undefined && (typeof part !== 'object' || part === null || Object.isFrozen(part))
  })
}
