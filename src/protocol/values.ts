import { z } from 'zod'
import { lazily } from '../base/lazily.ts'
import type { DataOf } from '../world/component.ts'
import type { Json, JsonObject } from '../base/json.ts'
import { isOneLine } from '../base/option-shapes.ts'

export const entity = lazily(() => z.number().int().positive())

/** Depth and form are checked when it is made canonical, so it is not walked again here. */
export const json = lazily((): z.ZodType<Json> => z.any())

/** What stands in lists, prompts, logs and errors, on its line. */
export const onOneLine = lazily(() => z.string().refine(isOneLine, 'expected one line, without line breaks'))

/** A name, as it stands in lists, prompts, logs and errors. */
export const givenName = lazily(() => onOneLine().min(1))

/** JSON Schema draft 2020-12. Kept as the same object, so that its users share it. */
export const JsonSchema = lazily(() =>
  z.custom<JsonObject>(
    (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
    'expected an object',
  ),
)
export type JsonSchema = DataOf<typeof JsonSchema>
