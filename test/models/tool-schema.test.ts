import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { acceptedSchema } from '../../src/models/tool-schema.ts'
import { checkJson } from '../../src/rules/text/schema-issues.ts'
import { jsonSchemaOf } from '../../src/rules/text/json-schema-of.ts'
import type { Json, JsonObject } from '../../src/base/json.ts'

const text = { type: 'string' }
const objectOf = (properties: JsonObject, required: readonly string[] = []): JsonObject => {
  return { type: 'object', properties, required: [...required] }
}

const types: ReadonlySet<unknown> = new Set(['array', 'boolean', 'integer', 'null', 'number', 'object', 'string'])

/** As the draft that strict providers read has it. */
function isOfDraft(word: string, value: Json): boolean {
  if (['title', 'description', 'pattern', 'format'].includes(word)) return typeof value === 'string'
  if (['allOf', 'anyOf', 'oneOf', 'prefixItems', 'enum'].includes(word)) return Array.isArray(value) && value.length > 0
  return value !== null || ['const', 'default'].includes(word)
}

/** What no provider of all takes: at the top, and deeper. */
function problemsOf(schema: JsonObject): readonly string[] {
  const problems: string[] = []
  if (schema['type'] !== 'object') problems.push('no type object')
  for (const word of ['anyOf', 'oneOf', 'allOf', 'not', 'enum', '$ref', 'if']) {
    if (word in schema) problems.push(`${word} on top`)
  }
  const visit = (part: Json | undefined): void => {
    if (part === null) problems.push('null')
    if (typeof part !== 'object' || part === null || Array.isArray(part)) return
    const { $ref: ref, items, properties, required = [], type, ...words } = part as JsonObject
    for (const [word, value] of Object.entries(words))
      if (!isOfDraft(word, value as Json)) problems.push(`${word}: ${JSON.stringify(value)}`)
    if (![type].flat().every((name) => name === undefined || types.has(name)))
      problems.push(`type ${JSON.stringify(type)}`)
    if (new Set(required as string[]).size < (required as string[]).length) problems.push('a name twice')
    const lacking = (required as string[]).filter((name) => !(name in ((properties as object | undefined) ?? {})))
    if (type === 'object' && lacking.length > 0) problems.push(`no property ${lacking.join()}`)
    if (typeof ref === 'string' && !((ref.split('/')[2] ?? '') in ((schema['$defs'] as object | undefined) ?? {})))
      problems.push(`no ${ref}`)
    if (type === 'object' && properties === undefined) problems.push('no properties')
    if (type !== undefined && ('anyOf' in words || 'oneOf' in words)) problems.push('a type beside alternatives')
    if (type === 'array' && (items === undefined || Array.isArray(items))) problems.push('no items')
    for (const name of ['properties', '$defs', 'patternProperties']) {
      for (const inner of Object.values((part as Record<string, object | undefined>)[name] ?? {})) visit(inner as Json)
    }
    for (const name of ['anyOf', 'oneOf', 'allOf', 'prefixItems']) {
      for (const inner of (part as Record<string, Json[] | undefined>)[name] ?? []) visit(inner)
    }
    for (const name of ['items', 'not', 'additionalProperties']) visit((part as JsonObject)[name])
  }
  visit(schema)
  return problems
}

const modes = z.discriminatedUnion('mode', [
  z.object({ mode: z.literal('preview'), path: z.string() }),
  z.object({ mode: z.literal('apply'), path: z.string(), force: z.boolean() }),
])
const tree = z.object({
  name: z.string(),
  get children() {
    return z.array(tree)
  },
})

