import { standardIssues } from '../rules/text/schema-issues.ts'
import type { StandardSchema } from '../rules/text/standard-schema.ts'
import { isThenable } from '../world/is-thenable.ts'

/** What a schema makes of a value, or what is wrong with it, in one line. */
export type Validated = { readonly data: unknown } | { readonly problem: string }

/** Asks a schema of any maker. A promise only if the schema gives one. */
export function validated(schema: StandardSchema, value: unknown): Validated | Promise<Validated> {
  const result = schema['~standard'].validate(value)
  return isThenable(result) ? Promise.resolve(result).then(read) : read(result)
}

function read(result: unknown): Validated {
  const { issues, value } = Object(result) as { readonly issues?: unknown; readonly value?: unknown }
  return Array.isArray(issues) ? { problem: standardIssues(issues) } : { data: value }
}
