import { z } from 'zod'
import type { DeepReadonly } from '../src/world/component.ts'
import type { Json } from '../src/world/json.ts'

/** Any JSON value. Its depth and form are checked where it is made canonical, so it is not walked a second time here. */
export const json: z.ZodType<Json> = z.any()

/** A JSON Schema (draft 2020-12) as data. */
export const JsonSchema = z.record(z.string(), json)
export type JsonSchema = DeepReadonly<z.infer<typeof JsonSchema>>
