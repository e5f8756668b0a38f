import { Ceilings } from '../components/ceilings.ts'
import { Context } from '../components/context.ts'
import { Ledger } from '../components/ledger.ts'
import type { TokenUsage } from '../components/usage.ts'
import { entered } from '../src/context/ledger-entry.ts'
import type { Entity } from '../src/world/component.ts'
import type { World } from '../src/world/world.ts'

/** A call of a model that is settled, and what it has used. */
export interface Charge {
  /** Absent: it has no price. */
  readonly costNanoUsd?: number | undefined
  /** @default 1 */
  readonly calls?: number
  /** Its tokens are estimates, since the provider said nothing. */
  readonly isEstimated?: boolean
  /** It counts for the agent's life alone: the turn that asked for it is over. */
  readonly isLate?: boolean
  /** `provider/model`. */
  readonly model: string
  readonly usage: TokenUsage
}

/** Enters what was spent in an agent's ledger, once. Agents without `Context` and `Ceilings` keep none. */
export function charge(world: World, agent: Entity, spent: Charge): void {
  if (!world.has(agent, Context) && !world.has(agent, Ceilings)) return
  world.set(agent, Ledger, entered(world.get(agent, Ledger), spent))
}
