import type { InputOf } from '../components/input.ts'
import { Llm } from '../components/llm.ts'
import { Outcome } from '../components/outcome.ts'
import { ActiveFor } from '../components/subagent-session.ts'
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
    for (const input of inputsOf(world, 'cancel')) {
      const { agent, reason } = input
      dropLaterEnds(world, agent, input)
      if (!world.has(agent, Llm))
        tell(world, 'input-refused', { kind: 'cancel', agent, reason: 'there is no such agent' })
      else if (!world.has(agent, Turn) && activeSessions(world, agent).length === 0)
        tell(world, 'input-refused', { kind: 'cancel', agent, reason: 'no turn is open' })
      else cancel(world, agent, reason ?? 'The turn was cancelled.')
    }
  },
}

/** Inputs count in the order of their arrival: what has come for a session behind the cancel comes too late. */
function dropLaterEnds(world: World, agent: Entity, cancelled: InputOf<'cancel'>): void {
  const behind = world.inputs.slice(world.inputs.findIndex((input) => input === cancelled) + 1)
  for (const session of world.referrers(ActiveFor, agent)) {
    const isLater = behind.some((input) => input.kind === 'outcome' && input['effect'] === session)
    if (!isLater || !world.has(session, Outcome)) continue
    world.remove(session, Outcome)
    tell(world, 'input-dropped', { kind: 'outcome', effect: session, reason: 'cancelled before it' })
  }
}

function cancel(world: World, agent: Entity, message: string): void {
  tellCancelled(world, agent, activeSessions(world, agent), openEffects(world, agent))
  if (world.has(agent, Turn)) endTurn(world, agent, { stop: 'cancelled', failure: { kind: 'cancelled', message } })
  else cancelSessionsOf(world, agent)
}
