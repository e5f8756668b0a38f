import { Ancestry } from '../../components/ancestry.ts'
import type { Failure } from '../../components/failure.ts'
import type { Entity } from '../../src/world/component.ts'
import type { World } from '../../src/world/world.ts'
import { leftToDelegate } from './delegation.ts'

/** Why the agent of a session may make no further call: it has spent what it was granted. `undefined`: it may. */
export function spentGrant(world: World, agent: Entity): Failure | undefined {
  if (!world.has(agent, Ancestry)) return undefined
  const { tokens, costNanoUsd } = leftToDelegate(world, agent)
  const spent = tokens === 0 ? 'tokens' : costNanoUsd === 0 ? 'cost' : undefined
  return spent && { kind: 'budget-spent', message: `The grant of this session is spent: ${spent}` }
}