/** Schemas as servers and programs have them, with arguments that fit. */
const samples: Readonly<Record<string, readonly [schema: JsonObject, ...fitting: Json[]]>> = {
  'without properties': [{ type: 'object' }, {}, { any: 1 }],
  open: [{ type: 'object', additionalProperties: {} }, { any: 1 }],
  'a union of requirements': [
    { type: 'object', properties: { id: text, url: text }, anyOf: [{ required: ['id'] }, { required: ['url'] }] },
    { id: 'a' },
    { url: 'b' },
  ],
  'a union of objects': [
    jsonSchemaOf(modes, 'test'),
    { mode: 'preview', path: 'a' },
    { mode: 'apply', path: 'a', force: true },
  ],
  'one of objects that are closed': [
    {
      type: 'object',
      oneOf: [
        { ...objectOf({ a: text }), additionalProperties: false },
        { ...objectOf({ b: text }), additionalProperties: false },
      ],
    },
    { a: 'x' },
    { b: 'x' },
  ],
  'a union within a union': [
    { anyOf: [{ oneOf: [objectOf({ a: text }, ['a']), objectOf({ b: text }, ['b'])] }, objectOf({ c: text }, ['c'])] },
    { a: 'x' },
    { c: 'x' },
  ],
  'all of several': [
    { allOf: [objectOf({ a: text }, ['a']), { $ref: '#/$defs/b' }], $defs: { b: objectOf({ b: text }, ['b']) } },
    { a: 'x', b: 'y' },
  ],
  conditions: [
    {
      ...objectOf({ a: text, b: text }),
      not: { required: ['a', 'b'] },
      if: { required: ['a'] },
      else: { properties: { a: { minLength: 1 } } },
      enum: [{ a: 'x' }, { b: 'x' }],
    },
    { a: 'x' },
  ],
  'a type beside alternatives': [
    objectOf({
      level: { type: 'string', anyOf: [{ enum: ['low'] }, { pattern: '^h' }] },
      task: {
        type: 'object',
        properties: { id: text, url: text },
        oneOf: [{ required: ['id'] }, { required: ['url'] }],
      },
      any: { type: ['string', 'null'], anyOf: [{ type: 'string' }, { $ref: '#/$defs/none' }, {}] },
    }),
    { level: 'high', task: { id: 'a' }, any: null },
    { level: 'low', task: { url: 'b' }, any: 'x' },
  ],
  'a list without items': [
    objectOf({ list: { type: 'array' }, lists: { type: ['array', 'null'] } }),
    { list: [1], lists: null },
  ],
  'a tuple of an older draft': [
    objectOf({ pair: { type: 'array', items: [text, { type: 'number' }] } }),
    { pair: ['a', 1] },
  ],
  'a bound of an older draft': [objectOf({ n: { type: 'number', minimum: 0, exclusiveMinimum: true } }), { n: 1 }],
  'definitions of an older draft': [
    {
      ...objectOf({ a: { $ref: '#/definitions/a' }, b: { $ref: '#/definitions/a' } }),
      definitions: { a: objectOf({ x: text }) },
    },
    { a: { x: 'x' } },
  ],
  'a reference on top': [
    { $ref: '#/$defs/args', $defs: { args: objectOf({ a: { $ref: '#/$defs/t' } }, ['a']), t: text } },
    { a: 'x' },
  ],
  'an object that holds itself': [jsonSchemaOf(tree, 'test'), { name: 'a', children: [{ name: 'b', children: [] }] }],
  'objects that hold each other': [
    {
      ...objectOf({ a: { $ref: '#/$defs/a' } }),
      $defs: { a: objectOf({ b: { $ref: '#/$defs/b' } }), b: objectOf({ a: { $ref: '#/$defs/a' } }) },
    },
    { a: { b: { a: {} } } },
  ],
  'a reference that leads nowhere': [
    objectOf({ a: { $ref: '#/$defs/gone' }, b: { $ref: 'https://example.com/b' } }),
    { a: 1 },
  ],
  'names like keywords': [
    objectOf(
      {
        properties: objectOf({ title: text }),
        pattern: text,
        required: { type: 'boolean' },
        type: text,
        $ref: text,
        anyOf: text,
      },
      ['properties'],
    ),
    { properties: { title: 'a' }, type: 'b', $ref: 'c' },
  ],
  'names that some refuse': [
    objectOf({ $top: { type: 'integer' }, 'filter[name]': text, a: text }, ['a', '$top']),
    { a: 'x', $top: 3 },
  ],
  'what has no meaning': [
    objectOf({
      a: { type: 'string', description: null, enum: null, minLength: null, pattern: false },
      b: { type: 'object', properties: [], required: null, additionalProperties: null },
      c: { type: 'array', items: [], prefixItems: [] },
      d: { anyOf: [], allOf: null, enum: [], title: 3, items: null, not: null },
      e: { type: 'object', properties: { f: null } },
    }),
    { a: 'x', b: { y: 1 }, c: [1], d: 'x', e: { f: 1 } },
  ],
  'types of other languages': [
    objectOf({
      a: { type: 'STRING' },
      b: { type: 'int' },
      c: { type: ['float', 'None'] },
      d: { type: 'any' },
      e: { type: ['string', 'any'] },
      f: { type: 'dict' },
      g: { type: 'list' },
      h: { type: [] },
    }),
    { a: 'x', b: 1, c: null, d: [], e: 3, f: {}, g: [], h: 1 },
  ],
  'required names without a property': [
    objectOf({ a: { type: 'object', required: ['b', 'b', 3] as never } }, ['a', 'c']),
    { a: { b: 1 }, c: 2 },
  ],
  'a reference to an anchor': [
    { ...objectOf({ a: { $ref: '#word' } }), $defs: { word: { $anchor: 'word', ...text } } },
    { a: 'x' },
  ],
  'boolean schemas': [objectOf({ any: true, list: { type: 'array', items: true } }), { any: 1, list: [1] }],
}

