import { Effect } from '../../components/effect.ts'
import { Outcome } from '../../components/outcome.ts'
import { Pending } from '../../components/pending.ts'
import { SideCall } from '../../components/side-call.ts'
import { transcriptOf } from '../../src/context/side-request.ts'
import type { Entity } from '../../src/world/component.ts'
import type { World } from '../../src/world/world.ts'
import { tell } from '../tell.ts'

/** The part is cut to a half, then to a quarter, then to an eighth. */
const leastShare = 8

/**
 * Asks once more for a text about a part that its model has no room for, with less of the middle of that part: a conversation
 * that has run over is best summed up in part, and not at all otherwise. False: this is no such call, or it was cut enough.
 */
export function askShorter(world: World, effect: Entity): boolean {
  const outcome = world.read(effect, Outcome)
  if (outcome.ok || outcome.failure.kind !== 'context-overflow') return false
  const { agent, maxChars: before } = world.read(effect, SideCall)
  const chars = transcriptOf(world, effect).length
  const maxChars = Math.floor((before ?? chars) / 2)
  if (maxChars * leastShare < chars - leastShare) return false
  world.remove(effect, Outcome)
  world.patch(effect, SideCall, { maxChars })
  world.patch(effect, Effect, { attempt: world.read(effect, Effect).attempt + 1 })
  world.add(effect, Pending)
  const message = `What is to be summed up is longer than the model's window: ${chars - maxChars} of ${chars} characters are left out.`
  tell(world, 'warning', { agent, message })
  return true
}
