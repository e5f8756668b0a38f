import { z } from 'zod'
import { type DataOf, defineComponent } from '../../src/world/component.ts'
import { lazily } from '../../src/world/lazily.ts'
import { entity } from '../../src/protocol/entity.ts'
import { Failure } from '../../src/protocol/failure.ts'
import { TokenUsage } from '../money/usage.ts'

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

/** What a subtask has spent, all told. A count that nobody reported is absent. */
export const SubtaskSpending = lazily(() =>
  TokenUsage().extend({
    calls: z.number().int().nonnegative(),
    /** In billionths of a US dollar; absent: no price is known. */
    costNanoUsd: z.number().int().nonnegative().optional(),
    /** Calls whose tokens were estimated, since the provider said nothing. */
    estimated: z.number().int().nonnegative().optional(),
  }),
)
export type SubtaskSpending = DataOf<typeof SubtaskSpending>

/** What a subtask's effect comes back with. */
export const SubtaskOutcome = lazily(() =>
  z.strictObject({
    digest: z.string(),
    durationMs: z.number().nonnegative(),
    failure: Failure().optional(),
    /** All that it has spent. */
    spent: SubtaskSpending(),
    stepsUsed: z.number().int().nonnegative(),
    subtaskId: z.string(),
    truncated: z.boolean(),
  }),
)
export type SubtaskOutcome = DataOf<typeof SubtaskOutcome>

/** What a subtask has come to, as a program reads it. */
export type SubtaskResult = {
  /** The last text that its model wrote; `[no digest]`: it wrote none. */
  readonly digest: string
  /** There may be more: steps, time or money ran out, the model was stopped at its output limit, or the digest was cut. */
  readonly truncated: boolean
  readonly stepsUsed: number
  readonly usage: TokenUsage
  /** Absent: no price is known. */
  readonly costUsd?: number
  /** World time. */
  readonly durationMs: number
  readonly failure?: Failure
}
