import { z } from 'zod'
import type { Json } from '../../world/json.ts'
import { schemaIssues } from './schema-issues.ts'

/** What checks, or why nothing can. */
const compiled = new WeakMap<object, z.ZodType | string>()

/**
 * What is wrong with a value under a JSON Schema, in one line; `undefined` when nothing is. Under a schema that cannot be
 * read, everything is wrong.
 */
export function checkJson(schema: object, value: Json): string | undefined {
  let type = compiled.get(schema)
  if (type === undefined) compiled.set(schema, (type = compile(schema)))
  if (typeof type === 'string') return type
  const result = type.safeParse(value)
  return result.success ? undefined : schemaIssues(result.error)
}

/** Why nothing can be checked by a JSON Schema, if nothing can. */
export function schemaFault(schema: object): string | undefined {
  const type = compile(schema)
  return typeof type === 'string' ? type : undefined
}

function compile(schema: object): z.ZodType | string {
  try {
    return z.fromJSONSchema(schema as z.core.JSONSchema.JSONSchema)
  } catch (error) {
    return `its JSON Schema cannot be read (${(error as Error).message})`
  }
}
