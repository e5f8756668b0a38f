import type { Json, JsonObject } from '../../base/json.ts'
import type { ModelOptions } from '../port.ts'
import { includesType, isObject } from '../schema-words.ts'

/** Required by the protocols. */
const NAME = 'output'

export interface OutputFormat {
  name: string
  schema: Record<string, unknown>
  strict: boolean
}

/**
 * Uses strict mode where the schema allows; other schemas only guide the model. Strict objects without `additionalProperties`
 * are closed.
 */
export function outputFormat(schema: JsonObject): OutputFormat {
  const strict = strictSchema(schema)
  return { name: NAME, schema: { ...(strict ?? schema) }, strict: strict !== undefined }
}

/** The protocols know only efforts: budgets up to these map to low and medium. */
const MAX_LOW_BUDGET = 4_096
const MAX_MEDIUM_BUDGET = 16_384

export function effortOf({ thinking }: ModelOptions): 'low' | 'medium' | 'high' | undefined {
  if (typeof thinking !== 'number') return thinking
  if (thinking <= MAX_LOW_BUDGET) return 'low'
  return thinking <= MAX_MEDIUM_BUDGET ? 'medium' : 'high'
}

/** The deepest nesting that strict mode takes. */
const MAX_DEPTH = 10

/** Keywords of strict mode; a default or a length, for example, is refused. */
const strictWords: ReadonlySet<string> = new Set([
  '$schema',
  '$defs',
  '$ref',
  'title',
  'description',
  'type',
  'enum',
  'const',
  'anyOf',
  'oneOf',
  'properties',
  'required',
  'additionalProperties',
  'items',
  'minItems',
  'maxItems',
  'pattern',
  'format',
  'multipleOf',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
])

const strictFormats: ReadonlySet<Json | undefined> = new Set([
  'date-time',
  'time',
  'date',
  'duration',
  'email',
  'hostname',
  'ipv4',
  'ipv6',
  'uuid',
  undefined,
])

/** `undefined` if strict mode refuses any part of it. */
function strictSchema(schema: JsonObject): JsonObject | undefined {
  return schema['type'] === 'object' ? strictForm(schema, MAX_DEPTH) : undefined
}

/**
 * Closes objects and replaces the unknown `oneOf` by `anyOf`. `undefined` if strict mode refuses any part.
 *
 * @param depth levels left
 */
function strictForm(schema: Json | undefined, depth: number): JsonObject | undefined {
  if (!isObject(schema) || depth === 0 || Object.keys(schema).some((word) => !strictWords.has(word))) return undefined
  // A reference allows no other keyword.
  if (schema['$ref'] !== undefined) return Object.keys(schema).length === 1 ? schema : undefined
  const { oneOf, ...rest } = schema
  const { anyOf = oneOf, format, items, pattern, properties, type, $defs } = rest
  if (anyOf !== oneOf && oneOf !== undefined) return undefined
  if (type === undefined && anyOf === undefined) return undefined
  // Look-around is not allowed.
  if (!strictFormats.has(format) || (typeof pattern === 'string' && /\(\?[=!<]/.test(pattern))) return undefined
  const within: Record<string, Json | undefined> = {}
  if ($defs !== undefined) within['$defs'] = allStrict($defs, depth)
  if (anyOf !== undefined) within['anyOf'] = eachStrict(anyOf, depth)
  if (items !== undefined || includesType(type, 'array')) within['items'] = strictForm(items, depth - 1)
  if (properties !== undefined || includesType(type, 'object')) {
    if (!isClosable(schema)) return undefined
    within['properties'] = allStrict(properties, depth - 1)
    within['additionalProperties'] = false
  }
  return Object.values(within).includes(undefined) ? undefined : { ...rest, ...within }
}

/** Strict mode requires all properties, and allows no further ones. */
function isClosable({ additionalProperties = false, properties, required }: JsonObject): boolean {
  const names = Array.isArray(required) ? required : []
  return (
    additionalProperties === false &&
    isObject(properties) &&
    Object.keys(properties).every((name) => names.includes(name))
  )
}

function allStrict(schemas: Json | undefined, depth: number): JsonObject | undefined {
  if (!isObject(schemas)) return undefined
  const strict = Object.entries(schemas).map(([name, schema]) => [name, strictForm(schema, depth)] as const)
  return strict.some(([, schema]) => schema === undefined) ? undefined : Object.fromEntries(strict)
}

function eachStrict(schemas: Json, depth: number): Json[] | undefined {
  if (!Array.isArray(schemas)) return undefined
  const strict: JsonObject[] = []
  for (const schema of schemas as readonly Json[]) {
    const form = strictForm(schema, depth)
    if (form !== undefined) strict.push(form)
  }
  return strict.length === schemas.length ? strict : undefined
}
