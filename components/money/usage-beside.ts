import { z } from 'zod'
import { defineComponent } from '../../src/world/component.ts'
import { TokenUsage } from './usage.ts'

/**
 * What the agent of a session has used besides the replies to its steps: calls for summaries, and what is estimated of calls
 * that were cut off. Its session's parent pays for that as well.
 */
export const UsageBeside = defineComponent('UsageBeside', () =>
  TokenUsage().extend({
    calls: z.number().int().nonnegative(),
    /** In billionths of a US dollar; absent: no price is known. */
    costNanoUsd: z.number().int().nonnegative().optional(),
  }),
)
