import { Ceilings, type CeilingsData } from '../../components/ceilings.ts'
import { Context } from '../../components/context.ts'
import { Metered, OnAllowance } from '../../components/metered.ts'
import type { Entity } from '../world/component.ts'
import type { World } from '../world/world.ts'

/** The agent that keeps account of what a subtask of its spends. */
export interface Payer {
  /** Under which it spends; absent: none. */
  readonly ceilings: CeilingsData | undefined
}

/** What is to be known of an agent for its subtasks; nothing: it keeps no account. */
export function payerOf(world: World, agent: Entity): Payer | undefined {
  const ceilings = world.get(agent, Ceilings)
  return ceilings !== undefined || world.has(agent, Context) ? { ceilings } : undefined
}

/** Has the agent of a subtask keep account of what it spends, and ask before each call if its payer has ceilings. */
export function payFor(world: World, agent: Entity, { ceilings }: Payer): void {
  world.add(agent, Metered)
  if (ceilings === undefined) return
  world.add(agent, OnAllowance)
  // Bounds are the payer's; what models cost is asked, as under any ceiling.
  world.add(agent, Ceilings({ onUnpriced: ceilings.onUnpriced }))
}
