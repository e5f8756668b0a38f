import { Effect, OwnedBy, Pending, Running } from '../../components/effects/effect.ts'
import { Handle, HandleCount, HandleText, KeptBy } from '../../components/agent/handle.ts'
import { SessionQuery } from '../../components/sessions/session-call.ts'
import type { InputOf } from '../../src/protocol/input.ts'
import type { Entity } from '../../src/world/component.ts'
import type { World } from '../../src/world/world.ts'
import { emit, inputsOf } from '../kit.ts'

/**
 * Gives the values that tool calls and questions keep their handles. A call that runs again gets the handles that it had. A start marks
 * live handles as lost: the process that had their values has ended.
 * Writes: Handle, HandleText, HandleCount, KeptBy.
 */
export const handles = {
  name: 'handles',
  priority: -94,
  wakes: ['started', 'handle-kept'],
  run(world: World): void {
    if (inputsOf(world, 'started').length > 0) loseLive(world)
    for (const input of inputsOf(world, 'handle-kept')) take(world, input)
  },
}

function take(world: World, input: InputOf<'handle-kept'>): void {
  const { effect, entry, ordinal, text } = input
  const known = world.referrers(KeptBy, effect)
  const reason = whyNot(world, input) ?? (ordinal > known.length ? 'an earlier value is missing' : undefined)
  if (reason !== undefined) return emit(world, 'input-dropped', { kind: 'handle-kept', effect, reason })
  const agent = agentOf(world, effect)
  if (agent === undefined) return
  const handle = known[ordinal] ?? world.spawn(KeptBy({ call: effect }))
  const number = world.get(handle, Handle)?.number ?? nextNumber(world, agent)
  world.set(handle, Handle, { ...entry, agent, number })
  if (text === undefined) world.remove(handle, HandleText)
  else world.set(handle, HandleText, { text })
}

/** Of a tool call, or of a question that a program asks. */
function agentOf(world: World, effect: Entity): Entity | undefined {
  return world.get(effect, OwnedBy)?.agent ?? world.get(effect, SessionQuery)?.agent
}

function whyNot(world: World, { attempt, effect }: InputOf<'handle-kept'>): string | undefined {
  const running = world.get(effect, Effect)
  if (running === undefined) return 'gone'
  if (running.attempt !== attempt) return `at try ${running.attempt}, this was for try ${attempt}`
  return world.has(effect, Pending) || world.has(effect, Running) ? undefined : 'settled'
}

function nextNumber(world: World, agent: Entity): number {
  const newest = (world.get(agent, HandleCount)?.newest ?? 0) + 1
  world.set(agent, HandleCount, { newest })
  return newest
}

function loseLive(world: World): void {
  for (const handle of world.entitiesWith(Handle)) {
    const { isLive, isLost } = world.read(handle, Handle)
    if (isLive === true && isLost !== true) world.patch(handle, Handle, { isLost: true })
  }
}
