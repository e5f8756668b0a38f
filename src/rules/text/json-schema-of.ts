import { thrownMessage } from '../../base/thrown-message.ts'
import { z } from 'zod'
import { canonical } from '../../world/canonical.ts'
import { EntiaError } from '../../base/entia-error.ts'
import type { JsonObject } from '../../base/json.ts'
import { shortly } from '../../base/known-options.ts'
import { schemaFault } from './schema-issues.ts'
import { isStandard, type StandardOutput, standardProblem, type StandardSchema } from './standard-schema.ts'

/** What says the form of data: a schema of zod 4, one that keeps to Standard Schema, or JSON Schema. */
export type AnySchema = z.core.$ZodType | StandardSchema | JsonObject

/** What a schema gives of data that fits. */
export type SchemaOutput<Schema> = Schema extends z.core.$ZodType
  ? z.output<Schema>
  : Schema extends StandardSchema
    ? StandardOutput<Schema>
    : JsonObject

/**
 * The canonical JSON Schema (draft 2020-12) of a schema's input. JSON Schema passes through.
 *
 * @throws `invalid-argument` for a schema that JSON Schema cannot express, such as of dates; for zod 3, and for no schema
 */
export function jsonSchemaOf(schema: AnySchema, where: string): JsonObject {
  if (!isZod(schema) && !isStandard(schema)) return plainSchema(schema, where)
  try {
    const { $schema: _, ...rest } = isZod(schema)
      ? z.toJSONSchema(schema, { io: 'input', target: 'draft-2020-12', override: withoutNoise })
      : standardJsonSchema(schema)
    return canonical(rest, () => 'JSON Schema') as JsonObject
  } catch (error) {
    const reason = thrownMessage(error)
    throw new EntiaError('invalid-argument', `${where}: ${reason}`, {}, { cause: error })
  }
}

/** Schemas of zod 3 look alike, but lack `_zod`. */
export function isZod(schema: AnySchema): schema is z.core.$ZodType {
  return typeof schema === 'object' && schema !== null && '_zod' in schema
}

/** In the newest draft that its maker knows. */
function standardJsonSchema(schema: StandardSchema): Record<string, unknown> {
  const { jsonSchema } = schema['~standard']
  try {
    return jsonSchema.input({ target: 'draft-2020-12' })
  } catch {
    return jsonSchema.input({ target: 'draft-07' })
  }
}

/** `undefined` for a schema of zod 4, one that keeps to Standard Schema, or JSON Schema. */
export function schemaProblem(given: unknown): string | undefined {
  if (isStandard(given)) return undefined
  if (typeof given === 'function')
    return standardProblem(given) ?? `expected a zod schema or JSON Schema, got ${shortly(given)}`
  const isObject = typeof given === 'object' && given !== null && !Array.isArray(given)
  if (!isObject) return `expected a zod schema or JSON Schema, got ${shortly(given)}`
  if ('_zod' in given) return undefined
  if ('_def' in given) return "expected a schema of zod 4, got one of zod 3. Install zod 4, or import from 'zod/v4'"
  const problem = standardProblem(given)
  if (problem !== undefined) return problem
  const schemas = Object.entries(given).filter(
    ([, part]) => typeof part === 'object' && part !== null && '_zod' in part,
  )
  if (schemas.length === 0) return schemaFault(given)
  return 'expected a zod schema or JSON Schema, got an object of schemas: wrap it in z.object({ … })'
}

function plainSchema(schema: JsonObject, where: string): JsonObject {
  const problem = schemaProblem(schema)
  if (problem !== undefined) throw new EntiaError('invalid-argument', `${where}: ${problem}.`)
  return canonical(schema, () => where) as JsonObject
}

/** `z.int()` adds the bounds of safe integers, which no model needs. */
function withoutNoise({ jsonSchema }: { readonly jsonSchema: z.core.JSONSchema.BaseSchema }): void {
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
}
