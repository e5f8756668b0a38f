import { z } from 'zod'
import { type DataOf, defineComponent } from '../../src/world/component.ts'
import { JsonSchema, givenName } from '../../src/protocol/values.ts'
import { RetryPolicy } from '../../src/protocol/failure.ts'

/** Makes an entity an agent: its model and the settings of each call. What is absent is left to the provider. */
export const Llm = defineComponent('Llm', () =>
  z.strictObject({
    /** `provider/model`. */
    model: givenName(),
    maxOutputTokens: z.number().int().positive().optional(),
    temperature: z.number().min(0).optional(),
    /** How much it may think before it answers: an effort, or a number of tokens. */
    thinking: z.union([z.enum(['low', 'medium', 'high']), z.number().int().positive()]).optional(),
    /** Further fields of the provider's own request, passed on as they are. */
    extra: JsonSchema().optional(),
    /** Absent: the provider's own policy, or else the standard one. `false`: never tried again. */
    retry: z.union([RetryPolicy(), z.literal(false)]).optional(),
    /** Longest wait for one try, in milliseconds from when it begins. @default 600000 */
    timeoutMs: z.number().positive().optional(),
  }),
)
export type LlmData = DataOf<() => typeof Llm.schema>

/** JSON Schema of the agent's final answer. An answer that does not follow it gets one repair round. */
export const OutputSchema = defineComponent('OutputSchema', () => z.strictObject({ schema: JsonSchema() }))

/** Replaces `OutputSchema` for one turn. */
export const TurnOutputSchema = defineComponent('TurnOutputSchema', () => z.strictObject({ schema: JsonSchema() }))
