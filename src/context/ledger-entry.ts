import type { LedgerData, LedgerRow } from '../../components/ledger.ts'
import type { TokenUsage } from '../../components/usage.ts'

/** What a settled call has used. */
interface Spent {
  readonly costNanoUsd?: number | undefined
  readonly calls?: number
  readonly isEstimated?: boolean
  readonly isLate?: boolean
  readonly model: string
  readonly usage: TokenUsage
}

export const emptyLedger: LedgerData = { models: {}, sessionNanoUsd: 0, turnNanoUsd: 0 }

/** A ledger with a call more in it. */
export function entered(ledger: LedgerData = emptyLedger, spent: Spent): LedgerData {
  const { costNanoUsd = 0, isLate = false, model } = spent
  return {
    models: { ...ledger.models, [model]: withCall(ledger.models[model], spent) },
    sessionNanoUsd: ledger.sessionNanoUsd + costNanoUsd,
    turnNanoUsd: ledger.turnNanoUsd + (isLate ? 0 : costNanoUsd),
  }
}

function withCall(
  row: LedgerRow = { calls: 0 },
  { calls = 1, costNanoUsd, isEstimated = false, usage }: Spent,
): LedgerRow {
  const next = {
    cacheRead: added(row.cacheRead, usage.cacheRead),
    cacheWrite: added(row.cacheWrite, usage.cacheWrite),
    cacheWrite1h: added(row.cacheWrite1h, usage.cacheWrite1h),
    calls: row.calls + calls,
    costNanoUsd: added(row.costNanoUsd, costNanoUsd),
    estimated: added(row.estimated, isEstimated ? calls : undefined),
    input: added(row.input, usage.input),
    output: added(row.output, usage.output),
    unpriced: added(row.unpriced, costNanoUsd === undefined ? calls : undefined),
  }
  return Object.fromEntries(Object.entries(next).filter(([, value]) => value !== undefined)) as LedgerRow
}

/** What is not known adds nothing, and is not known if nothing is. */
export function added(before: number | undefined, more: number | undefined): number | undefined {
  return more === undefined ? before : (before ?? 0) + more
}
