import { z } from 'zod'
import { type DataOf, defineComponent } from '../../src/world/component.ts'
import { lazily } from '../../src/base/lazily.ts'
import { SubtaskSpending } from '../../src/protocol/usage.ts'

const count = lazily(() => z.number().int().nonnegative())

export const LedgerRow = lazily(() =>
  SubtaskSpending().extend({
    /** Those of `costUnknown` whose model has no price. */
    unpriced: count().optional(),
  }),
)
export type LedgerRow = DataOf<typeof LedgerRow>

/** All calls of an agent by model: steps, summaries, subtasks, sessions and queries. Begins with its first call. */
export const Ledger = defineComponent('Ledger', () =>
  z.strictObject({
    models: z.record(z.string(), LedgerRow()),
    /** In billionths of a US dollar. */
    sessionNanoUsd: count(),
    /** Of the open or latest turn. */
    turnNanoUsd: count(),
    /** Of that turn: calls whose cost is unknown, or estimated in the sums. Absent: none. */
    turnUnknown: count().optional(),
  }),
)
export type LedgerData = DataOf<() => typeof Ledger.schema>
