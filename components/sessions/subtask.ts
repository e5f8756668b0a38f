import { z } from 'zod'
import { type DataOf, defineComponent } from '../../src/world/component.ts'
import { entity } from '../../src/protocol/values.ts'
import { SubtaskSpending } from '../../src/protocol/usage.ts'

/**
 * A run of a World of its own that knows nothing but a prompt and a message. The entity is its effect, of kind `subtask`,
 * and the tool call that asked for it, if one did.
 */
export const Subtask = defineComponent(
  'Subtask',
  () =>
    z.strictObject({
      agent: entity(),
      /** Thinks for it if `model` is a default that its provider does not have. */
      fallback: z.string().optional(),
      /** Longest digest. Absent: any. */
      maxDigestChars: z.number().int().positive().optional(),
      maxSteps: z.number().int().positive(),
      /** `provider/model`. */
      model: z.string(),
      name: z.string(),
      /** A program asked, and knows its answer by this. */
      request: z.string().optional(),
      /** `<caller>:sub:<name>:<n>`: the name of its World. */
      subtaskId: z.string(),
      systemPrompt: z.string(),
      timeoutMs: z.number().positive(),
      /** Names of tools of the agent. */
      tools: z.array(z.string()),
      userMessage: z.string(),
    }),
  { ref: 'agent', cascade: true },
)
export type SubtaskData = DataOf<() => typeof Subtask.schema>

/** What a subtask has reported of its spending. An entity of its own: it lasts until the last report, as the subtask may not. */
export const SubtaskAccount = defineComponent(
  'SubtaskAccount',
  () =>
    z.strictObject({
      agent: entity(),
      /** `provider/model`. */
      model: z.string(),
      /** In all, as of the last report. */
      spent: SubtaskSpending(),
      subtaskId: z.string(),
    }),
  { ref: 'agent', cascade: true },
)

/** Totals of an agent's subtasks. */
export const SubtaskCount = defineComponent('SubtaskCount', () =>
  z.strictObject({
    /** Of those that have ended, in billionths of a US dollar; absent: none has a price. */
    costNanoUsd: z.number().int().nonnegative().optional(),
    /** Those that have ended. */
    ended: z.number().int().nonnegative(),
    /** Some of them have no price: the cost, if there is one, is that of the others. */
    hasUnpriced: z.literal(true).optional(),
    /** Prompt tokens. */
    inputTokens: z.number().int().nonnegative(),
    launched: z.number().int().nonnegative(),
    outputTokens: z.number().int().nonnegative(),
    truncated: z.number().int().nonnegative(),
    /** Default models that their provider does not have, as `provider/model`. */
    unavailable: z.array(z.string()).optional(),
  }),
)
export type SubtaskCountData = DataOf<() => typeof SubtaskCount.schema>
