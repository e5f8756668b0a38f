import { canonical } from '../world/canonical.ts'
import type { Json, JsonObject } from '../base/json.ts'
import { oncePerObject } from '../rules/once-per.ts'
import { cutText } from '../base/cut-text.ts'
import {
  currentWords,
  includesType,
  isObject,
  isSchema,
  listWords,
  namesIn,
  schemaWords,
  tableWords,
} from './schema-words.ts'

/** Keywords that providers refuse beside the `type` of a tool's arguments; `$ref` is followed. */
const refusedOnTop = ['anyOf', 'oneOf', 'allOf', 'not', 'enum', 'const', 'if', 'then', 'else', '$ref'] as const
/** They say nothing about a value. */
const annotations: ReadonlySet<string> = new Set([
  'description',
  'title',
  'default',
  'examples',
  'deprecated',
  '$comment',
])

/** Schemas that are put in place of references, so that they do not multiply. */
const maxFollowed = 200
/** Characters of a condition in a description. */
const maxNoteChars = 2_000
/** Deeper parts stay as they are. */
const maxDepth = 60
/** Names of arguments that every provider takes. */
const plainName = /^[a-zA-Z0-9_.-]{1,64}$/

/**
 * A tool's schema as all providers accept it: an object with `properties`, without alternatives and conditions at its top, with
 * `items` for each array, and references only where a schema holds itself. It allows what the schema allows, and maybe more: what
 * cannot be said is in its description, and arguments are checked against the tool's own schema.
 */
export const acceptedSchema = oncePerObject((schema: JsonObject): JsonObject => {
  const accepted = canonical(new AcceptedSchema(schema).result, () => 'A schema') as JsonObject
  // The bytes of one that needs no change stay, and with them the provider's cache.
  return isEqual(
    accepted,
    canonical(schema, () => 'A schema'),
  )
    ? schema
    : accepted
})

class AcceptedSchema {
  readonly result: JsonObject
  readonly #root: JsonObject
  /** Schemas that hold themselves, under the names that they get. */
  readonly #shared = new Map<string, string>()
  readonly #defs: Record<string, Json> = {}
  #followed = 0

  constructor(root: JsonObject) {
    this.#root = root
    const top = this.#onTop(root)
    const { $defs: _, definitions: __, ...rest } = top
    this.result = Object.keys(this.#defs).length === 0 ? rest : { ...rest, $defs: this.#defs }
  }

  #onTop(root: JsonObject): JsonObject {
    const { alternatives, conditions, merged } = this.#merged(root, [])
    const { $schema: _, $id: __, id: ___, properties, required, type: ____, ...rest } = merged
    const part = this.#accepted({ ...rest, type: 'object', properties: isObject(properties) ? properties : {} }, [])
    const { properties: known = {}, description, ...others } = part
    const [taken, odd] = splitBy(known as JsonObject, (name) => plainName.test(name))
    const names = namesIn(required).filter((name) => !(name in odd) && plainName.test(name))
    const notes = [...alternatives, ...conditions]
    if (Object.keys(odd).length > 0) notes.push(`Further arguments, by name: ${shown(odd)}`)
    const text = [typeof description === 'string' ? description : '', ...notes].filter((note) => note !== '').join('\n')
    return {
      type: 'object',
      properties: withNamed(taken, names),
      ...((names.length > 0 || Array.isArray(root['required'])) && { required: names }),
      ...others,
      ...(text !== '' && { description: text }),
    }
  }

  /** The properties of a schema, and of all that it is made of. */
  #merged(schema: JsonObject, followed: readonly string[]): Merged {
    const [refused, own] = splitBy(schema, (word) => refusedOnTop.includes(word as '$ref'))
    let merged: JsonObject = own
    const alternatives: string[] = []
    const conditions: string[] = []
    const add = (part: JsonObject, isRequired: boolean, path: readonly string[]): void => {
      const inner = this.#merged(part, path)
      merged = withProperties(merged, inner.merged, isRequired)
      alternatives.push(...inner.alternatives)
      conditions.push(...inner.conditions)
    }
    const { $ref: ref, allOf, anyOf, oneOf, ...others } = refused
    if (typeof ref === 'string' && !followed.includes(ref)) {
      const target = this.#target(ref)
      if (target !== undefined) add(target, true, [...followed, ref])
    }
    for (const part of objectsOf(allOf)) add(part, true, followed)
    for (const [word, parts] of [
      ['one', objectsOf(oneOf)],
      ['at least one', objectsOf(anyOf)],
    ] as const) {
      if (parts.length === 0) continue
      const variants = parts.map((part) => this.#merged(part, followed).merged)
      const inAll = namesIn(variants[0]?.['required']).filter((name) => {
        return variants.every((variant) => namesIn(variant['required']).includes(name))
      })
      // A variant closes itself, and not the others.
      for (const { additionalProperties: _, ...variant } of variants) merged = withVariant(merged, variant)
      merged = { ...merged, required: [...new Set([...namesIn(merged['required']), ...inAll])] }
      alternatives.push(`The arguments must fit ${word} of: ${shown(parts)}`)
    }
    const rest = Object.entries(others).filter(([, value]) => value !== undefined)
    if (rest.length > 0) conditions.push(`The arguments must also fit: ${shown(Object.fromEntries(rest))}`)
    return { alternatives, conditions, merged }
  }

