import type { InputOf } from '../../src/protocol/input.ts'
import { Llm } from '../../components/agent/llm.ts'
import { Outcome } from '../../components/effects/effect.ts'
import { Summarizing } from '../../components/agent/agent-tags.ts'
import { ActiveFor } from '../../components/sessions/subagent-session.ts'
import { Turn } from '../../components/agent/turn.ts'
import type { Entity } from '../../src/world/component.ts'
import type { World } from '../../src/world/world.ts'
import { endTurn } from './end-turn.ts'
import { emit, inputsOf } from '../kit.ts'
import { activeSessions, cancelSessionsOf, openEffects, emitCancelled } from '../sessions/end-session.ts'
import { cancelSummary, summaryUnderWay } from '../context/summaries/boundary-text.ts'

/**
 * Stops all work of a cancelled agent and of its sessions. The Runner aborts it after the commit.
 * Writes: what ending a turn writes.
 */
export const cancellation = {
  name: 'cancellation',
  priority: -95,
  wakes: ['cancel'],
  run(world: World): void {
    for (const input of inputsOf(world, 'cancel')) {
      const { agent, reason } = input
      dropLaterEnds(world, agent, input)
      if (!world.has(agent, Llm))
        emit(world, 'input-refused', { kind: 'cancel', agent, reason: 'there is no such agent' })
      else if (!isUnderWay(world, agent))
        emit(world, 'input-refused', { kind: 'cancel', agent, reason: 'no turn is open' })
      else cancel(world, agent, reason ?? 'The turn was cancelled.')
    }
  },
}

function isUnderWay(world: World, agent: Entity): boolean {
  return world.has(agent, Turn) || world.has(agent, Summarizing) || activeSessions(world, agent).length > 0
}

/** Inputs count in order of arrival: a session's outcome behind the cancel is dropped. */
function dropLaterEnds(world: World, agent: Entity, cancelled: InputOf<'cancel'>): void {
  const behind = world.inputs.slice(world.inputs.findIndex((input) => input === cancelled) + 1)
  for (const session of world.referrers(ActiveFor, agent)) {
    const isLater = behind.some((input) => input.kind === 'outcome' && input['effect'] === session)
    if (!isLater || !world.has(session, Outcome)) continue
    world.remove(session, Outcome)
    emit(world, 'input-dropped', { kind: 'outcome', effect: session, reason: 'cancelled before it' })
  }
}

function cancel(world: World, agent: Entity, message: string): void {
  const summary = summaryUnderWay(world, agent)
  const effects = [...openEffects(world, agent), ...(summary === undefined ? [] : [summary])]
  emitCancelled(world, agent, activeSessions(world, agent), effects)
  cancelSummary(world, agent, message)
  if (world.has(agent, Turn)) endTurn(world, agent, { stop: 'cancelled', failure: { kind: 'cancelled', message } })
  else cancelSessionsOf(world, agent)
}
