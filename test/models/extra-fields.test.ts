import { describe, expect, it } from 'vitest'
import { addFields, extraOf, unknownFields } from '../../src/models/extra-fields.ts'

/** What the pieces of a stream are together. */
function together(...pieces: readonly Readonly<Record<string, unknown>>[]): Readonly<Record<string, unknown>> {
  const fields: Record<string, unknown> = {}
  for (const piece of pieces) addFields(fields, structuredClone(piece))
  return fields
}

const reasoning = (more: object) => ({ details: [{ type: 'r', ...more }] })

describe('fields that come in pieces', () => {
  it.each([
    ['texts are joined', [{ text: 'a' }, { text: 'b' }], { text: 'ab' }],
    ['names are replaced', [{ format: 'v1' }, { format: 'v1' }], { format: 'v1' }],
    ['a signature in pieces is joined', [{ signature: 'a' }, { signature: 'b' }], { signature: 'ab' }],
    ['a signature that is repeated stays', [{ signature: 'ab' }, { signature: 'ab' }], { signature: 'ab' }],
    ['null takes nothing away', [{ a: { b: 1 } }, { a: null }, { a: { c: null } }], { a: { b: 1, c: null } }],
    ['objects are joined', [{ a: { b: 1 } }, { a: { c: 2 } }], { a: { b: 1, c: 2 } }],
    ['numbers of a list have each a place', [{ ids: [1] }, { ids: [1] }], { ids: [1, 1] }],
    [
      'items of an index go on in any order',
      [reasoning({ index: 0, text: 'a' }), reasoning({ index: 1, text: 'c' }), reasoning({ index: 0, text: 'b' })],
      {
        details: [
          { type: 'r', index: 0, text: 'ab' },
          { type: 'r', index: 1, text: 'c' },
        ],
      },
    ],
    [
      'an item without an index does not go on one with it',
      [reasoning({ index: 0, text: 'a' }), reasoning({ text: 'b' })],
      {
        details: [
          { type: 'r', index: 0, text: 'a' },
          { type: 'r', text: 'b' },
        ],
      },
    ],
    [
      'an item of another type begins',
      [reasoning({ text: 'a' }), { details: [{ type: 'o', text: 'b' }] }],
      {
        details: [
          { type: 'r', text: 'a' },
          { type: 'o', text: 'b' },
        ],
      },
    ],
    [
      'an item of one index and another type begins',
      [reasoning({ index: 0, text: 'a' }), { details: [{ type: 'o', index: 0, text: 'b' }] }],
      {
        details: [
          { type: 'r', index: 0, text: 'a' },
          { type: 'o', index: 0, text: 'b' },
        ],
      },
    ],
    [
      'an item of another id begins',
      [reasoning({ id: '1', text: 'a' }), reasoning({ id: '2', text: 'b' })],
      {
        details: [
          { type: 'r', id: '1', text: 'a' },
          { type: 'r', id: '2', text: 'b' },
        ],
      },
    ],
    [
      'an item goes on where a piece leaves out its id',
      [reasoning({ id: '1', text: 'a' }), reasoning({ text: 'b' })],
      { details: [{ type: 'r', id: '1', text: 'ab' }] },
    ],
    [
      'behind a signed item another begins',
      [reasoning({ text: 'a', signature: 's' }), reasoning({ text: 'b' })],
      {
        details: [
          { type: 'r', text: 'a', signature: 's' },
          { type: 'r', text: 'b' },
        ],
      },
    ],
    [
      'behind an encrypted item another begins',
      [reasoning({ data: 'd' }), reasoning({ data: 'e' })],
      {
        details: [
          { type: 'r', data: 'd' },
          { type: 'r', data: 'e' },
        ],
      },
    ],
  ])('%s', (_, pieces, whole) => {
    expect(together(...pieces)).toEqual(whole)
  })

  it('go on an item that lies back as far as others came between', () => {
    const pieces = Array.from({ length: 40 }, (_, index) => reasoning({ index, text: 'a' }))
    const { details } = together(...pieces, reasoning({ index: 3, text: 'b' }))
    expect(details).toHaveLength(40)
    expect((details as object[])[3]).toMatchObject({ text: 'ab' })
  })
})

it('a field without a value is none', () => {
  expect(unknownFields({ a: null, b: '', c: [], d: undefined, e: 0, f: false, known: 1 }, new Set(['known']))).toEqual({
    e: 0,
    f: false,
  })
  expect([extraOf('local', {}), extraOf('local', { e: 0 })]).toEqual([
    {},
    { extra: { provider: 'local', fields: { e: 0 } } },
  ])
})
