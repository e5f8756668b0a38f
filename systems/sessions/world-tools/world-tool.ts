import { z } from 'zod'
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

/** A text with something in it. */
export const filledText = lazily(() =>
  z.string().refine((text) => text.trim() !== '', 'expected a text that is not empty'),
)

/** Seconds, as a number or as a text that is one. */
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

/** A length of time of more than nothing, in seconds; milliseconds come out. */
export const positiveSeconds = lazily(() =>
  numeric()
    .refine((value) => value > 0, 'expected a number of seconds above 0')
    .transform(toMs),
)

/** A length of time in seconds, perhaps none; milliseconds come out. */
export const someSeconds = lazily(() =>
  numeric()
    .refine((value) => value >= 0, 'expected a number of seconds of at least 0')
    .transform(toMs),
)

/** A session as a model names it: an id, a unique prefix, or a sequence number. */
export const sessionName = lazily(() => z.union([filledText(), z.number().int().positive().transform(String)]))

/** Rounded so that 0.05 s is 50 ms and not a little more; but never to nothing. */
function toMs(value: number): number {
  const rounded = Math.round(value * 1e6) / 1e3
  return rounded === 0 ? value * 1e3 : rounded
}
