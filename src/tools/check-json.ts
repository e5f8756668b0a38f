import { z } from 'zod'
import type { Json } from '../world/json.ts'
import { schemaIssues } from './schema-issues.ts'

const compiled = new WeakMap<object, z.ZodType>()

/** What is wrong with a value under a JSON Schema, in one line; `undefined` when nothing is. */
export function checkJson(schema: object, value: Json): string | undefined {
  let type = compiled.get(schema)
  if (type === undefined) compiled.set(schema, (type = z.fromJSONSchema(schema as z.core.JSONSchema.JSONSchema)))
  const result = type.safeParse(value)
  return result.success ? undefined : schemaIssues(result.error)
}