  #accepted(schema: Json | undefined, followed: readonly string[]): JsonObject {
    if (!isObject(schema)) return schema === false ? { not: {} } : {}
    if (followed.length > maxDepth) return schema
    const { $ref: ref, definitions: _, $defs: __, $id: ___, ...rest } = schema
    if (typeof ref === 'string') return this.#inPlace(ref, rest, followed)
    const part = withTypedVariants(currentWords(rest))
    // Only the length counts: how deep a part lies.
    const deeper = [...followed, '']
    for (const word of schemaWords) if (isSchema(part[word])) part[word] = this.#inner(part[word], deeper)
    for (const word of listWords) {
      const list = part[word]
      if (Array.isArray(list)) part[word] = (list as readonly Json[]).map((each) => this.#accepted(each, deeper))
    }
    for (const word of tableWords) {
      const table = part[word]
      if (isObject(table)) part[word] = mapped(table, (each) => this.#accepted(each, deeper))
    }
    if (includesType(part['type'], 'object'))
      part['properties'] = withNamed(part['properties'], namesIn(part['required']))
    if (includesType(part['type'], 'array') && !isSchema(part['items'])) part['items'] = {}
    return part
  }

  /** Of closed objects and lists `false` is known everywhere, and `true` is the same as nothing. */
  #inner(schema: Json | undefined, followed: readonly string[]): Json {
    return typeof schema === 'boolean' ? schema : this.#accepted(schema, followed)
  }

  /** What a reference means, in its place; a reference again, where a schema holds itself. */
  #inPlace(ref: string, beside: JsonObject, followed: readonly string[]): JsonObject {
    const target = this.#target(ref)
    if (target === undefined) return this.#accepted({ ...beside, description: noteOn(beside, ref) }, [...followed, ''])
    const known = this.#shared.get(ref)
    if (known !== undefined || followed.includes(ref) || this.#followed >= maxFollowed) {
      return { ...beside, $ref: `#/$defs/${known ?? this.#share(ref, target)}` }
    }
    this.#followed++
    const put = this.#accepted(target, [...followed, ref])
    const shared = this.#shared.get(ref)
    if (shared !== undefined) return { ...beside, $ref: `#/$defs/${shared}` }
    const isAnnotated = Object.keys(beside).every((word) => annotations.has(word))
    if (isAnnotated) return { ...put, ...beside }
    return { allOf: [put, this.#accepted(beside, [...followed, ''])] }
  }

  #share(ref: string, target: JsonObject): string {
    const last =
      ref
        .split('/')
        .at(-1)
        ?.replaceAll(/[^a-zA-Z0-9_.-]/g, '_') || 'Arguments'
    let name = last === '_' ? 'Arguments' : last
    for (let count = 2; name in this.#defs; count++) name = `${last}_${count}`
    this.#shared.set(ref, name)
    this.#defs[name] = {}
    this.#defs[name] = this.#accepted(target, [])
    return name
  }

  /** `undefined`: it leads out of the schema, or nowhere. */
  #target(ref: string): JsonObject | undefined {
    if (ref !== '#' && !ref.startsWith('#/')) return undefined
    let place: Json | undefined = this.#root
    for (const step of ref.split('/').slice(1)) {
      const name = decoded(step).replaceAll('~1', '/').replaceAll('~0', '~')
      if (Array.isArray(place)) place = (place as readonly Json[])[Number(name)]
      else place = isObject(place) && Object.hasOwn(place, name) ? place[name] : undefined
    }
    return isObject(place) ? place : undefined
  }
}

