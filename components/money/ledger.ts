import { z } from 'zod'
import { type DataOf, defineComponent } from '../../src/world/component.ts'
import { lazily } from '../../src/world/lazily.ts'
import { SubtaskSpending } from '../../src/protocol/usage.ts'

const count = lazily(() => z.number().int().nonnegative())

export const LedgerRow = lazily(() =>
  SubtaskSpending().extend({
    /** Calls without a price, in no sum. */
    unpriced: count().optional(),
  }),
)
export type LedgerRow = DataOf<typeof LedgerRow>

/** All calls by model: steps, summaries, subtasks, sessions and queries. Of agents with `Context` or `Ceilings`. */
export const Ledger = defineComponent('Ledger', () =>
  z.strictObject({
    models: z.record(z.string(), LedgerRow()),
    /** In billionths of a US dollar. */
    sessionNanoUsd: count(),
    /** Of the open or latest turn. */
    turnNanoUsd: count(),
  }),
)
export type LedgerData = DataOf<() => typeof Ledger.schema>
