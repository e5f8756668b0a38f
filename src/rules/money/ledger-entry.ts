import type { LedgerData, LedgerRow } from '../../../components/money/ledger.ts'
import type { CallUsage, SessionUsage, TokenUsage } from '../../protocol/usage.ts'
import { assign } from '../../world/canonical.ts'
import type { Json } from '../../base/json.ts'
import { growthOf, knownCost, unknownCosts, withAdded } from '../tokens/token-counts.ts'

/** Use of settled calls of one model. */
export interface Spent {
  /** Absent: their cost is unknown. */
  readonly costNanoUsd?: number | undefined
  /** Calls whose cost is unknown and not in the sum. @default none with `costNanoUsd`, else all: the model has no price */
  readonly costUnknown?: number | undefined
  /** @default 1 */
  readonly calls?: number
  /** Token counts are estimates, and so is the cost: the provider reported none. @default false */
  readonly isEstimated?: boolean
  /** They count for the agent's life alone, since the requesting turn is over. @default false */
  readonly isLate?: boolean
  /** `provider/model`. */
  readonly model: string
  readonly usage: TokenUsage
}

export const emptyLedger: LedgerData = { models: {}, sessionNanoUsd: 0, turnNanoUsd: 0 }

/** A new ledger with calls added. */
export function entered(
  { models, sessionNanoUsd, turnNanoUsd, turnUnknown = 0 }: LedgerData = emptyLedger,
  spent: Spent,
  isLate = spent.isLate === true,
): LedgerData {
  const { costNanoUsd = 0, model } = spent
  const row = Object.hasOwn(models, model) ? models[model] : undefined
  const unknown = turnUnknown + (isLate ? 0 : unknownIn(spent))
  return {
    models: withRow(models, model, withCalls(row, spent)),
    sessionNanoUsd: sessionNanoUsd + costNanoUsd,
    turnNanoUsd: turnNanoUsd + (isLate ? 0 : costNanoUsd),
    ...(unknown > 0 && { turnUnknown: unknown }),
  }
}

/** The ledger of an agent that was saved without one: its own calls, under its model. */
export function ledgerFrom(model: string, used: CallUsage | undefined, ofTurn: CallUsage | undefined): LedgerData {
  if (used === undefined) return emptyLedger
  const turnUnknown = unknownCosts(ofTurn ?? {})
  return {
    models: { [model]: withAdded<LedgerRow>({ calls: 0 }, used) },
    sessionNanoUsd: used.costNanoUsd ?? 0,
    turnNanoUsd: ofTurn?.costNanoUsd ?? 0,
    ...(turnUnknown > 0 && { turnUnknown }),
  }
}

/** What a turn has cost, in billionths of a US dollar; `undefined`: the cost of a call of it is unknown. */
export function turnCost(ledger: LedgerData | undefined, own: CallUsage | undefined): number | undefined {
  // An agent that was saved without a ledger has made only own calls.
  if (ledger === undefined) return knownCost(own ?? {})
  return (ledger.turnUnknown ?? 0) > 0 ? undefined : ledger.turnNanoUsd
}

/** Calls of a model that are in no sum. */
export function unknownInRow(row: LedgerRow): number {
  // Rows saved before they had `costUnknown` have only those without a price.
  return Math.max(unknownCosts(row), row.unpriced ?? 0)
}

function unknownIn({ calls = 1, costNanoUsd, costUnknown, isEstimated }: Spent): number {
  return isEstimated === true ? calls : unknownCosts({ calls, costNanoUsd, costUnknown })
}

/** By name, as in a component. */
function withRow(models: LedgerData['models'], model: string, row: LedgerRow): LedgerData['models'] {
  const known = Object.keys(models)
  const names = Object.hasOwn(models, model) ? known : [...known, model].sort()
  const rows: Record<string, LedgerRow & Json> = {}
  for (const name of names) assign(rows, name, (name === model ? row : models[name]) as LedgerRow & Json)
  return rows
}

/**
 * What is new in a session's reported total, as calls of its model; `undefined` if nothing. After a crash a session may
 * report less than before: then nothing is new.
 */
export function newlySpent(
  before: SessionUsage | undefined,
  now: SessionUsage,
): Omit<Spent, 'isLate' | 'model'> | undefined {
  const { calls, costNanoUsd, costUnknown, delegatedTokens: _, sessions: __, ...usage } = growthOf(before, now)
  const amounts = [costNanoUsd, costUnknown, ...Object.values(usage)]
  if (calls === 0 && amounts.every((amount) => (amount ?? 0) === 0)) return undefined
  return {
    calls,
    ...(costNanoUsd !== undefined && { costNanoUsd }),
    ...(costUnknown !== undefined && { costUnknown }),
    usage,
  }
}

function withCalls(
  row: LedgerRow = { calls: 0 },
  { calls = 1, costNanoUsd, costUnknown, isEstimated = false, usage }: Spent,
): LedgerRow {
  const counted = calls > 0 ? calls : undefined
  const isUnpriced = costNanoUsd === undefined && costUnknown === undefined && !isEstimated
  const { cacheRead, cacheWrite, cacheWrite1h, input, output } = usage
  return withAdded(row, {
    cacheRead,
    cacheWrite,
    cacheWrite1h,
    calls,
    costNanoUsd,
    costUnknown,
    estimated: isEstimated ? counted : undefined,
    input,
    output,
    unpriced: isUnpriced ? counted : undefined,
  })
}
