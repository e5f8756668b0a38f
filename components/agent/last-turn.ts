import { z } from 'zod'
import { defineComponent } from '../../src/world/component.ts'
import { Failure } from '../../src/protocol/failure.ts'
import { json } from '../../src/protocol/json.ts'

/** Why a turn ended. `empty-reply`: the model gave neither text nor calls, and again when it was asked once more. */
export const stops = ['done', 'max-steps', 'declined', 'cancelled', 'budget-spent', 'empty-reply', 'failed'] as const
export type Stop = (typeof stops)[number]

/** How an agent's newest finished turn ended. */
export const LastTurn = defineComponent('LastTurn', () =>
  z.strictObject({
    endedAtMs: z.number(),
    failure: Failure().optional(),
    /** The final answer as data, where the agent has an `OutputSchema`. */
    output: json().optional(),
    startedAtMs: z.number(),
    steps: z.number().int().nonnegative(),
    stop: z.enum(stops),
    toolCalls: z.number().int().nonnegative(),
    /** The final text was stopped at the model's output limit. */
    truncated: z.literal(true).optional(),
  }),
)
