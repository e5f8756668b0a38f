import { CeilingNotes, Ceilings, CostCeiling } from '../../components/money/ceilings.ts'
import { Ledger, type LedgerData } from '../../components/money/ledger.ts'
import { OnAllowance } from '../../components/money/metered.ts'
import { Llm } from '../../components/agent/llm.ts'
import { Turn } from '../../components/agent/turn.ts'
import { Usage } from '../../components/money/usage.ts'
import { ceilingReached } from '../../src/rules/money/ceiling-decision.ts'
import { entered, ledgerFrom, type Spent } from '../../src/rules/money/ledger-entry.ts'
import { usageSince } from '../../src/rules/tokens/token-counts.ts'
import { spendingOf } from '../../src/rules/money/spending.ts'
import type { Entity } from '../../src/world/component.ts'
import { adopt } from '../../src/world/made.ts'
import type { World } from '../../src/world/world.ts'
import { emit, latchOf } from '../kit.ts'

/** Settled calls of a model, and what they used. */
export interface Charge extends Spent {
  /** The call's entity: it counts for the open turn if spawned in it. Absent: it does, unless `isLate`. */
  readonly call?: Entity
}

/** The ledger, its models, and their rows. */
const levelsOfLedger = 3

/** Adds spending to the agent's ledger, and stops the agent if that reaches a ceiling. */
export function charge(world: World, agent: Entity, spent: Charge): void {
  const { call, calls = 1, costNanoUsd, model } = spent
  const isLate = spent.isLate ?? isFromBefore(world, agent, call)
  adopt(world, agent, Ledger, entered(ledgerOf(world, agent), spent, isLate), levelsOfLedger)
  if (costNanoUsd === undefined && calls > 0) warnUnpriced(world, agent, model)
  tripIfReached(world, agent)
}

/** Notes that the cost of a session or another child is unknown, which is cut in the turn. */
export function noteUnknown(world: World, agent: Entity, child: Entity): void {
  addUnknown(world, agent, child, 1)
}

/** What such a child has spent is known after all. */
export function noteKnown(world: World, agent: Entity, child: Entity): void {
  addUnknown(world, agent, child, -1)
}

function addUnknown(world: World, agent: Entity, child: Entity, calls: 1 | -1): void {
  if (isFromBefore(world, agent, child)) return
  const { turnUnknown: before = 0, ...ledger } = ledgerOf(world, agent)
  const turnUnknown = Math.max(0, before + calls)
  world.set(agent, Ledger, { ...ledger, ...(turnUnknown > 0 && { turnUnknown }) })
}

function ledgerOf(world: World, agent: Entity): LedgerData {
  const ledger = world.get(agent, Ledger)
  if (ledger !== undefined) return ledger
  const used = world.get(agent, Usage)
  const model = world.get(agent, Llm)?.model ?? ''
  return ledgerFrom(model, used, usageSince(used, world.get(agent, Turn)?.usedBefore))
}

/** Was a call spawned before the open turn, or is none open? Entities ascend. */
function isFromBefore(world: World, agent: Entity, call: Entity | undefined): boolean {
  const turn = world.get(agent, Turn)
  return turn === undefined || (call !== undefined && call < (turn.since ?? 0))
}

/** Emits once that a model without a price is called under a ceiling. For a subtask, the paying agent emits it. */
export function warnUnpriced(world: World, agent: Entity, model: string): void {
  if (!world.has(agent, Ceilings) || world.has(agent, OnAllowance)) return
  const notes = world.get(agent, CeilingNotes) ?? { neared: {}, unpriced: [] }
  if (notes.unpriced.includes(model)) return
  world.set(agent, CeilingNotes, { ...notes, unpriced: [...notes.unpriced, model] })
  emit(world, 'cost-unknown', { agent, model })
}

/** Latches an agent that has reached a ceiling. The cost-ceiling system does the rest, in this tick or the next. */
export function tripIfReached(world: World, agent: Entity, ceilings = world.get(agent, Ceilings)): void {
  if (ceilings === undefined || world.has(agent, CostCeiling)) return
  const reached = ceilingReached(ceilings, spendingOf(world, agent))
  if (reached === undefined) return
  world.add(agent, CostCeiling({ ...reached, atMs: world.nowMs }))
  const latched = latchOf(world, agent)
  if (latched !== undefined) emit(world, 'turn-error', { agent, ...latched, retryable: false })
  world.requestTick()
}
