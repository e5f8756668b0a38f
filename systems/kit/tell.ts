import type { StandardEvents } from '../../components/event.ts'
import type { World } from '../../src/world/world.ts'

/** Emits a standard event, which its type alone checks. */
export function tell<K extends keyof StandardEvents>(world: World, type: K, facts: StandardEvents[K]): void {
  world.core.underway?.events.push({ type, ...facts })
}
