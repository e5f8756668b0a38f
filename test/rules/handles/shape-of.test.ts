import { describe, expect, it } from 'vitest'
import { kindOf, maxShapeChars, shapeOf } from '../../../src/rules/handles/shape-of.ts'
import type { Json } from '../../../src/base/json.ts'

describe('the shape of a value', () => {
  it.each<[string, Json]>([
    ['null', null],
    ['number 4.5', 4.5],
    ['boolean true', true],
    ['text "one line"', 'one line'],
    ['text of 11 characters in 2 lines: "first\\nlines"…', 'first\nlines'],
    ['empty list', []],
    ['list of 9 numbers: 1, 2, 3, 4, 5, 6, 7, 8, …', [1, 2, 3, 4, 5, 6, 7, 8, 9]],
    ['list of 3 entries: 1, "two", null', [1, 'two', null]],
    ['list of 2 entries (1 list, 1 number)', [[1, 'a'], 2]],
    [
      'matrix of 2 rows and 3 columns',
      [
        [1, 2, 3],
        [4, 5, 6],
      ],
    ],
    [
      'table of 2 rows: id number, name text|null, more object',
      [
        { id: 1, name: 'a' },
        { id: 2, more: {}, name: null },
      ],
    ],
    ['empty object', {}],
    ['object of 2 entries: list list of 1, of object of 0', { list: ['a'], of: {} }],
  ])('is %s', (shape, value) => {
    expect(shapeOf(value)).toBe(shape)
  })

  it('names the first 8 entries, and counts the rest', () => {
    const value = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`k${index}`, index]))
    expect(shapeOf(value)).toBe(
      'object of 20 entries: k0 number, k1 number, k2 number, k3 number, k4 number, k5 number, k6 number, k7 number, and 12 more',
    )
  })

  it('is one line of bounded length, whatever stands in it', () => {
    const name = `${'😀'.repeat(500)}\n`
    for (const value of [name, [name], { [name]: name }, [{ [name]: name }], Array.from({ length: 30 }, () => name)]) {
      const shape = shapeOf(value)
      expect(shape.length).toBeLessThanOrEqual(maxShapeChars)
      expect(shape).not.toContain('\n')
      expect(shape.isWellFormed()).toBe(true)
    }
  })
})

describe('the kind of a value', () => {
  it.each<[string, Json]>([
    ['table', [{}, {}]],
    ['matrix', [[1], [2]]],
    ['list', [[1], [2, 3]]],
    ['list', [[1], ['a']]],
    ['list', []],
  ])('is %s', (kind, value) => {
    expect(kindOf(value)).toBe(kind)
  })
})
