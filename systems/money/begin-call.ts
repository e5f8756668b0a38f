import { Boundary } from '../../components/context/boundary.ts'
import { CeilingNotes, Ceilings, CostCeiling } from '../../components/money/ceilings.ts'
import type { Failure } from '../../src/protocol/failure.ts'
import { Llm } from '../../components/agent/llm.ts'
import { Turn } from '../../components/agent/turn.ts'
import { boundsPassed, leastLeft } from '../../src/rules/money/ceiling-decision.ts'
import { mostReservedForStep, ratesOf } from '../../src/rules/money/reservation.ts'
import { mostReservedNanoUsd, reservedNanoUsd, spendingOf } from '../../src/rules/money/spending.ts'
import { toUsd } from '../../src/rules/money/usd.ts'
import type { Entity } from '../../src/world/component.ts'
import type { World } from '../../src/world/world.ts'
import { endTurn } from '../agent/end-turn.ts'
import { emit, latchOf } from '../kit.ts'
import { tripIfReached, warnUnpriced } from './charge.ts'
import { countCalls } from './count-calls.ts'
import { askRates, awaitRates } from './model-rates.ts'
import { openTurn } from '../agent/open-turn.ts'

/**
 * Why an agent's model call may not start: a reached ceiling, or a refused model without a price. Checked before every
 * call; `undefined`: it may.
 */
export function callProblem(world: World, agent: Entity, model: string): Failure | undefined {
  const ceilings = world.get(agent, Ceilings)
  tripIfReached(world, agent, ceilings)
  if (world.has(agent, CostCeiling)) return latchOf(world, agent)?.failure
  if (ceilings?.onUnpriced !== 'refuse' || ratesOf(world, model)?.isPriced !== false) return undefined
  const message = `cost unknown: the model ${model} has no price, and a ceiling is set. Give it a price, or set onUnpriced to warn.`
  return { kind: 'cost-unknown', message }
}

/** Reserves a spawned call against the agent's ceilings, and emits if that may exceed one. */
export function reserve(world: World, agent: Entity, model: string): void {
  const ceilings = world.get(agent, Ceilings)
  if (ceilings === undefined) return
  const rates = ratesOf(world, model)
  if (rates === undefined) askRates(world, model)
  else if (!rates.isPriced) warnUnpriced(world, agent, model)
  const spent = spendingOf(world, agent)
  // Far from its ceilings an agent's tokens are not counted.
  if (mostReservedNanoUsd(world, agent) <= leastLeft(ceilings, spent)) return
  countCalls(world, agent)
  const reserved = reservedNanoUsd(world, agent)
  const turn = world.get(agent, Turn)?.since ?? 0
  for (const near of boundsPassed(ceilings, spent, reserved)) {
    const notes = world.get(agent, CeilingNotes) ?? { neared: {}, unpriced: [] }
    if (notes.neared[near.bound] === turn) continue
    world.set(agent, CeilingNotes, { ...notes, neared: { ...notes.neared, [near.bound]: turn } })
    emit(world, 'cost-ceiling-neared', { agent, ...near, reservedUsd: toUsd(reserved) })
  }
}

/**
 * A step against its agent's ceilings. `held`: it may not start. `near`: it may, and must be reserved. `far`: it cannot
 * exceed one.
 */
export type StepStanding = 'held' | 'near' | 'far'

/**
 * May an agent start a step that answers so many messages? Not if a ceiling is reached, or until the model's price is
 * known. If a required price does not exist, the turn ends.
 */
export function stepStanding(world: World, agent: Entity, messages: number): StepStanding {
  const ceilings = world.get(agent, Ceilings)
  if (ceilings === undefined) return 'far'
  const { model } = world.read(agent, Llm)
  const spent = spendingOf(world, agent)
  const left = leastLeft(ceilings, spent)
  const isClear = left > 0 && ceilings.onUnpriced !== 'refuse' && !world.has(agent, CostCeiling)
  const failure = isClear ? undefined : callProblem(world, agent, model)
  if (failure !== undefined) {
    if (failure.kind !== 'cost-unknown') return 'held'
    const { message } = failure
    emit(world, 'turn-error', { agent, kind: 'cost_unknown', retryable: false, message, failure })
    if (!world.has(agent, Turn)) openTurn(world, agent, 0)
    endTurn(world, agent, { stop: 'failed', failure })
    return 'held'
  }
  const rates = awaitRates(world, agent, model)
  if (rates === undefined) return 'held'
  const most = mostReservedForStep(world, agent, messages, rates)
  if (most === undefined) return 'near'
  // Behind a boundary the request names the turn, which is not open yet.
  const isOpen = spent.turnNanoUsd !== undefined
  if (!isOpen && world.has(agent, Boundary)) return 'near'
  const leftOfTurn = isOpen ? left : leastLeft(ceilings, { ...spent, turnNanoUsd: 0 })
  return most + mostReservedNanoUsd(world, agent) <= leftOfTurn ? 'far' : 'near'
}
