import { Ancestry } from '../../../components/sessions/ancestry.ts'
import { defaultDelegation, type DelegationLimitsData, type GrantLimits } from '../../protocol/delegation.ts'
import { Delegated, type DelegatedData } from '../../../components/sessions/delegation-limits.ts'
import { SessionQuery } from '../../../components/sessions/session-call.ts'
import { Pending } from '../../../components/effects/effect.ts'
import type { SessionUsage, TokenUsage } from '../../protocol/usage.ts'
import { SubtaskAccount, SubtaskCount } from '../../../components/sessions/subtask.ts'
import { Usage, UsageBeside } from '../../../components/money/usage.ts'
import type { Entity } from '../../world/component.ts'
import type { World } from '../../world/world.ts'

/** An amount of each granted good; cost in billionths of a US dollar. `Infinity`: no limit. */
export interface Amount {
  sessions: number
  tokens: number
  cost: number
}

export const goods: readonly (keyof Amount)[] = ['sessions', 'tokens', 'cost']

const nanoUsd = 1_000_000_000
/** Costs are capped at four million US dollars, as in the rules. */
const maxCost = 4_000_000 * nanoUsd

export function nothing(): Amount {
  return { sessions: 0, tokens: 0, cost: 0 }
}

export function add(to: Amount, more: Amount): void {
  for (const good of goods) to[good] += more[good]
}

export function costOf(usd: number): number {
  return Math.min(maxCost, Math.round(usd * nanoUsd))
}

export function amountOf({ sessions = 0, tokens = 0, costUsd = 0 }: GrantLimits): Amount {
  return { sessions, tokens, cost: costOf(costUsd) }
}

export function limitsOf(limits: DelegationLimitsData | undefined): Amount {
  const { sessions = defaultDelegation.sessions, tokens = Infinity, costUsd } = limits ?? {}
  return { sessions, tokens, cost: costUsd === undefined ? Infinity : costOf(costUsd) }
}

export function usedBySession(usage: SessionUsage | undefined): Amount {
  if (usage === undefined) return nothing()
  const tokens = tokensOf(usage) + (usage.delegatedTokens ?? 0)
  return { sessions: usage.sessions, tokens, cost: usage.costNanoUsd ?? 0 }
}

export const nothingDelegated: DelegatedData = {
  finished: 0,
  launched: 0,
  reservedCostNanoUsd: 0,
  reservedSessions: 0,
  reservedTokens: 0,
  spentCostNanoUsd: 0,
  spentSessions: 0,
  spentTokens: 0,
}

export function delegatedBy(world: World, agent: Entity): DelegatedData {
  return world.get(agent, Delegated) ?? nothingDelegated
}

export function reservedBy({ reservedSessions, reservedTokens, reservedCostNanoUsd }: DelegatedData): Amount {
  return { sessions: reservedSessions, tokens: reservedTokens, cost: reservedCostNanoUsd }
}

export function spentOf({ spentSessions, spentTokens, spentCostNanoUsd }: DelegatedData): Amount {
  return { sessions: spentSessions, tokens: spentTokens, cost: spentCostNanoUsd }
}

/** Reserved, spent, launched, and used by the agent itself. */
export function usedOf(delegated: DelegatedData, own: Amount): Amount {
  const used = spentOf(delegated)
  add(used, reservedBy(delegated))
  add(used, own)
  used.sessions += delegated.launched - (delegated.launchedBefore ?? 0)
  return used
}

/** What the replies to an agent's steps used. It counts only in sessions. */
export function stepsUse(world: World, agent: Entity): Amount {
  return world.has(agent, Ancestry) ? useOf(world.get(agent, Usage) ?? {}) : nothing()
}

/** What the agent of a session used itself: steps, side calls and subtasks. */
export function ownUse(world: World, agent: Entity): Amount {
  const own = stepsUse(world, agent)
  if (!world.has(agent, Ancestry)) return own
  add(own, useOf(world.get(agent, UsageBeside) ?? {}))
  const { costNanoUsd: cost = 0, inputTokens = 0, outputTokens = 0 } = world.get(agent, SubtaskCount) ?? {}
  add(own, { sessions: 0, tokens: inputTokens + outputTokens, cost })
  for (const account of world.referrers(SubtaskAccount, agent))
    add(own, useOf(world.read(account, SubtaskAccount).spent))
  return own
}

export function askedWith(world: World, agent: Entity): Amount {
  const aside = nothing()
  for (const query of world.entitiesWith(SessionQuery)) {
    const { agent: asker, grant } = world.read(query, SessionQuery)
    if (asker === agent && grant !== undefined && world.has(query, Pending)) add(aside, amountOf(grant))
  }
  return aside
}

function useOf(usage: TokenUsage & { readonly costNanoUsd?: number | undefined }): Amount {
  return { sessions: 0, tokens: tokensOf(usage), cost: usage.costNanoUsd ?? 0 }
}

function tokensOf({ input = 0, cacheRead = 0, cacheWrite = 0, output = 0 }: TokenUsage): number {
  return input + cacheRead + cacheWrite + output
}
