import { z } from 'zod'
import { lazily } from '../world/lazily.ts'
import type { DataOf } from '../world/component.ts'
import type { Json, JsonObject } from '../world/json.ts'

/** The number of an entity of the same world. */
export const entity = lazily(() => z.number().int().positive())

/** Any JSON value. Its depth and form are checked where it is made canonical, so it is not walked a second time here. */
export const json = lazily((): z.ZodType<Json> => z.any())

/** A JSON Schema (draft 2020-12) as data. Passed on as the object that it is, so that those who use the same one share it. */
export const JsonSchema = lazily(() =>
  z.custom<JsonObject>(
    (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
    'expected an object',
  ),
)
export type JsonSchema = DataOf<typeof JsonSchema>