describe('a schema with', () => {
  it.each(Object.entries(samples))(
    '%s is one that all providers accept, and allows what it allowed',
    (_, [schema, ...fitting]) => {
      const accepted = acceptedSchema(schema)
      expect(problemsOf(accepted)).toEqual([])
      for (const input of fitting) expect(checkJson(accepted, input)).toBeUndefined()
      // Twice: it is the same, for the provider's cache.
      expect(JSON.stringify(acceptedSchema(structuredClone(schema)))).toBe(JSON.stringify(accepted))
    },
  )

  it('nothing to change is the same object', () => {
    const schema = objectOf({ a: text, list: { type: 'array', items: text } }, ['a'])
    expect(acceptedSchema(schema)).toBe(schema)
  })

  it('alternatives tells the model of them, and keeps what all of them require', () => {
    const accepted = acceptedSchema(jsonSchemaOf(modes, 'test'))
    expect(accepted['required']).toEqual(['mode', 'path'])
    expect(accepted['properties']).toMatchObject({
      mode: { enum: ['preview', 'apply'] },
      path: text,
      force: { type: 'boolean' },
    })
    expect(accepted['description']).toContain('The arguments must fit one of: [{')
  })

  it('the same property of two types lets it be either', () => {
    const { properties } = acceptedSchema({
      anyOf: [objectOf({ a: text }), objectOf({ a: { type: 'number' } }), objectOf({ a: text })],
    })
    expect(properties).toEqual({ a: { anyOf: [text, { type: 'number' }] } })
  })

  it('a type beside alternatives has it in those that have none', () => {
    const { properties } = acceptedSchema({
      ...objectOf({ a: { type: 'string', anyOf: [{ minLength: 1 }, { type: 'null' }, { anyOf: [text] }] } }),
    })
    expect(properties).toEqual({
      a: { anyOf: [{ minLength: 1, type: 'string' }, { type: 'null' }, { anyOf: [text] }] },
    })
  })

  it('conditions that cannot be said tells the model of them', () => {
    const { description } = acceptedSchema({
      ...objectOf({ a: text }),
      description: 'Takes.',
      not: { required: ['a'] },
    })
    expect(description).toBe('Takes.\nThe arguments must also fit: {"not":{"required":["a"]}}')
  })

  it('references that double at each level stays small', () => {
    const $defs = Object.fromEntries(
      Array.from({ length: 40 }, (_, level) => [
        `d${level}`,
        level === 39 ? text : objectOf({ a: { $ref: `#/$defs/d${level + 1}` }, b: { $ref: `#/$defs/d${level + 1}` } }),
      ]),
    )
    const accepted = acceptedSchema({ ...objectOf({ a: { $ref: '#/$defs/d0' } }), $defs })
    expect(problemsOf(accepted)).toEqual([])
    expect(JSON.stringify(accepted).length).toBeLessThan(100_000)
  })
})
