import { Pending } from '../../../components/effects/effect.ts'
import { SessionQuery } from '../../../components/sessions/session-call.ts'
import type { Entity } from '../../world/component.ts'
import type { World } from '../../world/world.ts'
import { defaultDelegation, type DelegationLimitsData, type GrantLimits } from '../../protocol/delegation.ts'
import type { DelegatedData } from '../../../components/sessions/delegation-limits.ts'
import type { SessionUsage, TokenUsage } from '../../protocol/usage.ts'
import { unknownCosts } from '../tokens/token-counts.ts'
import { toNanoUsd, toUsd } from '../money/usd.ts'

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

/** Part of a budget. Absent: unlimited. */
export interface Allowance {
  readonly sessions: number
  readonly tokens?: number
  readonly costNanoUsd?: number
}

/** What a session's agent has used itself. */
export interface OwnUse {
  readonly tokens: number
  readonly costNanoUsd: number
}

const nothingUsed: OwnUse = { tokens: 0, costNanoUsd: 0 }

/** What an agent may still delegate. */
export function leftOf(
  limits: DelegationLimitsData | undefined,
  delegated: DelegatedData,
  own: OwnUse = nothingUsed,
): Allowance {
  const { sessions = defaultDelegation.sessions, tokens, costUsd } = limits ?? {}
  const used = usedOf(delegated, own)
  return {
    sessions: atLeastNone(sessions - used.sessions),
    ...(tokens !== undefined && { tokens: atLeastNone(tokens - used.tokens) }),
    ...(costUsd !== undefined && { costNanoUsd: atLeastNone(toNanoUsd(costUsd) - used.costNanoUsd) }),
  }
}

/** The limits of an agent that may spend a grant on top of what it has spent. */
export function limitsWith(grant: GrantLimits, delegated: DelegatedData, own: OwnUse): GrantLimits {
  const used = usedOf(delegated, own)
  const { costUsd, sessions = 0 } = grant
  return {
    ...(costUsd !== undefined && { costUsd: toUsd(used.costNanoUsd + toNanoUsd(costUsd)) }),
    sessions: used.sessions + sessions,
  }
}

function usedOf(delegated: DelegatedData, own: OwnUse): Required<Allowance> {
  const { launched, launchedBefore = 0, reservedSessions, spentSessions } = delegated
  return {
    costNanoUsd: own.costNanoUsd + delegated.reservedCostNanoUsd + delegated.spentCostNanoUsd,
    sessions: launched - launchedBefore + reservedSessions + spentSessions,
    tokens: own.tokens + delegated.reservedTokens + delegated.spentTokens,
  }
}

/** What is used up, so that nothing can be launched, if anything. */
export function exhausted({ sessions, tokens, costNanoUsd }: Allowance, depth: number): string | undefined {
  if (depth <= 0) return 'depth'
  if (sessions <= 0) return 'sessions'
  if (tokens !== undefined && tokens <= 0) return 'tokens'
  return costNanoUsd !== undefined && costNanoUsd <= 0 ? 'cost' : undefined
}

/** What a config asks for. */
export interface Wanted {
  readonly sessions?: number | undefined
  readonly tokens?: number | undefined
  readonly costUsd?: number | undefined
}

/**
 * A session's grant: what its config names, else a quarter of what is left; no sessions if it cannot delegate.
 * @returns the name of what is insufficient, if anything is
 */
export function grantOf(left: Allowance, wanted: Wanted | undefined, canDelegate: boolean): Allowance | string {
  const sessions = canDelegate ? (wanted?.sessions ?? quarter(left.sessions)) : 0
  if (sessions > left.sessions) return 'sessions'
  const tokens = share(left.tokens, wanted?.tokens)
  if (tokens === 'short') return 'tokens'
  const costNanoUsd = share(left.costNanoUsd, wanted?.costUsd === undefined ? undefined : toNanoUsd(wanted.costUsd))
  if (costNanoUsd === 'short') return 'cost'
  return { sessions, ...(tokens !== undefined && { tokens }), ...(costNanoUsd !== undefined && { costNanoUsd }) }
}

/** A question's minimum: it buys one call, as an agent's own call may start however little is left. */
const leastNanoUsd = 1

/**
 * A session's grant for a question: a quarter of the asker's sessions and money. Tokens are not granted: it has to read
 * its own history again.
 */
export function questionGrant({ sessions, costNanoUsd }: Allowance): Allowance {
  if (costNanoUsd === undefined) return { sessions: quarter(sessions) }
  return { sessions: quarter(sessions), costNanoUsd: Math.max(leastNanoUsd, quarter(costNanoUsd)) }
}

