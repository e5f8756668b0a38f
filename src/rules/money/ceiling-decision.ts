import type { CeilingsData } from '../../../components/money/ceilings.ts'
import { formatUsd, toNanoUsd, toUsd } from './usd.ts'

export type Bound = 'turn' | 'session'

/** What an agent has spent, in billionths of a US dollar. */
export interface Spending {
  readonly sessionNanoUsd: number
  /** Absent: no turn is open, and the next starts at zero. */
  readonly turnNanoUsd?: number | undefined
}

/** A ceiling that was reached. */
export interface Reached {
  readonly bound: Bound
  readonly limitUsd: number
  readonly spentUsd: number
}

/** The ceiling that spending has reached, the turn's before the session's. Spending all of it reaches it. */
export function ceilingReached(ceilings: CeilingsData, spent: Spending): Reached | undefined {
  if (leastLeft(ceilings, spent) > 0) return undefined
  const turn = turnLeft(ceilings, spent)
  return turn <= 0 ? turnBound(ceilings, spent) : sessionBound(ceilings, spent)
}

/** The ceilings that spending would exceed if everything reserved were spent. */
export function boundsPassed(ceilings: CeilingsData, spent: Spending, reservedNanoUsd: number): readonly Reached[] {
  const passed: Reached[] = []
  if (turnLeft(ceilings, spent) < reservedNanoUsd) passed.push(turnBound(ceilings, spent))
  if (sessionLeft(ceilings, spent) < reservedNanoUsd) passed.push(sessionBound(ceilings, spent))
  return passed
}

/** What an agent may still grant, in billionths of a US dollar; `undefined`: no ceiling is set. */
export function leftUnder(ceilings: CeilingsData, spent: Spending, reservedNanoUsd: number): number | undefined {
  const left = leastLeft(ceilings, spent)
  return left === Infinity ? undefined : Math.max(0, left - reservedNanoUsd)
}

/** What an agent may still spend, in billionths of a US dollar; without a ceiling, `Infinity`. */
export function leastLeft(ceilings: CeilingsData, spent: Spending): number {
  return Math.min(turnLeft(ceilings, spent), sessionLeft(ceilings, spent))
}

function turnLeft({ maxTurnCostUsd }: CeilingsData, { turnNanoUsd }: Spending): number {
  return maxTurnCostUsd === undefined || turnNanoUsd === undefined ? Infinity : boundOf(maxTurnCostUsd) - turnNanoUsd
}

function sessionLeft({ maxSessionCostUsd }: CeilingsData, { sessionNanoUsd }: Spending): number {
  return maxSessionCostUsd === undefined ? Infinity : boundOf(maxSessionCostUsd) - sessionNanoUsd
}

/** At least 1: an agent that has spent nothing has reached no ceiling. */
function boundOf(limitUsd: number): number {
  return Math.max(1, toNanoUsd(limitUsd))
}

function turnBound({ maxTurnCostUsd = 0 }: CeilingsData, { turnNanoUsd = 0 }: Spending): Reached {
  return { bound: 'turn', limitUsd: maxTurnCostUsd, spentUsd: toUsd(turnNanoUsd) }
}

function sessionBound({ maxSessionCostUsd = 0 }: CeilingsData, { sessionNanoUsd }: Spending): Reached {
  return { bound: 'session', limitUsd: maxSessionCostUsd, spentUsd: toUsd(sessionNanoUsd) }
}

/** A reached ceiling, amounts with four decimals. */
export function ceilingMessage({
  bound,
  limitUsd,
  spentUsd,
}: {
  readonly bound: 'turn' | 'session'
  readonly limitUsd: number
  readonly spentUsd: number
}): string {
  return `cost ceiling: this ${bound} has spent ${usd(spentUsd)} of ${usd(limitUsd)}.`
}

function usd(amount: number): string {
  return formatUsd(toNanoUsd(amount))
}
