import { canonical } from '../world/canonical.ts'
import type { Json, JsonObject } from '../base/json.ts'
import { oncePerObject } from '../rules/once-per.ts'
import { cutText } from '../base/cut-text.ts'
import { isObject, namesIn } from './schema-words.ts'
import { acceptedSchema } from './tool-schema.ts'

/** Deeper parts are objects of any form. */
const maxDepth = 8
/** Characters of what a part leaves out, in its description. */
const maxNoteChars = 500

/**
 * A tool's schema in the few words that each server knows: types, descriptions, properties, items and values that are texts. For
 * a server that has refused it as `acceptedSchema` gives it. Arguments are checked against the tool's own schema.
 */
export const plainSchema = oncePerObject((schema: JsonObject): JsonObject => {
  return canonical({ ...plain(acceptedSchema(schema), 0), type: 'object' }, () => 'A schema') as JsonObject
})

function plain(schema: Json | undefined, depth: number): Record<string, Json> {
  if (!isObject(schema)) return { type: 'string' }
  const { allOf, anyOf, oneOf, ...own } = schema
  const [first, ...others] = [allOf, anyOf, oneOf].flatMap(variantsIn)
  const part: JsonObject = { ...first, ...own }
  const { const: value, description, enum: values = value === undefined ? undefined : [value] } = part
  const type = typeOf(part)
  const note = others.length === 0 ? '' : `Or: ${cutText(JSON.stringify(others), maxNoteChars)}`
  const text = [typeof description === 'string' ? description : '', note].filter((each) => each !== '').join('\n')
  return {
    type,
    ...(text !== '' && { description: text }),
    ...(type === 'string' && isTexts(values) && { enum: values }),
    ...(type === 'object' && objectParts(part, depth)),
    ...(type === 'array' && { items: plain(part['items'], depth + 1) }),
  }
}

function objectParts({ properties, required }: JsonObject, depth: number): JsonObject {
  const known = depth < maxDepth && isObject(properties) ? Object.entries(properties) : []
  const names = namesIn(required).filter((name) => known.some(([key]) => key === name))
  return {
    properties: Object.fromEntries(known.map(([name, part]) => [name, plain(part as Json, depth + 1)])),
    ...(names.length > 0 && { required: names }),
  }
}

/** Without those that are `null`. */
function variantsIn(list: Json | undefined): readonly JsonObject[] {
  return Array.isArray(list) ? (list as readonly Json[]).filter(isObject).filter(({ type }) => type !== 'null') : []
}

function typeOf({ $ref: ref, enum: values, items, properties, type }: JsonObject): string {
  const name = [type].flat().find((each) => each !== 'null')
  if (typeof name === 'string') return name
  if (properties !== undefined || ref !== undefined) return 'object'
  if (items !== undefined) return 'array'
  const [first] = Array.isArray(values) ? (values as readonly Json[]) : []
  return typeof first === 'number' || typeof first === 'boolean' ? typeof first : 'string'
}

function isTexts(values: Json | undefined): values is readonly string[] {
  return Array.isArray(values) && values.every((value) => typeof value === 'string' && value !== '')
}
