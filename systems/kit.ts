import type { StandardEvents } from '../src/protocol/event.ts'
import { emitMade } from '../src/world/made.ts'
import type { World } from '../src/world/world.ts'
import type { InputOf, StandardInput } from '../src/protocol/input.ts'
import type { Input } from '../src/world/input.ts'
import { EntiaError } from '../src/base/entia-error.ts'
import { Due, Effect, Outcome, Pending, Running } from '../components/effects/effect.ts'
import type { Component, Entity } from '../src/world/component.ts'
import { CostCeiling } from '../components/money/ceilings.ts'
import { SlotReleased } from '../components/sessions/ancestry.ts'
import {
  AllowanceAwaited,
  Busy,
  Paused,
  RatesAwaited,
  StepStopped,
  Summarizing,
  Terminal,
} from '../components/agent/agent-tags.ts'
import { Conversation, Unread } from '../components/agent/conversation.ts'
import { Llm } from '../components/agent/llm.ts'
import { WatchdogLatch } from '../components/agent/watchdog-state.ts'
import { SubagentWait } from '../components/sessions/subagent-wait.ts'
import { not } from '../src/world/entities.ts'
import { Requested } from '../components/agent/tool-call.ts'
import { LastTurn, Turn } from '../components/agent/turn.ts'
import { ceilingMessage } from '../src/rules/money/ceiling-decision.ts'

/** Emits a standard event, which its type alone checks. */
export const emit: <K extends keyof StandardEvents>(world: World, type: K, facts: StandardEvents[K]) => void = emitMade

/** This tick's inputs of one kind, in order of arrival. Mostly there are none. */
export function inputsOf<K extends StandardInput['kind']>(world: World, kind: K): readonly InputOf<K>[] {
  const found: (Input & InputOf<K>)[] = []
  for (const input of world.inputs) if (input.kind === kind) found.push(input as Input & InputOf<K>)
  return found
}

/**
 * Why a write was refused; `undefined` if it was made. Values from models and tools are checked where they are written:
 * an invalid one is their failure, not the tick's.
 */
export function refusalOf(write: () => void): string | undefined {
  try {
    write()
    return undefined
  } catch (error) {
    if (error instanceof EntiaError && (error.code === 'invalid-value' || error.code === 'not-json'))
      return error.message
    throw error
  }
}

/** Settled effects of one kind after the other, each ascending. One query serves all kinds, since few are settled at a time. */
export function settled(world: World, ...kinds: readonly Component[]): readonly Entity[] {
  const all = world.query(Outcome)
  if (all.length === 0) return all
  const found: Entity[] = []
  for (const token of kinds) for (const effect of all) if (world.has(effect, token)) found.push(effect)
  return found
}

/** Delays before the second and third try of a write. */
const waitsMs = [50, 500]

/** Starts another effect of an entity. Inputs for the one before are dropped. */
export function beginEffect(world: World, entity: Entity, next: Omit<Parameters<typeof Effect>[0], 'attempt'>): void {
  // No earlier effect of the entity has got so far: each has begun in a tick of its own.
  const attempt = world.tick + 1
  clearEffect(world, entity)
  world.set(entity, Effect, { attempt, ...next })
  world.add(entity, Pending)
}

export function clearEffect(world: World, entity: Entity): void {
  for (const token of [Due, Effect, Outcome, Pending, Running]) world.remove(entity, token)
}

/**
 * Retries a failed effect after a delay. Returns false once it was tried often enough.
 * @param tries so far
 */
export function tryWriteAgain(world: World, entity: Entity, tries: number): boolean {
  const waitMs = waitsMs[tries - 1]
  if (waitMs === undefined) return false
  const effect = world.read(entity, Effect)
  clearEffect(world, entity)
  world.set(entity, Effect, { ...effect, attempt: effect.attempt + 1 })
  world.add(entity, Due({ atMs: world.nowMs + waitMs }))
  return true
}

/** Each of these holds an agent's next step until something is fetched, written or reset. */
const holds = [AllowanceAwaited, CostCeiling, RatesAwaited, Summarizing, WatchdogLatch]

const notReady = [Busy, Paused, SlotReleased, StepStopped, SubagentWait, Terminal, ...holds]
const ready = [Llm, Conversation, Unread, ...notReady.map(not)]

export function isStepHeld(world: World, agent: Entity): boolean {
  return holds.some((token) => world.has(agent, token))
}

/**
 * The first `count` agents that have something to answer and nothing running, ascending.
 * @param also only agents with these components, out of twice as many: some of the first may be held before they start.
 * They are checked one by one, so that no query has to be kept up to date for few agents.
 */
export function readyAgents(world: World, count: number, ...also: readonly Component[]): readonly Entity[] {
  const soon = world.first(2 * count, ...ready)
  if (also.length > 0) return soon.filter((agent) => also.every((token) => world.has(agent, token)))
  return soon.length <= count ? soon : soon.slice(0, count)
}

/** Twice as many: some of the first may be held before they start. */
export function soonReady(world: World, count: number): readonly Entity[] {
  return world.first(2 * count, ...ready)
}

/** The first `count` undecided tool calls, ascending. */
export function requestedCalls(world: World, count: number): readonly Entity[] {
  const calls = world.first(2 * count, Requested)
  return calls.length <= count ? calls : calls.slice(0, count)
}

/** Twice as many: some of the first may be refused before they are decided. */
export function soonRequested(world: World, count: number): readonly Entity[] {
  return world.first(2 * count, Requested)
}

type Latched = Pick<StandardEvents['turn-error'], 'kind' | 'message' | 'failure'>

/** What has stopped an agent until it is reset; `undefined` if nothing has. */
export function latchOf(world: World, agent: Entity): Latched | undefined {
  const ceiling = world.get(agent, CostCeiling)
  if (ceiling !== undefined) {
    const message = ceilingMessage(ceiling)
    return { kind: 'cost_ceiling', message, failure: { kind: 'budget-spent', message } }
  }
  const dog = world.get(agent, WatchdogLatch)
  if (dog === undefined) return undefined
  return { kind: 'watchdog', message: dog.message, failure: { kind: 'watchdog', message: dog.message } }
}

/** Refuses a message to a stopped agent and emits that. Returns whether it is stopped. */
export function refuseLatched(world: World, agent: Entity): boolean {
  const latched = latchOf(world, agent)
  if (latched === undefined) return false
  emit(world, 'turn-error', { agent, ...latched, retryable: false, refused: true })
  if (latched.kind === 'cost_ceiling' && !world.has(agent, Turn)) noteRefused(world, agent, latched)
  return true
}

/** The sender sees a turn that ended before its first step. */
function noteRefused(world: World, agent: Entity, { failure }: Latched): void {
  const atMs = world.nowMs
  const nothing = { steps: 0, toolCalls: 0, startedAtMs: atMs, endedAtMs: atMs }
  world.add(agent, LastTurn({ stop: 'budget-spent', failure, ...nothing }))
}
