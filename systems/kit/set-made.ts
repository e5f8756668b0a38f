import type { DeepReadonly, Entity, Value } from '../../src/world/component.ts'
import type { World } from '../../src/world/world.ts'

/**
 * Replaces a value by one that was made for it: down to so many levels nobody else holds any of it, and it is frozen as it
 * is instead of copied.
 */
export function setMade<T>(
  world: World,
  entity: Entity,
  token: Value<T>,
  value: DeepReadonly<T>,
  levels: number,
): void {
  const { core } = world
  core.put(entity, token, core.check(entity, token, value, levels))
}
