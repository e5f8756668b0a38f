import { Due, Effect, Outcome, Running } from '../../../components/effects/effect.ts'
import type { Entity } from '../../world/component.ts'
import type { World } from '../../world/world.ts'
import { isBusy } from '../loop/journal-writer.ts'
import type { Host } from './host.ts'

/**
 * The world time until which a world has nothing to do but to wait for letters; `Infinity`: no time ends that. `undefined`: it is at
 * work. It waits for people, for sessions that run elsewhere, and for instants.
 */
export function waitsUntil(world: World, host: Host): number | undefined {
  if (world.core.inbox.length > 0) return undefined
  let untilMs = Infinity
  const effects = world.entitiesWith(Effect).filter((effect) => !world.has(effect, Outcome))
  if (effects.length === 0) return isBusy(world) ? undefined : Infinity
  for (const effect of effects) {
    const endsMs = waitOf(world, host, effect)
    if (endsMs === undefined) return undefined
    untilMs = Math.min(untilMs, endsMs)
  }
  return untilMs
}

function waitOf(world: World, host: Host, effect: Entity): number | undefined {
  const { deadlineMs = Infinity, kind } = world.read(effect, Effect)
  const dueMs = world.get(effect, Due)?.atMs
  if (dueMs !== undefined) return dueMs
  if (kind === 'timer') return deadlineMs
  if (kind === 'approval') return host.isAnsweredByInput ? deadlineMs : undefined
  // One that has not begun is perhaps not in line yet.
  if (kind === 'session' && host.seams.fleet !== undefined && world.has(effect, Running)) return deadlineMs
  return undefined
}
