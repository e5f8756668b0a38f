import { Busy, LastStep } from '../../components/agent/agent-tags.ts'
import { Conversation, Edited, Unread } from '../../components/agent/conversation.ts'
import { Effect, OwnedBy, Pending } from '../../components/effects/effect.ts'
import { defaultLimits, Limits, Turn } from '../../components/agent/turn.ts'
import { Llm } from '../../components/agent/llm.ts'
import { ModelCall } from '../../components/effects/model-call.ts'
import { Prefix } from '../../components/agent/prefix.ts'
import { nextPrefix } from '../../src/rules/projection/prefix.ts'
import type { Entity } from '../../src/world/component.ts'
import { made, setMade } from '../../src/world/made.ts'
import type { World } from '../../src/world/world.ts'
import { reserve, stepStanding } from '../money/begin-call.ts'
import { dropOwnCalls } from '../money/count-calls.ts'
import { openTurn } from './open-turn.ts'
import { emit, readyAgents } from '../kit.ts'

/** Timeout of one try of a model call if `Llm` has none, in ms. */
const defaultTimeoutMs = 600_000

/**
 * Starts a model call, one step of a turn, for every agent that has something to answer and nothing running.
 * Writes: Turn, LastStep, Busy, Unread, Prefix, Edited; under ceilings CeilingNotes, RatesAwaited. Starts: model,
 * rates.
 */
export function reasoning(maxStartsPerTick: number) {
  return {
    name: 'reasoning',
    priority: 0,
    wakes: [Unread],
    run(world: World): void {
      const ready = readyAgents(world, maxStartsPerTick)
      for (const agent of ready) startStep(world, agent)
      if (ready.length === maxStartsPerTick) world.requestTick()
    },
  }
}

function startStep(world: World, agent: Entity): void {
  const messages = world.read(agent, Conversation).length
  const standing = stepStanding(world, agent, messages)
  if (standing === 'held') return
  const steps = nextStep(world, agent)
  checkPrefix(world, agent, messages)
  const { model, timeoutMs = defaultTimeoutMs } = world.read(agent, Llm)
  const effect = world.spawn(
    made(ModelCall, { messages }),
    made(Effect, { attempt: 1, kind: 'model', restart: 'pure', timeoutMs }),
    made(OwnedBy, { agent }),
    Pending,
  )
  if (standing === 'near') reserve(world, agent, model)
  world.remove(agent, Unread)
  world.add(agent, Busy)
  emit(world, 'model-called', { agent, effect, step: steps, messages })
}

function nextStep(world: World, agent: Entity): number {
  const turn = world.get(agent, Turn)
  const steps = turn === undefined ? openTurn(world, agent, 1) : turn.steps + 1
  if (turn !== undefined) setMade(world, agent, Turn, { ...turn, steps })
  const maxSteps = world.get(agent, Limits)?.maxSteps ?? defaultLimits.maxSteps
  if (steps >= maxSteps) world.add(agent, LastStep)
  return steps
}

/** A request that does not begin like the one before it misses the provider's prompt cache. */
function checkPrefix(world: World, agent: Entity, messages: number): void {
  const last = world.get(agent, Prefix)
  const { prefix, brokenBy } = nextPrefix(world, agent, last, messages)
  if (brokenBy !== undefined) {
    emit(world, 'prefix-broken', { agent, component: brokenBy })
    dropOwnCalls(world, agent)
  }
  setMade(world, agent, Prefix, prefix)
  world.remove(agent, Edited)
}
