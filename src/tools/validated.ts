import { readValidated, type StandardSchema, type Validated } from '../rules/text/standard-schema.ts'
import { isThenable } from '../base/is-thenable.ts'

/** Asks a schema of any maker. A promise only if the schema gives one. */
export function validated(schema: StandardSchema, value: unknown): Validated | Promise<Validated> {
  const result = schema['~standard'].validate(value)
  return isThenable(result) ? Promise.resolve(result).then(readValidated) : readValidated(result)
}