/** A grant as records and inputs hold it. */
export function grantData({ sessions, tokens, costNanoUsd }: Allowance): GrantLimits {
  return {
    ...(costNanoUsd !== undefined && { costUsd: toUsd(costNanoUsd) }),
    sessions,
    ...(tokens !== undefined && { tokens }),
  }
}

/** What a session would get none of, so that it could make no model call. */
export function emptyShare(left: Allowance, wanted: Wanted | undefined): 'tokens' | 'cost' | undefined {
  const { tokens = quarterOf(left.tokens), costUsd } = wanted ?? {}
  if (tokens === 0) return 'tokens'
  return (costUsd === undefined ? quarterOf(left.costNanoUsd) : toNanoUsd(costUsd)) === 0 ? 'cost' : undefined
}

/** A part of a budget; `short` if nothing or less than wanted is left. */
function share(left: number | undefined, wanted: number | undefined): number | 'short' | undefined {
  if (left === undefined) return wanted
  if (left <= 0 || (wanted !== undefined && wanted > left)) return 'short'
  return wanted ?? quarter(left)
}

/** All tokens used. Unknown counts add nothing. */
export function tokensOf({ input = 0, cacheRead = 0, cacheWrite = 0, output = 0 }: TokenUsage): number {
  return input + cacheRead + cacheWrite + output
}

/** A session's use, as its parent counts it. */
export function spentBy(usage: SessionUsage | undefined): { tokens: number; costNanoUsd: number; sessions: number } {
  if (usage === undefined) return { tokens: 0, costNanoUsd: 0, sessions: 0 }
  return {
    tokens: tokensOf(usage) + (usage.delegatedTokens ?? 0),
    costNanoUsd: usage.costNanoUsd ?? 0,
    sessions: usage.sessions,
  }
}

/** Adds what a session has used to what is spent. */
export function withSpent(delegated: DelegatedData, usage: SessionUsage): DelegatedData {
  const spent = spentBy(usage)
  const unknown = (delegated.unknownCosts ?? 0) + unknownCosts(usage)
  return {
    ...delegated,
    spentCostNanoUsd: delegated.spentCostNanoUsd + spent.costNanoUsd,
    spentSessions: delegated.spentSessions + spent.sessions,
    spentTokens: delegated.spentTokens + spent.tokens,
    ...(unknown > 0 && { unknownCosts: unknown }),
  }
}

/** What is left behind a grant. */
export function withoutGrant(left: Allowance, grant: Allowance): Allowance {
  const { costNanoUsd, sessions, tokens } = left
  return {
    sessions: sessions - grant.sessions,
    ...(tokens !== undefined && { tokens: tokens - (grant.tokens ?? 0) }),
    ...(costNanoUsd !== undefined && { costNanoUsd: costNanoUsd - (grant.costNanoUsd ?? 0) }),
  }
}

/** As if all that is reserved had come back unspent. */
export function unreserved(delegated: DelegatedData): DelegatedData {
  return { ...delegated, reservedCostNanoUsd: 0, reservedSessions: 0, reservedTokens: 0 }
}

/** Adds a session's grant to the reserved budget. */
export function reserved(delegated: DelegatedData, { costUsd = 0, sessions = 0, tokens = 0 }: Wanted): DelegatedData {
  return {
    ...delegated,
    reservedCostNanoUsd: delegated.reservedCostNanoUsd + toNanoUsd(costUsd),
    reservedSessions: delegated.reservedSessions + sessions,
    reservedTokens: delegated.reservedTokens + tokens,
  }
}

/** Moves a session's grant from reserved to spent, as far as it was used. */
export function returned(delegated: DelegatedData, grant: Wanted | undefined, usage: SessionUsage): DelegatedData {
  if (grant === undefined) return delegated
  return {
    ...withSpent(delegated, usage),
    reservedCostNanoUsd: delegated.reservedCostNanoUsd - toNanoUsd(grant.costUsd ?? 0),
    reservedSessions: delegated.reservedSessions - (grant.sessions ?? 0),
    reservedTokens: delegated.reservedTokens - (grant.tokens ?? 0),
  }
}

function quarterOf(amount: number | undefined): number | undefined {
  return amount === undefined ? undefined : quarter(amount)
}

function quarter(amount: number): number {
  return Math.floor(amount / 4)
}

function atLeastNone(amount: number): number {
  return Math.max(0, amount)
}

/** The grants of an agent's running queries. */
export function questionGrants(world: World, agent: Entity): readonly GrantLimits[] {
  return world.query(SessionQuery, Pending).flatMap((query) => {
    const asked = world.read(query, SessionQuery)
    return asked.agent === agent && asked.grant !== undefined ? [asked.grant] : []
  })
}
