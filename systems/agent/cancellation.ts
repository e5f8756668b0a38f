import type { InputOf } from '../../src/protocol/input.ts'
import { Llm } from '../../components/agent/llm.ts'
import { Outcome, OwnedBy } from '../../components/effects/effect.ts'
import { Busy, StepStopped, Summarizing } from '../../components/agent/agent-tags.ts'
import { Conversation, Unread } from '../../components/agent/conversation.ts'
import { ModelCall } from '../../components/effects/model-call.ts'
import { ActiveFor, SubagentSession } from '../../components/sessions/subagent-session.ts'
import { Turn } from '../../components/agent/turn.ts'
import type { Entity } from '../../src/world/component.ts'
import type { World } from '../../src/world/world.ts'
import { endTurn, stopWork } from './end-turn.ts'
import { emit, inputsOf } from '../kit.ts'
import { activeSessions, cancelSession, cancelSessionsOf, openEffects, emitCancelled } from '../sessions/end-session.ts'
import { cancelSummary, summaryUnderWay } from '../context/summaries/boundary-text.ts'

/**
 * Stops all work of a cancelled agent and of its sessions, or only that of its step. The Runner aborts it after the commit.
 * Writes: what ending a turn writes; StepStopped.
 */
export const cancellation = {
  name: 'cancellation',
  priority: -95,
  wakes: ['cancel'],
  run(world: World): void {
    for (const input of inputsOf(world, 'cancel')) {
      const { agent, reason } = input
      if (input.step !== true) dropLaterEnds(world, input, () => true)
      if (!world.has(agent, Llm))
        emit(world, 'input-refused', { kind: 'cancel', agent, reason: 'there is no such agent' })
      else if (!isUnderWay(world, agent))
        emit(world, 'input-refused', { kind: 'cancel', agent, reason: 'no turn is open' })
      else if (input.step === true) stopStep(world, input)
      else cancelWork(world, agent, reason ?? 'The turn was cancelled.')
    }
  },
}

function isUnderWay(world: World, agent: Entity): boolean {
  return world.has(agent, Turn) || world.has(agent, Summarizing) || activeSessions(world, agent).length > 0
}

/** Inputs count in order of arrival: a session's outcome behind the cancel is dropped. */
function dropLaterEnds(world: World, cancelled: InputOf<'cancel'>, isMeant: (session: Entity) => boolean): void {
  const behind = world.inputs.slice(world.inputs.findIndex((input) => input === cancelled) + 1)
  for (const session of world.referrers(ActiveFor, cancelled.agent)) {
    if (!isMeant(session)) continue
    const isLater = behind.some((input) => input.kind === 'outcome' && input['effect'] === session)
    if (!isLater || !world.has(session, Outcome)) continue
    world.remove(session, Outcome)
    emit(world, 'input-dropped', { kind: 'outcome', effect: session, reason: 'cancelled before it' })
  }
}

/**
 * Stops what the step has under way, with the sessions that its calls wait for; those in the background go on. The turn
 * stays open for the user, unless they have said already what the agent has not read: that is read at once.
 */
function stopStep(world: World, input: InputOf<'cancel'>): void {
  const { agent, reason: message = 'The step was stopped.' } = input
  if (!world.has(agent, Turn) && !world.has(agent, Summarizing)) {
    return emit(world, 'input-refused', { kind: 'cancel', agent, reason: 'no turn is open' })
  }
  const isAddressed = hasNewMessage(world, agent)
  const isAwaited = (session: Entity): boolean => world.read(session, SubagentSession).mode === 'sync'
  dropLaterEnds(world, input, isAwaited)
  const awaited = activeSessions(world, agent).filter(isAwaited)
  const summary = summaryUnderWay(world, agent)
  emitCancelled(world, agent, awaited, [...openEffects(world, agent), ...(summary === undefined ? [] : [summary])])
  cancelSummary(world, agent, message)
  if (!world.has(agent, Turn)) return
  stopWork(world, agent, 'cancelled')
  for (const session of awaited) cancelSession(world, session)
  world.remove(agent, Busy)
  world.add(agent, Unread)
  if (!isAddressed) world.add(agent, StepStopped)
  emit(world, 'step-stopped', { agent })
}

/** Has the user said something that the step under way has not read? */
function hasNewMessage(world: World, agent: Entity): boolean {
  const messages = world.read(agent, Conversation)
  const call = world.referrers(OwnedBy, agent).find((owned) => world.has(owned, ModelCall))
  const read = call === undefined ? 0 : world.read(call, ModelCall).messages
  return world.has(agent, Busy) && messages.length > read && messages.at(-1)?.role === 'user'
}

/** Ends the turn of an agent, and all work of it and its sessions. */
export function cancelWork(world: World, agent: Entity, message: string): void {
  const summary = summaryUnderWay(world, agent)
  const effects = [...openEffects(world, agent), ...(summary === undefined ? [] : [summary])]
  emitCancelled(world, agent, activeSessions(world, agent), effects)
  cancelSummary(world, agent, message)
  if (world.has(agent, Turn)) endTurn(world, agent, { stop: 'cancelled', failure: { kind: 'cancelled', message } })
  else cancelSessionsOf(world, agent)
}
