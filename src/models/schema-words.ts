import type { Json, JsonObject } from '../base/json.ts'

/** Keywords whose values are schemas, lists of schemas, and schemas by name. */
export const schemaWords = [
  'additionalProperties',
  'contains',
  'else',
  'if',
  'items',
  'not',
  'propertyNames',
  'then',
  'unevaluatedItems',
  'unevaluatedProperties',
]
export const listWords = ['allOf', 'anyOf', 'oneOf', 'prefixItems']
export const tableWords = ['$defs', 'dependentSchemas', 'patternProperties', 'properties']

/** A schema in the words of the newest draft, without what has no meaning there. Schemas within it stay as they are. */
export function currentWords(schema: JsonObject): Record<string, Json> {
  return meaningful(upToDate(schema))
}

/** Keywords of older drafts in the words of the newest. */
function upToDate(schema: JsonObject): Record<string, Json> {
  const { additionalItems, items, required, ...rest } = schema
  const part = { ...rest } as Record<string, Json>
  if (Array.isArray(items)) {
    if (items.length > 0) part['prefixItems'] = items
    if (additionalItems !== undefined) part['items'] = additionalItems
  } else if (items !== undefined) part['items'] = items
  // Of draft 3, where it stood at the property.
  if (Array.isArray(required)) part['required'] = namesIn(required)
  for (const [word, limit] of [
    ['exclusiveMinimum', 'minimum'],
    ['exclusiveMaximum', 'maximum'],
  ] as const) {
    const bound = part[limit]
    if (typeof part[word] !== 'boolean') continue
    const isExclusive = part[word]
    delete part[word]
    if (!isExclusive || bound === undefined) continue
    delete part[limit]
    part[word] = bound
  }
  return part
}

/** Keywords whose value may be anything, `null` too. */
const valueWords: ReadonlySet<string> = new Set(['const', 'default', 'enum', 'examples'])
const textWords = ['title', 'description', 'pattern', 'format']

/** Without keywords that have no meaning, as servers write them that do not look: providers refuse the whole tool. */
function meaningful(part: Record<string, Json>): Record<string, Json> {
  for (const [word, value] of Object.entries(part)) if (value === null && !valueWords.has(word)) delete part[word]
  for (const word of textWords) if (typeof part[word] !== 'string') delete part[word]
  for (const word of schemaWords) if (!isSchema(part[word])) delete part[word]
  for (const word of tableWords) if (!isObject(part[word])) delete part[word]
  for (const word of [...listWords, 'enum']) if (!isFilledList(part[word])) delete part[word]
  const { type } = part
  if (type === undefined) return part
  delete part['type']
  const names = (Array.isArray(type) ? (type as readonly Json[]) : [type]).map(typeOf)
  const known = [...new Set(names.filter((name) => name !== undefined))]
  // One that is unknown may be any.
  if (known.length > 0 && !names.includes(undefined)) part['type'] = Array.isArray(type) ? known : (known[0] as string)
  return part
}

const types: ReadonlySet<string> = new Set(['array', 'boolean', 'integer', 'null', 'number', 'object', 'string'])
/** As other languages call them. */
const otherTypes: Readonly<Record<string, string>> = {
  bool: 'boolean',
  dict: 'object',
  double: 'number',
  float: 'number',
  int: 'integer',
  list: 'array',
  long: 'integer',
  none: 'null',
  str: 'string',
  text: 'string',
}

/** `undefined`: any. */
function typeOf(name: Json): string | undefined {
  const lower = typeof name === 'string' ? name.toLowerCase() : ''
  if (types.has(lower)) return lower
  return Object.hasOwn(otherTypes, lower) ? otherTypes[lower] : undefined
}

function isFilledList(value: Json | undefined): boolean {
  return Array.isArray(value) && value.length > 0
}

/** The names of a `required`, each once. */
export function namesIn(required: Json | undefined): readonly string[] {
  const names = Array.isArray(required) ? (required as readonly Json[]) : []
  return [...new Set(names.filter((name) => typeof name === 'string'))]
}

/** An object or a boolean. */
export function isSchema(value: Json | undefined): boolean {
  return isObject(value) || typeof value === 'boolean'
}

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Does a `type`, or a list of them, name this one? */
export function includesType(type: Json | undefined, name: string): boolean {
  return Array.isArray(type) ? (type as readonly Json[]).includes(name) : type === name
}
