import { Llm } from '../components/llm.ts'
import { Turn } from '../components/turn.ts'
import type { Entity } from '../src/world/component.ts'
import type { World } from '../src/world/world.ts'
import { endTurn } from './end-turn.ts'
import { inputsOf } from './inputs-of.ts'
import { activeSessions, cancelSessionsOf, openEffects, tellCancelled } from './sessions/cancel-sessions.ts'
import { tell } from './tell.ts'

/**
 * Stops all that an agent has under way, its sessions included. The Runner aborts the work once this is committed.
 *
 * Writes: what ending a turn writes.
 */
export const cancellation = {
  name: 'cancellation',
  priority: -95,
  run(world: World): void {
    for (const { agent, reason } of inputsOf(world, 'cancel')) {
      if (!world.has(agent, Llm))
        tell(world, 'input-refused', { kind: 'cancel', agent, reason: 'there is no such agent' })
      else if (!world.has(agent, Turn) && activeSessions(world, agent).length === 0)
        tell(world, 'input-refused', { kind: 'cancel', agent, reason: 'no turn is open' })
      else cancel(world, agent, reason ?? 'The turn was cancelled.')
    }
  },
}

function cancel(world: World, agent: Entity, message: string): void {
  tellCancelled(world, agent, activeSessions(world, agent), openEffects(world, agent))
  if (world.has(agent, Turn)) endTurn(world, agent, { stop: 'cancelled', failure: { kind: 'cancelled', message } })
  else cancelSessionsOf(world, agent)
}
