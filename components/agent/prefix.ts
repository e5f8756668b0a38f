import { z } from 'zod'
import { defineComponent } from '../../src/world/component.ts'
import type { Json, JsonObject } from '../../src/world/json.ts'

/**
 * What the agent's last request began with: the next one has to begin with the same, or the provider's prompt cache is
 * lost. `boundary`, `llm`, `system` and `tools` are hashes. Whether messages have changed since is noted in `Edited`.
 */
export const Prefix = defineComponent(
  'Prefix',
  () =>
    z.strictObject({
      /** Of the text that stands for what a boundary covers; absent: there is none. */
      boundary: z.number().optional(),
      /** Tokens of it that the provider has cached, as of the last reply, where it says so. */
      cached: z.number().int().nonnegative().optional(),
      /** How many messages it had, from `from` on. */
      count: z.number().int().nonnegative(),
      /** How many messages the boundary covered. Absent beside a boundary: saved by a version that did not keep it. */
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