interface Merged {
  readonly merged: JsonObject
  /** For the model. */
  readonly alternatives: readonly string[]
  readonly conditions: readonly string[]
}

/** Some providers want the type of alternatives in each of them, and not beside them. */
function withTypedVariants({ type, ...part }: Record<string, Json>): Record<string, Json> {
  const words = (['anyOf', 'oneOf'] as const).filter((word) => Array.isArray(part[word]))
  if (type === undefined || words.length === 0) return type === undefined ? part : { ...part, type }
  for (const word of words) {
    part[word] = (part[word] as readonly Json[]).map((variant) => {
      const isTyped = !isObject(variant) || ['type', '$ref', 'anyOf', 'oneOf'].some((name) => name in variant)
      return isTyped ? variant : { ...variant, type }
    })
  }
  return part
}

/** Both must fit. */
function withProperties(schema: JsonObject, more: JsonObject, isRequired: boolean): JsonObject {
  const { properties: added, required, ...rest } = more
  const properties: Record<string, Json> = { ...tableOf(schema['properties']) }
  for (const [name, value] of Object.entries(tableOf(added))) {
    const before = properties[name]
    properties[name] = before === undefined || isEqual(before, value) ? value : { allOf: [before, value] }
  }
  const names = isRequired ? namesIn(required) : []
  return {
    ...rest,
    ...schema,
    properties,
    required: [...new Set([...namesIn(schema['required']), ...names])],
  }
}

/** One of the variants must fit: a property that they have in common may be what either says. */
function withVariant(schema: JsonObject, variant: JsonObject): JsonObject {
  const properties: Record<string, Json> = { ...tableOf(schema['properties']) }
  for (const [name, value] of Object.entries(tableOf(variant['properties']))) {
    properties[name] = eitherOf(properties[name], value)
  }
  const { required: _, properties: __, description: ___, title: ____, ...rest } = variant
  return { ...rest, ...schema, properties }
}

function eitherOf(before: Json | undefined, value: Json): Json {
  if (before === undefined || isEqual(before, value)) return value
  const values = [...valuesOf(before), ...valuesOf(value)]
  if (valuesOf(before).length > 0 && valuesOf(value).length > 0) {
    const { const: _, enum: __, ...rest } = before as JsonObject
    return {
      ...rest,
      enum: values.filter((each, index) => values.findIndex((other) => isEqual(other, each)) === index),
    }
  }
  const alternatives =
    isObject(before) && Object.keys(before).join() === 'anyOf' ? (before['anyOf'] as Json[]) : [before]
  return alternatives.some((each) => isEqual(each, value)) ? before : { anyOf: [...alternatives, value] }
}

/** The values that a property is tied to. */
function valuesOf(schema: Json): readonly Json[] {
  if (!isObject(schema)) return []
  if (schema['const'] !== undefined) return [schema['const']]
  return Array.isArray(schema['enum']) ? (schema['enum'] as readonly Json[]) : []
}

function noteOn({ description }: JsonObject, ref: string): string {
  const note = `As ${ref} says.`
  return typeof description === 'string' && description !== '' ? `${description}\n${note}` : note
}

/** Some providers want a property for each name that is required. */
function withNamed(properties: Json | undefined, names: readonly string[]): JsonObject {
  const known = tableOf(properties)
  const unknown = names.filter((name) => !Object.hasOwn(known, name))
  return { ...known, ...Object.fromEntries(unknown.map((name) => [name, {}])) }
}

function shown(value: Json): string {
  return cutText(JSON.stringify(value), maxNoteChars)
}

function decoded(step: string): string {
  try {
    return decodeURIComponent(step)
  } catch {
    return step
  }
}

function splitBy(table: JsonObject, test: (name: string) => boolean): readonly [JsonObject, JsonObject] {
  const entries = Object.entries(table) as [string, Json][]
  return [
    Object.fromEntries(entries.filter(([name]) => test(name))),
    Object.fromEntries(entries.filter(([name]) => !test(name))),
  ]
}

function mapped(table: JsonObject, map: (schema: Json) => Json): JsonObject {
  return Object.fromEntries(Object.entries(table).map(([name, schema]) => [name, map(schema as Json)]))
}

function objectsOf(list: Json | undefined): readonly JsonObject[] {
  return Array.isArray(list) ? (list as readonly Json[]).filter(isObject) : []
}

function tableOf(value: Json | undefined): Record<string, Json> {
  return isObject(value) ? (value as Record<string, Json>) : {}
}

function isEqual(one: Json, other: Json): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}
