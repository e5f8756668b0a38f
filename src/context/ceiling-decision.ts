import type { CeilingsData } from '../../components/ceilings.ts'
import { toNanoUsd, toUsd } from './usd.ts'

export type Bound = 'turn' | 'session'

/** What an agent has spent, in billionths of a US dollar. */
export interface Spent {
  readonly sessionNanoUsd: number
  /** Absent: no turn is open, and the next one starts at zero. */
  readonly turnNanoUsd?: number | undefined
}

/** A bound of an agent's spending that is set and applies now. */
interface Limit {
  readonly bound: Bound
  readonly limitUsd: number
  readonly spentNanoUsd: number
}

/** A bound that has been reached. */
export interface Reached {
  readonly bound: Bound
  readonly limitUsd: number
  readonly spentUsd: number
}

/** The bound that an agent's spending has reached, the turn's before the session's: to spend all of it is to reach it. */
export function ceilingReached(ceilings: CeilingsData, spent: Spent): Reached | undefined {
  const reached = limitsOf(ceilings, spent).find(({ limitUsd, spentNanoUsd }) => spentNanoUsd >= toNanoUsd(limitUsd))
  if (reached === undefined) return undefined
  const { bound, limitUsd, spentNanoUsd } = reached
  return { bound, limitUsd, spentUsd: toUsd(spentNanoUsd) }
}

/** The bounds that an agent's spending would pass if all that is held did come to be spent. */
export function boundsPassed(ceilings: CeilingsData, spent: Spent, heldNanoUsd: number): readonly Reached[] {
  return limitsOf(ceilings, spent)
    .filter(({ limitUsd, spentNanoUsd }) => spentNanoUsd + heldNanoUsd > toNanoUsd(limitUsd))
    .map(({ bound, limitUsd, spentNanoUsd }) => ({ bound, limitUsd, spentUsd: toUsd(spentNanoUsd) }))
}

/** What an agent may still give away, in billionths of a US dollar; `undefined`: no ceiling is set. */
export function leftUnder(ceilings: CeilingsData, spent: Spent, heldNanoUsd: number): number | undefined {
  const left = limitsOf(ceilings, spent).map(
    ({ limitUsd, spentNanoUsd }) => toNanoUsd(limitUsd) - spentNanoUsd - heldNanoUsd,
  )
  return left.length === 0 ? undefined : Math.max(0, Math.min(...left))
}

function limitsOf(
  { maxSessionCostUsd, maxTurnCostUsd }: CeilingsData,
  { sessionNanoUsd, turnNanoUsd }: Spent,
): readonly Limit[] {
  const limits: Limit[] = []
  if (maxTurnCostUsd !== undefined && turnNanoUsd !== undefined) {
    limits.push({ bound: 'turn', limitUsd: maxTurnCostUsd, spentNanoUsd: turnNanoUsd })
  }
  if (maxSessionCostUsd !== undefined) {
    limits.push({ bound: 'session', limitUsd: maxSessionCostUsd, spentNanoUsd: sessionNanoUsd })
  }
  return limits
}
