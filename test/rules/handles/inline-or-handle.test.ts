import { describe, expect, it } from 'vitest'
import { inlineOrHandle, storedText } from '../../../src/rules/handles/inline-or-handle.ts'
import type { Json } from '../../../src/base/json.ts'

const list = (length: number, item: Json): Json[] => Array.from({ length }, () => item)
const object = (length: number, item: Json) =>
  Object.fromEntries(list(length, item).map((value, index) => [`k${index}`, value]))

describe('a value of a tool', () => {
  it.each<[string, Json]>([
    ['null', null],
    ['a scalar, however long', 'x'.repeat(20_000)],
    ['a list of 50 scalars', list(50, 1)],
    ['an object of 60 scalars', object(60, 1)],
    ['a list of 10 entries that are not all scalars', list(10, [1])],
    ['an object of 10 entries that are not all scalars', object(10, {})],
    ['10,000 bytes of JSON', ['x'.repeat(9_996)]],
  ])('is inline: %s', (_, value) => {
    expect(inlineOrHandle(value)).toBe('inline')
  })

  it.each<[string, Json]>([
    ['a list of 51 scalars', list(51, 1)],
    ['a list of 11 entries that are not all scalars', [...list(10, 1), []]],
    ['an object of 11 entries that are not all scalars', { ...object(10, 1), last: [] }],
    ['10,001 bytes of JSON', ['x'.repeat(9_997)]],
    ['10,001 bytes in fewer characters', ['é'.repeat(4_999)]],
  ])('goes to a handle: %s', (_, value) => {
    expect(inlineOrHandle(value)).toBe('handle')
  })

  it('that went to a handle is its shape and the name of the handle', () => {
    expect(storedText('list of 51 numbers: 1, …', '.h_001')).toBe('list of 51 numbers: 1, …\n[stored as .h_001]')
  })
})
