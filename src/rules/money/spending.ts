import { CostCeiling } from '../../../components/money/ceilings.ts'
import { Delegated } from '../../../components/sessions/delegation-limits.ts'
import { Ledger } from '../../../components/money/ledger.ts'
import { ReportedUsage, SubagentSession } from '../../../components/sessions/subagent-session.ts'
import { Turn } from '../../../components/agent/turn.ts'
import type { Entity } from '../../world/component.ts'
import type { World } from '../../world/world.ts'
import type { Bound, Spending } from './ceiling-decision.ts'
import { emptyLedger, unknownInRow } from './ledger-entry.ts'
import { mostReservedForCalls, reservedForCalls } from './reservation.ts'
import { questionGrants } from '../delegation/grants.ts'
import { toNanoUsd, toUsd } from './usd.ts'

/** An agent's spending, and what is in flight. */
export interface CostStats {
  /** Of the open turn, or the last one, without the calls whose cost is unknown. */
  readonly turnUsd: number
  /** Calls of that turn whose cost is unknown, or estimated in `turnUsd`. */
  readonly turnUnknownCalls: number
  /** Of the agent's life, without the calls whose cost is unknown. */
  readonly sessionUsd: number
  /** What calls and sessions in flight may cost besides, as far as known. */
  readonly reservedUsd: number
  /** Calls that are in no sum, since their model has no price or they were cut: the sums are lower bounds. */
  readonly unknownCalls: number
  /** Those of them whose model has no price. */
  readonly unpricedCalls: number
  readonly estimatedCalls: number
  /** The ceiling that was reached, until it is reset. */
  readonly tripped?: Bound
}

export function costStats(world: World, agent: Entity): CostStats {
  const { models, sessionNanoUsd, turnNanoUsd, turnUnknown = 0 } = world.get(agent, Ledger) ?? emptyLedger
  const tripped = world.get(agent, CostCeiling)?.bound
  let unknownCalls = 0
  let unpricedCalls = 0
  let estimatedCalls = 0
  for (const row of Object.values(models)) {
    unknownCalls += unknownInRow(row)
    unpricedCalls += row.unpriced ?? 0
    estimatedCalls += row.estimated ?? 0
  }
  return {
    turnUsd: toUsd(turnNanoUsd),
    turnUnknownCalls: turnUnknown,
    sessionUsd: toUsd(sessionNanoUsd),
    reservedUsd: toUsd(reservedNanoUsd(world, agent)),
    unknownCalls,
    unpricedCalls,
    estimatedCalls,
    ...(tripped !== undefined && { tripped }),
  }
}

/** An agent's spending, as its ceilings count it. */
export function spendingOf(world: World, agent: Entity): Spending {
  const { sessionNanoUsd, turnNanoUsd } = world.get(agent, Ledger) ?? emptyLedger
  return { sessionNanoUsd, turnNanoUsd: world.has(agent, Turn) ? turnNanoUsd : undefined }
}

/** What an agent's calls in flight may cost, plus what its sessions' grants have left; in billionths of a US dollar. */
export function reservedNanoUsd(world: World, agent: Entity): number {
  return grantedNanoUsd(world, agent) + reservedForCalls(world, agent)
}

/** An upper bound of that, without counting tokens. */
export function mostReservedNanoUsd(world: World, agent: Entity): number {
  return grantedNanoUsd(world, agent) + mostReservedForCalls(world, agent)
}

/** What sessions report as spent is no longer reserved. */
function grantedNanoUsd(world: World, agent: Entity): number {
  let granted = world.get(agent, Delegated)?.reservedCostNanoUsd ?? 0
  for (const { costUsd = 0 } of questionGrants(world, agent)) granted += toNanoUsd(costUsd)
  if (granted === 0) return 0
  for (const session of world.referrers(ReportedUsage, agent)) {
    const { costNanoUsd = 0 } = world.read(session, ReportedUsage).usage
    const { grant } = world.read(session, SubagentSession)
    granted -= Math.min(costNanoUsd, toNanoUsd(grant?.costUsd ?? 0))
  }
  return granted
}
