import type { Message } from '../../components/message.ts'
import type { Entity } from '../world/component.ts'
import type { World } from '../world/world.ts'

const nothing: readonly Message[] = []

/**
 * What an agent's model is told of what is so right now: made anew for each call, behind the last cache breakpoint, and no
 * part of the shared prefix.
 */
export function liveTail(_world: World, _agent: Entity): readonly Message[] {
  return nothing
}
