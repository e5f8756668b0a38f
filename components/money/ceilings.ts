import { z } from 'zod'
import { type DataOf, defineComponent } from '../../src/world/component.ts'
import { lazily } from '../../src/world/lazily.ts'
import { oneOf, positive } from '../../src/protocol/setting.ts'

export const CeilingSettings = lazily(() =>
  z.strictObject({
    /** Of all that the agent does in its life, in US dollars. Absent: no ceiling. */
    maxSessionCostUsd: positive().optional(),
    /** Of one turn, in US dollars. Absent: no ceiling. */
    maxTurnCostUsd: positive().optional(),
    /** A call to a model without a price emits `cost-unknown` (`warn`) or is not started (`refuse`). @default 'warn' */
    onUnpriced: oneOf('warn', 'refuse').default('warn'),
  }),
)

/** What an agent may spend before it is stopped. */
export const Ceilings = defineComponent('Ceilings', CeilingSettings)
export type CeilingsData = DataOf<() => typeof Ceilings.schema>

/** The agent has reached a ceiling and makes no model call until a `cost-ceiling-reset`; nothing else clears it. */
export const CostCeiling = defineComponent('CostCeiling', () =>
  z.strictObject({
    atMs: z.number(),
    bound: z.enum(['turn', 'session']),
    /** It was reset before the turn that has reached it was over, and goes with that turn. */
    isReset: z.literal(true).optional(),
    limitUsd: z.number().positive(),
    spentUsd: z.number().nonnegative(),
  }),
)

/** Warnings about an agent's ceilings that were emitted, each once. */
export const CeilingNotes = defineComponent('CeilingNotes', () =>
  z.strictObject({
    /** By bound, the turn in which a call neared it: that turn's `since`, and 0 between turns. */
    neared: z.strictObject({
      session: z.number().int().nonnegative().optional(),
      turn: z.number().int().nonnegative().optional(),
    }),
    /** Models without a price. */
    unpriced: z.array(z.string()),
  }),
)
