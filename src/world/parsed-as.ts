import type { z } from 'zod'
import type { DeepReadonly } from './component.ts'
import { fits } from './fits.ts'
import type { Json } from './json.ts'

/** A canonical value as a schema reads it: mostly it is that already. `undefined`: it is none. */
export function parsedAs<S extends z.ZodType>(
  schema: S,
  value: Json | undefined,
): DeepReadonly<z.output<S>> | undefined {
  if (value !== undefined && fits(schema, value)) return value as DeepReadonly<z.output<S>>
  return schema.safeParse(value).data as DeepReadonly<z.output<S>> | undefined
}
