import { type CallUsage, Usage } from '../../components/usage.ts'
import { UsageBeside } from '../../components/usage-beside.ts'
import type { Entity } from '../world/component.ts'
import type { World } from '../world/world.ts'
import { added } from './ledger-entry.ts'

/** What an agent's own calls have used, steps and others; a count that no call reported is absent. */
export function ownUsage(world: World, agent: Entity): CallUsage {
  const steps = world.get(agent, Usage) ?? { calls: 0 }
  const beside = world.get(agent, UsageBeside)
  return beside === undefined ? steps : sum(steps, beside)
}

/** What calls have used, and others. What is not known adds nothing. */
export function sum(one: CallUsage, other: CallUsage): CallUsage {
  return {
    cacheRead: added(one.cacheRead, other.cacheRead),
    cacheWrite: added(one.cacheWrite, other.cacheWrite),
    cacheWrite1h: added(one.cacheWrite1h, other.cacheWrite1h),
    calls: one.calls + other.calls,
    costNanoUsd: added(one.costNanoUsd, other.costNanoUsd),
    input: added(one.input, other.input),
    output: added(one.output, other.output),
  }
}
