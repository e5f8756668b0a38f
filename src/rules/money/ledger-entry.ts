import type { LedgerData, LedgerRow } from '../../../components/money/ledger.ts'
import type { SessionUsage, TokenUsage } from '../../protocol/usage.ts'
import { assign } from '../../world/canonical.ts'
import type { Json } from '../../world/json.ts'
import { growthOf, withAdded } from '../tokens/token-counts.ts'

/** Use of settled calls of one model. */
export interface Spent {
  /** Absent: it has no price. */
  readonly costNanoUsd?: number | undefined
  /** @default 1 */
  readonly calls?: number
  /** Token counts are estimates: the provider reported none. @default false */
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
  { models, sessionNanoUsd, turnNanoUsd }: LedgerData = emptyLedger,
  spent: Spent,
  isLate = spent.isLate === true,
): LedgerData {
  const { costNanoUsd = 0, model } = spent
  const row = Object.hasOwn(models, model) ? models[model] : undefined
  return {
    models: withRow(models, model, withCalls(row, spent)),
    sessionNanoUsd: sessionNanoUsd + costNanoUsd,
    turnNanoUsd: turnNanoUsd + (isLate ? 0 : costNanoUsd),
  }
}

function withRow(models: LedgerData['models'], model: string, row: LedgerRow): LedgerData['models'] {
  const rows: Record<string, LedgerRow & Json> = {}
  const made = row as LedgerRow & Json
  for (const name in models) assign(rows, name, name === model ? made : (models[name] as Json))
  if (!Object.hasOwn(rows, model)) assign(rows, model, made)
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
  const { calls, costNanoUsd, delegatedTokens: _, sessions: __, ...usage } = growthOf(before, now)
  const isNothing = calls === 0 && [costNanoUsd, ...Object.values(usage)].every((amount) => (amount ?? 0) === 0)
  return isNothing ? undefined : { calls, ...(costNanoUsd !== undefined && { costNanoUsd }), usage }
}

function withCalls(
  row: LedgerRow = { calls: 0 },
  { calls = 1, costNanoUsd, isEstimated = false, usage }: Spent,
): LedgerRow {
  const counted = calls > 0 ? calls : undefined
  const { cacheRead, cacheWrite, cacheWrite1h, input, output } = usage
  return withAdded(row, {
    cacheRead,
    cacheWrite,
    cacheWrite1h,
    calls,
    costNanoUsd,
    estimated: isEstimated ? counted : undefined,
    input,
    output,
    unpriced: costNanoUsd === undefined ? counted : undefined,
  })
}
