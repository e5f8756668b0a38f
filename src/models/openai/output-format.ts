import type { Json, JsonObject } from '../../world/json.ts'
import type { ModelOptions } from '../port.ts'

/** The name that OpenAI's protocols want for an output schema; models hardly see it. */
const NAME = 'output'

/** An output schema as both of OpenAI's protocols name it. */
export interface OutputFormat {
  name: string
  schema: Record<string, unknown>
  strict: boolean
}

/** A schema is enforced where it keeps to what strict mode can enforce; other schemas are a guide for the model. */
export function outputFormat(schema: JsonObject): OutputFormat {
  return { name: NAME, schema: { ...schema }, strict: isStrict(schema) }
}

/** Strict mode takes only objects that are closed and whose properties are all required. */
function isStrict(schema: Json | undefined): boolean {
  if (Array.isArray(schema)) return schema.every(isStrict)
  if (!isObject(schema)) return true
  const { properties, required, additionalProperties } = schema
  if (isObject(properties)) {
    const names = Array.isArray(required) ? required : []
    if (additionalProperties !== false || !Object.keys(properties).every((name) => names.includes(name))) return false
  } else if (schema['type'] === 'object') return false
  return Object.values(schema).every(isStrict)
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
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
