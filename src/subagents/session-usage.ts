import { Delegated } from '../../components/delegation-limits.ts'
import type { SessionUsage } from '../../components/subagent-session.ts'
import { ownUsage } from '../context/own-usage.ts'
import { subtasksSpent } from '../context/subtasks-spent.ts'
import { nothingDelegated, tokensOf } from './grants.ts'
import type { Entity } from '../world/component.ts'
import type { World } from '../world/world.ts'

/** What an agent has used, and its subtasks, and its sessions: those that have ended, and those that run. */
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
  for (const { usage } of live) {
    tokens += tokensOf(usage) + (usage.delegatedTokens ?? 0)
    sessions += usage.sessions
    cost += usage.costNanoUsd ?? 0
    isPriced ||= usage.costNanoUsd !== undefined
  }
  return {
    ...own,
    ...(isPriced && { costNanoUsd: cost }),
    ...(tokens > 0 && { delegatedTokens: tokens }),
    sessions,
  }
}
