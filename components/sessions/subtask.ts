import { z } from 'zod'
import { type DataOf, defineComponent } from '../../src/world/component.ts'
import { entity } from '../../src/protocol/values.ts'
import { SubtaskSpending } from '../../src/protocol/usage.ts'

/** An effect of kind `subtask`: a World with a prompt and a message only. Also the tool call that asked, if any. */
export const Subtask = defineComponent(
  'Subtask',
  () =>
    z.strictObject({
      agent: entity(),
      /** How the call that asked is answered. @default 'digest' */
      answer: z.enum(['digest', 'text']).optional(),
      /** Used if the provider lacks the default `model`. */
      fallback: z.string().optional(),
      maxDigestChars: z.number().int().positive().optional(),
      /** Of one reply. @default the agent's, on its own model */
      maxOutputTokens: z.number().int().positive().optional(),
      maxSteps: z.number().int().positive(),
      model: z.string(),
      name: z.string(),
      /** Id under which a program waits for it. */
      request: z.string().optional(),
      /** `<caller>:sub:<name>:<n>`: the name of its World. */
      subtaskId: z.string(),
      /** Empty: none. */
      systemPrompt: z.string(),
      timeoutMs: z.number().positive(),
      /** Tools of the agent. */
      tools: z.array(z.string()),
      userMessage: z.string(),
    }),
  { ref: 'agent', cascade: true },
)
export type SubtaskData = DataOf<() => typeof Subtask.schema>

/** Reported spending; outlives the subtask until the last report. */
export const SubtaskAccount = defineComponent(
  'SubtaskAccount',
  () =>
    z.strictObject({
      agent: entity(),
      model: z.string(),
      /** Total as of the last report. */
      spent: SubtaskSpending(),
      subtaskId: z.string(),
    }),
  { ref: 'agent', cascade: true },
)

/** How many subtasks an agent has started. */
export const SubtaskCount = defineComponent('SubtaskCount', () =>
  z.strictObject({
    /** Of ended ones, in billionths of a US dollar; absent: no cost is known. */
    costNanoUsd: z.number().int().nonnegative().optional(),
    ended: z.number().int().nonnegative(),
    /** The cost of some of their calls is unknown, and not in the cost. */
    hasUnpriced: z.literal(true).optional(),
    inputTokens: z.number().int().nonnegative(),
    launched: z.number().int().nonnegative(),
    outputTokens: z.number().int().nonnegative(),
    truncated: z.number().int().nonnegative(),
    /** Default models that their provider lacks. */
    unavailable: z.array(z.string()).optional(),
  }),
)
export type SubtaskCountData = DataOf<() => typeof SubtaskCount.schema>
