import { z } from 'zod'
import { type DataOf, defineComponent } from '../../src/world/component.ts'
import { lazily } from '../../src/base/lazily.ts'
import { oneOf, positive } from '../../src/protocol/setting.ts'

export const CeilingSettings = lazily(() =>
  z.strictObject({
    /** In the agent's life, in US dollars. Absent: no limit. */
    maxSessionCostUsd: positive().optional(),
    /** In one turn. Absent: no limit. */
    maxTurnCostUsd: positive().optional(),
    /** A call to a model without a price emits `cost-unknown` (`warn`) or is not started (`refuse`). @default 'warn' */
    onUnpriced: oneOf('warn', 'refuse').default('warn'),
  }),
)

/** What an agent may spend before it is stopped. */
export const Ceilings = defineComponent('Ceilings', CeilingSettings)
export type CeilingsData = DataOf<() => typeof Ceilings.schema>

/** Blocks model calls until a `cost-ceiling-reset`. */
export const CostCeiling = defineComponent('CostCeiling', () =>
  z.strictObject({
    atMs: z.number(),
    bound: z.enum(['turn', 'session']),
    /** Reset before the turn was over; removed with that turn. */
    isReset: z.literal(true).optional(),
    limitUsd: z.number().positive(),
    spentUsd: z.number().nonnegative(),
  }),
)

/** Warnings already emitted, each once. */
export const CeilingNotes = defineComponent('CeilingNotes', () =>
  z.strictObject({
    /** By bound: `since` of the turn in which it was neared; 0 between turns. */
    neared: z.strictObject({
      session: z.number().int().nonnegative().optional(),
      turn: z.number().int().nonnegative().optional(),
    }),
    unpriced: z.array(z.string()),
  }),
)
