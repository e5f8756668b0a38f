import { z } from 'zod'
import { defineComponent } from '../../src/world/component.ts'
import type { Json, JsonObject } from '../../src/base/json.ts'

/** The start of the agent's last request, hashed: if the next differs, the provider's prompt cache is lost. */
export const Prefix = defineComponent(
  'Prefix',
  () =>
    z.strictObject({
      boundary: z.number().optional(),
      /** Tokens of it in the provider's cache as of the last reply, if reported. */
      cached: z.number().int().nonnegative().optional(),
      count: z.number().int().nonnegative(),
      /** Messages that the boundary covered. Absent in worlds saved before it was kept. */
      from: z.number().int().nonnegative().optional(),
      llm: z.number(),
      system: z.number(),
      tools: z.number(),
    }),
  { version: 2, migrate: withoutMessages },
)

/** Version 1 had a hash of the messages as well. */
export function withoutMessages(saved: Json): JsonObject {
  const { messages: _, ...prefix } = saved as JsonObject
  return prefix
}
