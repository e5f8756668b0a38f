import { Ceilings, type CeilingsData } from '../../components/ceilings.ts'
import { Context } from '../../components/context.ts'
import { Metered, OnAllowance } from '../../components/metered.ts'
import type { Entity } from '../world/component.ts'
import type { World } from '../world/world.ts'

/** The agent whose budget a subtask spends from. */
export interface BudgetOwner {
  /** Under which it spends; absent: none. */
  readonly ceilings: CeilingsData | undefined
}

/** What has to be known of an agent for its subtasks; `undefined`: it keeps no account. */
export function budgetOwnerOf(world: World, agent: Entity): BudgetOwner | undefined {
  const ceilings = world.get(agent, Ceilings)
  return ceilings !== undefined || world.has(agent, Context) ? { ceilings } : undefined
}

/** Has the agent of a subtask keep account of what it spends, and ask before each call if its budget's owner has ceilings. */
export function spendFor(world: World, agent: Entity, { ceilings }: BudgetOwner): void {
  world.add(agent, Metered)
  if (ceilings === undefined) return
  world.add(agent, OnAllowance)
  // Bounds are the owner's; what models cost is asked, as under any ceiling.
  world.add(agent, Ceilings({ onUnpriced: ceilings.onUnpriced }))
}
