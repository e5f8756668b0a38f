import type { InspectOptions } from 'node:util'

/** Any value as a text for people. Node's `util` is loaded when it is first needed, and not with the package. */
export function inspect(value: unknown, options?: InspectOptions): string {
  return process.getBuiltinModule('node:util').inspect(value, options)
}
