import { awaitedInWorld } from '../../rules/waiting/awaited-in.ts'
import { awakeAt } from '../../rules/waiting/awaited.ts'
import type { World } from '../../world/world.ts'
import { isBusy } from '../loop/journal-writer.ts'
import type { Host } from './host.ts'

/**
 * The world time until which a world on that Host has nothing to do but to wait for letters; `Infinity`: no time ends that.
 * `undefined`: it is at work.
 */
export function waitsUntil(world: World, { isAnsweredByInput, seams }: Host): number | undefined {
  if (world.core.inbox.length > 0) return undefined
  const open = awaitedInWorld(world)
  if (open.length === 0) return isBusy(world) ? undefined : Infinity
  return awakeAt(open, { hasFleet: seams.fleet !== undefined, isAnsweredByInput })
}
