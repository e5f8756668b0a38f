import { z } from 'zod'
import { canonical } from '../world/canonical.ts'
import { EntiaError } from '../world/entia-error.ts'
import type { JsonObject } from '../world/json.ts'

/**
 * The JSON Schema (draft 2020-12) of what a zod schema takes in, canonical.
 *
 * @throws `invalid-argument` for a schema that JSON Schema cannot say, such as one of dates
 */
export function jsonSchemaOf(schema: z.core.$ZodType, where: string): JsonObject {
  try {
    const { $schema: _, ...rest } = z.toJSONSchema(schema, {
      io: 'input',
      target: 'draft-2020-12',
      override: withoutNoise,
    })
    return canonical(rest, () => 'JSON Schema') as JsonObject
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new EntiaError('invalid-argument', `${where}: ${reason}`, {}, { cause: error })
  }
}

/** `z.int()` brings the bounds of a double's integers along: nothing that a model needs to read. */
function withoutNoise({ jsonSchema }: { readonly jsonSchema: z.core.JSONSchema.BaseSchema }): void {
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
}
