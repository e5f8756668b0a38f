import type { WorldEvent } from './input.ts'
import type { World } from './world.ts'

/** Emits an event that is made of values of its World: it is neither copied nor checked. */
export function emitTrusted(world: World, event: WorldEvent): void {
  world.core.underway?.events.push(event)
}
