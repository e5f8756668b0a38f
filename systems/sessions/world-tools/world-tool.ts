import type { z } from 'zod'
import { schemaIssues } from '../../../src/rules/text/schema-issues.ts'
import type { Entity } from '../../../src/world/component.ts'
import type { JsonObject } from '../../../src/world/json.ts'
import { lazily } from '../../../src/world/lazily.ts'
import type { World } from '../../../src/world/world.ts'

/** A call of a world tool. */
export interface WorldToolCall {
  readonly agent: Entity
  readonly call: Entity
  readonly callId: string
  readonly arguments: JsonObject
}

/** Why a world tool did not do what it was asked to. The model reads it behind `Error: `. */
export interface Problem {
  readonly problem: string
}

/**
 * What a world tool does: it changes the world in the tick of the call. Gives the answer, or `undefined` if the call stays
 * open until something answers it.
 */
export type WorldTool = (world: World, call: WorldToolCall) => string | Problem | undefined

/** Makes a world tool whose arguments are checked; `null` counts as left out, and unknown fields are passed over. */
export function worldTool<Schema extends z.ZodType>(
  name: string,
  schema: () => Schema,
  run: (world: World, input: z.output<Schema>, call: WorldToolCall) => string | Problem | undefined,
): WorldTool {
  const checked = lazily(schema)
  return (world, call) => {
    const given = Object.fromEntries(Object.entries(call.arguments).filter(([, value]) => value !== null))
    const parsed = checked().safeParse(given)
    if (!parsed.success) return { problem: `Invalid arguments for '${name}': ${schemaIssues(parsed.error)}` }
    return run(world, parsed.data, call)
  }
}
