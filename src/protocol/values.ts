import { z } from 'zod'
import { lazily } from '../world/lazily.ts'
import type { DataOf } from '../world/component.ts'
import type { Json, JsonObject } from '../world/json.ts'

export const entity = lazily(() => z.number().int().positive())

/** Depth and form are checked when it is made canonical, so it is not walked again here. */
export const json = lazily((): z.ZodType<Json> => z.any())

/** JSON Schema draft 2020-12. Kept as the same object, so that its users share it. */
export const JsonSchema = lazily(() =>
  z.custom<JsonObject>(
    (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
    'expected an object',
  ),
)
export type JsonSchema = DataOf<typeof JsonSchema>
