import { z } from 'zod'
import { defineComponent } from '../../src/world/component.ts'

/** The agent has spent as much as it may: it makes no model call until the ceiling is reset. A latch, and nothing else clears it. */
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
