import type { StandardEvents } from '../../src/protocol/event.ts'
import { emitMade } from '../../src/world/made.ts'
import type { World } from '../../src/world/world.ts'

/** Emits a standard event, which its type alone checks. */
export function emit<K extends keyof StandardEvents>(world: World, type: K, facts: StandardEvents[K]): void {
  emitMade(world, { type, ...facts })
}
