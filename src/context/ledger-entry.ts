import type { LedgerData, LedgerRow } from '../../components/ledger.ts'
import type { SessionUsage } from '../../components/subagent-session.ts'
import type { TokenUsage } from '../../components/usage.ts'
import { withAdded } from './with-added.ts'

/** What settled calls of one model have used. */
export interface Spent {
  /** Absent: it has no price. */
  readonly costNanoUsd?: number | undefined
  /** @default 1 */
  readonly calls?: number
  /** Their tokens are estimates, since the provider said nothing. @default false */
  readonly isEstimated?: boolean
  /** They count for the agent's life alone: the turn that asked for them is over. @default false */
  readonly isLate?: boolean
  /** `provider/model`. */
  readonly model: string
  readonly usage: TokenUsage
}

export const emptyLedger: LedgerData = { models: {}, sessionNanoUsd: 0, turnNanoUsd: 0 }

/** A ledger with calls more in it. */
export function entered(ledger: LedgerData = emptyLedger, spent: Spent): LedgerData {
  const { costNanoUsd = 0, isLate = false, model } = spent
  const row = Object.hasOwn(ledger.models, model) ? ledger.models[model] : undefined
  return {
    models: { ...ledger.models, [model]: withCalls(row, spent) },
    sessionNanoUsd: ledger.sessionNanoUsd + costNanoUsd,
    turnNanoUsd: ledger.turnNanoUsd + (isLate ? 0 : costNanoUsd),
  }
}

/**
 * What is new in what a session has told that it and its own sessions have spent so far, as calls of its model; `undefined`
 * if nothing is. A process that died may leave a session with less than it had told of: then nothing is new.
 */
export function newlySpent(
  before: SessionUsage | undefined,
  now: SessionUsage,
): Omit<Spent, 'isLate' | 'model'> | undefined {
  const calls = Math.max(0, now.calls - (before?.calls ?? 0))
  const costNanoUsd = more(before?.costNanoUsd, now.costNanoUsd)
  const usage = present({
    cacheRead: more(before?.cacheRead, now.cacheRead),
    cacheWrite: more(before?.cacheWrite, now.cacheWrite),
    cacheWrite1h: more(before?.cacheWrite1h, now.cacheWrite1h),
    input: more(before?.input, now.input),
    output: more(before?.output, now.output),
  })
  const isNothing = calls === 0 && [costNanoUsd, ...Object.values(usage)].every((amount) => (amount ?? 0) === 0)
  return isNothing ? undefined : { calls, ...(costNanoUsd !== undefined && { costNanoUsd }), usage }
}

/** The most of each count that a session has told of so far. */
export function toldSoFar(before: SessionUsage | undefined, now: SessionUsage): SessionUsage {
  return {
    calls: Math.max(before?.calls ?? 0, now.calls),
    sessions: Math.max(before?.sessions ?? 0, now.sessions),
    ...present({
      cacheRead: most(before?.cacheRead, now.cacheRead),
      cacheWrite: most(before?.cacheWrite, now.cacheWrite),
      cacheWrite1h: most(before?.cacheWrite1h, now.cacheWrite1h),
      costNanoUsd: most(before?.costNanoUsd, now.costNanoUsd),
      delegatedTokens: most(before?.delegatedTokens, now.delegatedTokens),
      input: most(before?.input, now.input),
      output: most(before?.output, now.output),
    }),
  }
}

/** What is not known adds nothing, and is not known if nothing is. */
export function added(before: number | undefined, add: number | undefined): number | undefined {
  return add === undefined ? before : (before ?? 0) + add
}

function withCalls(
  row: LedgerRow = { calls: 0 },
  { calls = 1, costNanoUsd, isEstimated = false, usage }: Spent,
): LedgerRow {
  const counted = (isSo: boolean): number | undefined => (isSo && calls > 0 ? calls : undefined)
  const { cacheRead, cacheWrite, cacheWrite1h, input, output } = usage
  const tokens = { cacheRead, cacheWrite, cacheWrite1h, input, output }
  return withAdded(row, {
    ...tokens,
    calls,
    costNanoUsd,
    estimated: counted(isEstimated),
    unpriced: counted(costNanoUsd === undefined),
  })
}

function more(before: number | undefined, now: number | undefined): number | undefined {
  return now === undefined ? undefined : Math.max(0, now - (before ?? 0))
}

function most(before: number | undefined, now: number | undefined): number | undefined {
  return before === undefined || (now ?? -1) > before ? now : before
}

type Present<T> = { [K in keyof T]?: Exclude<T[K], undefined> }

/** Without what is not known. */
function present<T extends object>(values: T): Present<T> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Present<T>
}
