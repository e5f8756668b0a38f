import { Ledger } from '../../../components/money/ledger.ts'
import { Usage } from '../../../components/money/usage.ts'
import type { SubtaskSpending } from '../../protocol/usage.ts'
import type { Entity } from '../../world/component.ts'
import type { World } from '../../world/world.ts'
import { withAdded } from '../tokens/with-added.ts'

/** What no call has used. */
export const nothingSpent: SubtaskSpending = { calls: 0 }

/** What the agent of a subtask has spent so far: as its ledger has it, or, without one, what its model calls have reported. */
export function subtaskSpending(world: World, agent: Entity): SubtaskSpending {
  const rows = Object.values(world.get(agent, Ledger)?.models ?? {})
  if (rows.length === 0) return world.get(agent, Usage) ?? nothingSpent
  const { unpriced: _, ...spent } = rows.reduce((sum, row) => withAdded(sum, row))
  return spent
}
