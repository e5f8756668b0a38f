import type { InspectOptions } from 'node:util'

/** Loads `node:util` at first use only. */
export function inspect(value: unknown, options?: InspectOptions): string {
  return process.getBuiltinModule('node:util').inspect(value, options)
}
