import { Ceilings } from '../../components/ceilings.ts'
import { CostCeiling } from '../../components/cost-ceiling.ts'
import { ceilingReached } from '../../src/context/ceiling-decision.ts'
import { spendingOf } from '../../src/context/spending.ts'
import type { Entity } from '../../src/world/component.ts'
import type { World } from '../../src/world/world.ts'
import { holdStep } from '../hold-step.ts'
import { latchOf } from '../latched.ts'
import { tell } from '../tell.ts'

/**
 * Stops an agent whose spending has reached a ceiling: looked at when a call settles, and before one begins. What follows
 * from it the cost-ceiling system does, in this tick or the next.
 */
export function tripIfReached(world: World, agent: Entity, ceilings = world.get(agent, Ceilings)): void {
  if (ceilings === undefined || world.has(agent, CostCeiling)) return
  const reached = ceilingReached(ceilings, spendingOf(world, agent))
  if (reached === undefined) return
  world.add(agent, CostCeiling({ ...reached, atMs: world.nowMs }))
  holdStep(world, agent)
  const latched = latchOf(world, agent)
  if (latched !== undefined) tell(world, 'turn-error', { agent, ...latched, retryable: false })
  world.requestTick()
}
