import { canonicalOrNone } from './canonical.ts'
import type { DeepReadonly, Entity, Initial, Log, Value } from './component.ts'
import { EntiaError } from '../base/entia-error.ts'
import type { Json } from '../base/json.ts'
import type { World } from './world.ts'

/**
 * Unchecked writes for the standard systems: values they build are canonical and fit, so they are frozen, neither copied nor
 * checked. Values from outside go through `World.set`, `add` and `append`. This project's tests check every value.
 */
let checksMade = false

/** For tests. */
export function checkMade(): void {
  checksMade = true
}

/** Keys must be sorted, none `undefined`, and objects in it frozen. */
export function made<T>(token: Value<T>, value: DeepReadonly<T>): Initial {
  if (checksMade) assertMade(token, value as Json)
  return { token, initial: Object.freeze(value) as Json }
}

export function setMade<T>(world: World, entity: Entity, token: Value<T>, value: DeepReadonly<T>): void {
  if (checksMade) assertMade(token, value as Json)
  world.core.put(entity, token, Object.freeze(value) as Json)
}

/** Appends an item to a log, as `setMade` writes a value. */
export function appendMade<T>(world: World, entity: Entity, token: Log<T>, item: DeepReadonly<T>): void {
  if (checksMade) assertMade(token, item as Json)
  world.core.append(entity, token, [Object.freeze(item) as Json])
}

/** Writes what is canonical already, such as a part of an input or of another component, if the schema takes it. @throws `invalid-value` */
export function setCanonical<T>(world: World, entity: Entity, token: Value<T>, value: DeepReadonly<T>): void {
  if (checksMade) assertCanonical(token, value as Json)
  world.core.put(entity, token, world.core.fitting(entity, token, value as Json))
}

/** Like `setCanonical`, once its levels are frozen: no one else may hold them. Keys must be sorted, none `undefined`. */
export function adopt<T>(world: World, entity: Entity, token: Value<T>, value: DeepReadonly<T>, levels: number): void {
  freeze(value as object, levels)
  setCanonical(world, entity, token, value)
}

/** Appends an item to a log, as `adopt` writes a value. @throws `invalid-value` */
export function appendAdopted<T>(
  world: World,
  entity: Entity,
  token: Log<T>,
  item: DeepReadonly<T>,
  levels: number,
): void {
  freeze(item as object, levels)
  if (checksMade) assertCanonical(token, item as Json)
  world.core.append(entity, token, [world.core.fitting(entity, token, item as Json)])
}

function freeze(value: object, levels: number): void {
  if (Object.isFrozen(value)) return
  if (levels > 1) {
    for (const part of Object.values(value) as readonly unknown[]) {
      if (typeof part === 'object' && part !== null) freeze(part, levels - 1)
    }
  }
  Object.freeze(value)
}

export function emitMade(world: World, type: string, facts: object): void {
  world.core.underway?.events.push({ type, ...facts })
}

function assertMade(token: Value | Log, value: Json): void {
  const plain = canonicalOrNone(value)
  const isCanonical = JSON.stringify(plain) === JSON.stringify(value) && hasFrozenParts(value)
  if (plain === undefined || !isCanonical || !token.schema.safeParse(plain).success) throw unfit(token, value)
}

/** A canonical value is given back as it is. */
function assertCanonical(token: Value | Log, value: Json): void {
  if (!Object.isFrozen(value) || canonicalOrNone(value) !== value) throw unfit(token, value)
}

function unfit({ name }: Value | Log, value: Json): EntiaError {
  const what = `Component ${name}: a value that is written unchecked is not canonical or does not fit`
  return new EntiaError('invalid-value', `${what}: ${JSON.stringify(value)}`, { component: name })
}

function hasFrozenParts(value: Json): boolean {
  if (typeof value !== 'object' || value === null) return true
  return Object.values(value).every((part) => {
    return part !== undefined && (typeof part !== 'object' || part === null || Object.isFrozen(part))
  })
}
