import { Ceilings } from '../../components/ceilings.ts'
import { Context } from '../../components/context.ts'
import { Ledger } from '../../components/ledger.ts'
import { Metered } from '../../components/metered.ts'
import { Turn } from '../../components/turn.ts'
import { entered, type Spent } from '../../src/context/ledger-entry.ts'
import type { Entity } from '../../src/world/component.ts'
import type { World } from '../../src/world/world.ts'
import { setMade } from '../set-made.ts'
import { tellUnpriced } from './tell-unpriced.ts'
import { tripIfReached } from './trip-if-reached.ts'

/** Calls of a model that are settled, and what they have used. */
export interface Charge extends Spent {
  /**
   * The entity of the call: it counts for the turn that is open if it came up in it. Absent: it did. `isLate` says so
   * outright.
   */
  readonly call?: Entity
}

/** Itself, its models, and their rows. */
const levelsOfLedger = 3

/** Does an agent keep a ledger? */
export function keepsLedger(world: World, agent: Entity): boolean {
  return world.has(agent, Context) || world.has(agent, Ceilings) || world.has(agent, Metered)
}

/**
 * Enters what was spent in an agent's ledger, once, and stops the agent if that has reached a ceiling. Agents without
 * `Context` and `Ceilings` keep none.
 */
export function charge(world: World, agent: Entity, spent: Charge): void {
  if (keepsLedger(world, agent)) enter(world, agent, spent)
}

/** The same of an agent that keeps a ledger. */
export function enter(world: World, agent: Entity, spent: Charge): void {
  const { call, calls = 1, costNanoUsd, model } = spent
  const isLate = spent.isLate ?? isFromBefore(world, agent, call)
  setMade(world, agent, Ledger, entered(world.get(agent, Ledger), spent, isLate), levelsOfLedger)
  if (costNanoUsd === undefined && calls > 0) tellUnpriced(world, agent, model)
  tripIfReached(world, agent)
}

/** Was a call asked for before the turn that is open, or is none? Entities ascend. */
function isFromBefore(world: World, agent: Entity, call: Entity | undefined): boolean {
  const turn = world.get(agent, Turn)
  return turn === undefined || (call !== undefined && call < (turn.since ?? 0))
}
