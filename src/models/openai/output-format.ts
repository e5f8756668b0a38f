import type { JsonObject } from '../../world/json.ts'
import type { ModelOptions } from '../port.ts'
import { strictSchema } from './strict-schema.ts'

/** The name that OpenAI's protocols want for an output schema; models hardly see it. */
const NAME = 'output'

/** An output schema as both of OpenAI's protocols name it. */
export interface OutputFormat {
  name: string
  schema: Record<string, unknown>
  strict: boolean
}

/**
 * A schema is enforced where strict mode can do that; other schemas are a guide for the model. Objects that say nothing of
 * further properties, as those of `z.object`, are closed then.
 */
export function outputFormat(schema: JsonObject): OutputFormat {
  const strict = strictSchema(schema)
  return { name: NAME, schema: { ...(strict ?? schema) }, strict: strict !== undefined }
}

/** Token budgets up to these count as low and as medium effort: OpenAI's protocols know efforts only. */
const MAX_LOW_BUDGET = 4_096
const MAX_MEDIUM_BUDGET = 16_384

/** How much to think, as an effort. */
export function effortOf({ thinking }: ModelOptions): 'low' | 'medium' | 'high' | undefined {
  if (typeof thinking !== 'number') return thinking
  if (thinking <= MAX_LOW_BUDGET) return 'low'
  return thinking <= MAX_MEDIUM_BUDGET ? 'medium' : 'high'
}
