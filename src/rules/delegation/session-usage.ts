import { Delegated } from '../../../components/sessions/delegation-limits.ts'
import type { CallUsage, SessionUsage } from '../../protocol/usage.ts'
import { SubtaskAccount, SubtaskCount } from '../../../components/sessions/subtask.ts'
import { Usage, UsageBeside } from '../../../components/money/usage.ts'
import { added, promptTokensOf, unknownCosts, withAdded } from '../tokens/token-counts.ts'
import { nothingDelegated, tokensOf } from './grants.ts'
import type { Entity } from '../../world/component.ts'
import type { World } from '../../world/world.ts'

/** What an agent used, with its subtasks and its sessions, ended and running. */
export function usageOf(world: World, agent: Entity, live: Iterable<{ readonly usage: SessionUsage }>): SessionUsage {
  const own = ownUsage(world, agent)
  const delegated = world.get(agent, Delegated) ?? nothingDelegated
  const { launched, launchedBefore = 0, spentTokens, spentCostNanoUsd, spentSessions } = delegated
  let tokens = spentTokens
  let sessions = launched - launchedBefore + spentSessions
  let cost = own.costNanoUsd ?? 0
  let isPriced = own.costNanoUsd !== undefined || spentCostNanoUsd > 0
  cost += spentCostNanoUsd
  const subtasks = subtasksSpent(world, agent)
  tokens += subtasks?.tokens ?? 0
  cost += subtasks?.costNanoUsd ?? 0
  isPriced ||= subtasks?.costNanoUsd !== undefined
  let unknown = unknownCosts(own) + (delegated.unknownCosts ?? 0) + (subtasks?.unknown ?? 0)
  for (const { usage } of live) {
    tokens += tokensOf(usage) + (usage.delegatedTokens ?? 0)
    sessions += usage.sessions
    cost += usage.costNanoUsd ?? 0
    isPriced ||= usage.costNanoUsd !== undefined
    unknown += unknownCosts(usage)
  }
  return {
    ...own,
    ...(isPriced && { costNanoUsd: cost }),
    ...(unknown > 0 && (isPriced || unknown > own.calls) && { costUnknown: unknown }),
    ...(tokens > 0 && { delegatedTokens: tokens }),
    sessions,
  }
}

/** Usage of an agent's own calls; a count that no call reported is absent. */
export function ownUsage(world: World, agent: Entity): CallUsage {
  const steps = world.get(agent, Usage) ?? { calls: 0 }
  const beside = world.get(agent, UsageBeside)
  return beside === undefined ? steps : withAdded(steps, beside)
}

/** Spending of an agent's subtasks, including running ones; `undefined`: it has had none. */
export function subtasksSpent(
  world: World,
  agent: Entity,
): { readonly tokens: number; readonly costNanoUsd?: number | undefined; readonly unknown: number } | undefined {
  const count = world.get(agent, SubtaskCount)
  if (count === undefined) return undefined
  let tokens = count.inputTokens + count.outputTokens
  let { costNanoUsd } = count
  let unknown = count.hasUnpriced === true ? 1 : 0
  for (const account of world.referrers(SubtaskAccount, agent)) {
    const { spent } = world.read(account, SubtaskAccount)
    tokens += (promptTokensOf({ input: 0, ...spent }) ?? 0) + (spent.output ?? 0)
    costNanoUsd = added(costNanoUsd, spent.costNanoUsd)
    unknown += unknownCosts(spent)
  }
  return { tokens, costNanoUsd, unknown }
}
