import { z } from 'zod'
import { type DataOf, defineComponent } from '../../src/world/component.ts'
import { lazily } from '../../src/world/lazily.ts'
import { SubtaskSpending } from '../../src/protocol/usage.ts'

const count = lazily(() => z.number().int().nonnegative())

/** What calls of one model have used. */
export const LedgerRow = lazily(() =>
  SubtaskSpending().extend({
    /** Calls without a price. Their cost is in no sum. */
    unpriced: count().optional(),
  }),
)
export type LedgerRow = DataOf<typeof LedgerRow>

/**
 * What an agent has spent: every call once, under the model that was called; summaries, subtasks, sessions and questions to
 * them included. Of agents that have a `Context` or `Ceilings`.
 */
export const Ledger = defineComponent('Ledger', () =>
  z.strictObject({
    /** By `provider/model`. */
    models: z.record(z.string(), LedgerRow()),
    /** In all the agent's life, in billionths of a US dollar. */
    sessionNanoUsd: count(),
    /** In the turn that is open, or that was open last. */
    turnNanoUsd: count(),
  }),
)
export type LedgerData = DataOf<() => typeof Ledger.schema>
