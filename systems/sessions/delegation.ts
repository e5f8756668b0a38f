import { Ancestry } from '../../components/ancestry.ts'
import {
  defaultDelegation,
  Delegated,
  type DelegatedData,
  DelegationLimits,
} from '../../components/delegation-limits.ts'
import { Usage } from '../../components/usage.ts'
import { type Allowance, leftOf, nothingDelegated, tokensOf } from '../../src/subagents/grants.ts'
import type { Entity } from '../../src/world/component.ts'
import type { World } from '../../src/world/world.ts'

/** What an agent has delegated so far. */
export function delegatedBy(world: World, agent: Entity): DelegatedData {
  return world.get(agent, Delegated) ?? nothingDelegated
}

/** Levels of sessions that an agent may have below it. */
export function depthLeft(world: World, agent: Entity): number {
  return world.get(agent, DelegationLimits)?.depth ?? defaultDelegation.depth
}

/** What an agent may still delegate. In a session its own use counts as well. */
export function leftToDelegate(world: World, agent: Entity): Allowance {
  const limits = world.get(agent, DelegationLimits)
  return leftOf(limits, delegatedBy(world, agent), world.has(agent, Ancestry) ? ownUse(world, agent) : undefined)
}

function ownUse(world: World, agent: Entity): { tokens: number; costNanoUsd: number } {
  const usage = world.get(agent, Usage)
  return usage === undefined
    ? { tokens: 0, costNanoUsd: 0 }
    : { tokens: tokensOf(usage), costNanoUsd: usage.costNanoUsd ?? 0 }
}
