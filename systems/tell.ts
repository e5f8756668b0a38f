import type { StandardEvents } from '../components/event.ts'
import type { World } from '../src/world/world.ts'

/** Emits a standard event, checked by its type. */
export function tell<K extends keyof StandardEvents>(world: World, type: K, facts: StandardEvents[K]): void {
  world.emit({ type, ...facts })
}
