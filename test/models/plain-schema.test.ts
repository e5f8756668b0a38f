import { describe, expect, it } from 'vitest'
import { plainSchema } from '../../src/models/plain-schema.ts'
import type { Json, JsonObject } from '../../src/base/json.ts'

const words = new Set(['type', 'description', 'properties', 'required', 'items', 'enum'])
const types = new Set<unknown>(['array', 'boolean', 'integer', 'number', 'object', 'string'])

/** What is in a schema besides the words that each server knows. */
function strangeIn(schema: Json | undefined): readonly string[] {
  const { items, properties = {}, ...part } = schema as JsonObject
  const strange = Object.keys(part).filter((word) => !words.has(word))
  if (!types.has(part['type'])) strange.push(`type ${JSON.stringify(part['type'])}`)
  const inner = [...Object.values(properties as JsonObject), ...(items === undefined ? [] : [items])]
  return [...strange, ...inner.flatMap((each) => strangeIn(each as Json))]
}

describe('a schema in plain words', () => {
  it('has types, properties, items and texts to choose from', () => {
    const schema: JsonObject = {
      type: 'object',
      additionalProperties: false,
      properties: {
        path: { type: 'string', minLength: 1, format: 'uri', pattern: '^/', description: 'Where.' },
        level: { enum: ['low', 'high'] },
        mode: { const: 'fast' },
        count: { type: ['integer', 'null'], exclusiveMinimum: 0 },
        either: { anyOf: [{ type: 'null' }, { type: 'array', items: { type: 'number' } }, { type: 'string' }] },
        flag: { enum: [true] },
        rows: { type: 'array', items: { type: 'object', properties: { a: {} }, required: ['a', 'b'] } },
        list: { type: 'array' },
        pair: { prefixItems: [{ type: 'string' }], items: { type: 'string' } },
        any: {},
      },
      required: ['path'],
    }
    const plain = plainSchema(schema)
    expect(strangeIn(plain)).toEqual([])
    expect(plain['required']).toEqual(['path'])
    expect(plain['properties']).toMatchObject({
      path: { type: 'string', description: 'Where.' },
      level: { type: 'string', enum: ['low', 'high'] },
      mode: { type: 'string', enum: ['fast'] },
      count: { type: 'integer' },
      either: { type: 'array', items: { type: 'number' }, description: 'Or: [{"type":"string"}]' },
      flag: { type: 'boolean' },
      rows: {
        items: { type: 'object', properties: { a: { type: 'string' }, b: { type: 'string' } }, required: ['a', 'b'] },
      },
      list: { items: { type: 'string' } },
      pair: { type: 'array' },
      any: { type: 'string' },
    })
  })

  it('ends where a schema holds itself, or goes on without end', () => {
    const tree: JsonObject = {
      type: 'object',
      properties: { children: { type: 'array', items: { $ref: '#' } } },
    }
    const deep = Array.from({ length: 40 }).reduce<JsonObject>(
      (inner) => ({ type: 'object', properties: { inner } }),
      {},
    )
    for (const schema of [tree, deep]) {
      expect(strangeIn(plainSchema(schema))).toEqual([])
      expect(JSON.stringify(plainSchema(schema)).length).toBeLessThan(1_000)
    }
  })
})
