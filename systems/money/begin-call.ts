import { CeilingNotes } from '../../components/ceiling-notes.ts'
import { Ceilings } from '../../components/ceilings.ts'
import { CostCeiling } from '../../components/cost-ceiling.ts'
import type { Failure } from '../../components/failure.ts'
import { Turn } from '../../components/turn.ts'
import { boundsPassed, leastLeft } from '../../src/context/ceiling-decision.ts'
import { ratesOf } from '../../src/context/reservation.ts'
import { mostReservedNanoUsd, reservedNanoUsd, spendingOf } from '../../src/context/spending.ts'
import { toUsd } from '../../src/context/usd.ts'
import type { Entity } from '../../src/world/component.ts'
import type { World } from '../../src/world/world.ts'
import { latchOf } from '../latched.ts'
import { tell } from '../tell.ts'
import { tripIfReached, warnUnpriced } from './charge.ts'
import { countCalls } from './count-calls.ts'
import { askRates } from './model-rates.ts'

/**
 * Why an agent's call of a model may not begin: a ceiling is reached, or the model has no price and is to be refused then.
 * To be asked before every call; `undefined`: it may.
 */
export function callProblem(world: World, agent: Entity, model: string): Failure | undefined {
  const ceilings = world.get(agent, Ceilings)
  tripIfReached(world, agent, ceilings)
  if (world.has(agent, CostCeiling)) return latchOf(world, agent)?.failure
  if (ceilings?.onUnpriced !== 'refuse' || ratesOf(world, model)?.isPriced !== false) return undefined
  const message = `cost unknown: the model ${model} has no price, and a ceiling is set. Give it a price, or set onUnpriced to warn.`
  return { kind: 'cost-unknown', message }
}

/**
 * Sets a call that an agent begins of a model against its ceilings: what is in flight counts as reserved, and it is told if
 * that may pass one. To be called once the call is spawned.
 */
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
    tell(world, 'cost-ceiling-neared', { agent, ...near, reservedUsd: toUsd(reserved) })
  }
}
