import { z } from 'zod'
import { defineComponent } from '../../src/world/component.ts'

/** Bounds of one turn of an agent. */
export const Limits = defineComponent('Limits', () =>
  z.strictObject({
    /** Model calls in a turn; tries of the same call count once. @default 50 */
    maxSteps: z.number().int().min(1).optional(),
    /** Tool calls in a turn; further ones are answered with an error. @default 200 */
    maxToolCalls: z.number().int().min(0).optional(),
  }),
)

/** What holds where `Limits` says nothing. */
export const defaultLimits = { maxSteps: 50, maxToolCalls: 200 } as const
