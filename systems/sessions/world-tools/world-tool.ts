import { z } from 'zod'
import { schemaIssues } from '../../../src/rules/text/schema-issues.ts'
import type { Entity } from '../../../src/world/component.ts'
import type { JsonObject } from '../../../src/base/json.ts'
import { lazily } from '../../../src/base/lazily.ts'
import type { World } from '../../../src/world/world.ts'

/** A call of a world tool. */
export interface WorldToolCall {
  readonly agent: Entity
  readonly call: Entity
  readonly callId: string
  readonly arguments: JsonObject
}

/** Why a world tool refuses a call. The model reads it behind `Error: `. */
export interface Problem {
  readonly problem: string
}

/**
 * Changes the world in the tick of the call. Returns the answer, or `undefined` if the call stays open for a later
 * system.
 */
export interface WorldTool {
  (world: World, call: WorldToolCall): string | Problem | undefined
  /** Why a tool that needs an approval need not be asked about now; `undefined`: ask. */
  readonly problem?: (world: World, agent: Entity) => string | undefined
}

/** Makes a world tool that checks its arguments: `null` counts as absent, and unknown fields are ignored. */
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

export const filledText = lazily(() =>
  z.string().refine((text) => text.trim() !== '', 'expected a text that is not empty'),
)

/** Seconds, as a number or a numeric text. */
const numeric = lazily(() =>
  z
    .union([
      z.number(),
      z
        .string()
        .refine((text) => text.trim() !== '' && Number.isFinite(Number(text)), 'expected a number')
        .transform(Number),
    ])
    .refine((value) => Number.isFinite(toMs(value)), 'expected a number of seconds that can be counted'),
)

/** Seconds above 0, converted to milliseconds. */
export const positiveSeconds = lazily(() =>
  numeric()
    .refine((value) => value > 0, 'expected a number of seconds above 0')
    .transform(toMs),
)

/** Seconds from 0, converted to milliseconds. */
export const someSeconds = lazily(() =>
  numeric()
    .refine((value) => value >= 0, 'expected a number of seconds of at least 0')
    .transform(toMs),
)

/** A session as a model names it: an id, a unique prefix, or a sequence number. */
export const sessionName = lazily(() => z.union([filledText(), z.number().int().positive().transform(String)]))

/** Rounded, so that 0.05 s is 50 ms; a positive length never becomes 0. */
function toMs(value: number): number {
  const rounded = Math.round(value * 1e6) / 1e3
  return rounded === 0 ? value * 1e3 : rounded
}
