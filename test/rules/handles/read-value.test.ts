import { describe, expect, it } from 'vitest'
import { readValue } from '../../../src/rules/handles/read-value.ts'
import { handleName, handleNumber } from '../../../src/rules/handles/handle-name.ts'
import type { Json } from '../../../src/base/json.ts'

const numbers = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1)
const rows = [
  { id: 1, name: 'a', note: null },
  { id: 30, name: 'bcd' },
  { id: 4, name: 'a' },
]

describe('str', () => {
  it('is the shape of a value and of its first 20 entries', () => {
    expect(readValue({ rows, title: 'T' }, 'str', {})).toBe(
      'object of 2 entries: rows table of 3, title text\n' +
        '  rows: table of 3 rows: id number, name text, note null\n  title: text "T"',
    )
    expect(readValue(numbers(60), 'str', {})).toMatch(
      /^list of 60 numbers: .*\n {2}\[0\]: number 1\n[^]*\n {2}… and 40 more$/,
    )
  })
})

describe('head', () => {
  it('shows 20 lines or elements, or as many as were asked for', () => {
    const text = numbers(30).join('\n')
    expect(readValue(text, 'head', {})).toBe(
      `${numbers(20).join('\n')}\n[lines 1-20 of 30; read on with op=print, offset=20]`,
    )
    expect(readValue(numbers(20), 'head', {})).toBe(numbers(20).join('\n'))
    expect(readValue({ a: 1, b: [2] }, 'head', { limit: 1 })).toBe(
      '"a": 1\n[elements 1-1 of 2; read on with op=print, offset=1]',
    )
  })

  it('cuts an element at 2,000 characters', () => {
    expect(readValue(['x'.repeat(3_000)], 'head', {})).toBe(`"${'x'.repeat(1_999)} [1002 characters left out]`)
  })
})

describe('print', () => {
  it('gives every character of a text, page by page, however long its lines are', () => {
    const text = `${'😀'.repeat(60_000)}\nshort\n\n${'x'.repeat(70_000)}\n`
    let [read, offset] = ['', 0]
    for (let page = 0; page < 10; page++) {
      const shown = readValue(text, 'print', { offset, limit: 10_000 }) as string
      expect(shown.length).toBeLessThanOrEqual(50_000)
      expect(shown.isWellFormed()).toBe(true)
      const [, lines = '', end] = /^([^]*)\n\[lines \d+-(\d+) of \d+/.exec(shown) ?? []
      read += lines.replaceAll('\n', '')
      if (!shown.includes('read on')) break
      offset = Number(end)
    }
    expect(read).toBe(text.replaceAll('\n', ''))
  })

  it('ends a page before the element that has no room in it', () => {
    const big = numbers(5).map((number) => String(number).repeat(20_000))
    expect(readValue(big, 'print', {})).toMatch(/^"1+"\n"2+"\n\[elements 1-2 of 5; read on with op=print, offset=2\]$/)
    expect(readValue(big, 'print', { offset: 4 })).toMatch(/^"5+"\n\[elements 5-5 of 5\]$/)
  })

  it('behind the end says how long the value is', () => {
    expect(readValue(numbers(51), 'print', { offset: 51 })).toEqual({
      problem: 'offset 51 is past the end: the value has 51 elements.',
    })
    expect(readValue('', 'print', {})).toBe('')
  })
})

describe('summary', () => {
  it.each<[string, Json, string]>([
    ['a text', 'a\nbcdé\n', 'text: 2 lines, 7 characters, 8 bytes; longest line: 4 characters'],
    ['a number', 4, 'number 4'],
    ['numbers', [3, -1, 2.5], 'list of 3 elements: 3 numbers (min -1, max 3)'],
    [
      'a mixture',
      [1, 'a', 'bc', null, true, false, [1]],
      'list of 7 elements: 1 number (min 1, max 1); 2 texts (2 distinct, 1 to 2 characters); 1 null; 2 booleans (1 true); 1 list',
    ],
    [
      'a matrix',
      [
        [1, 2],
        [3, 4],
      ],
      'matrix of 2 rows and 2 columns: 4 numbers (min 1, max 4)',
    ],
    ['an object', { a: 1, b: 2 }, 'object of 2 entries: 2 numbers (min 1, max 2)'],
    [
      'a table',
      rows,
      'table of 3 rows and 3 columns\n  id: 3 numbers (min 1, max 30)\n  name: 3 texts (2 distinct, 1 to 3 characters)\n  note: 1 null; 2 missing',
    ],
  ])('counts %s', (_, value, summary) => {
    expect(readValue(value, 'summary', {})).toBe(summary)
  })

  it('of 100,000 columns names 50', () => {
    const row = Object.fromEntries(numbers(100_000).map((number) => [`c${number}`, number]))
    expect(readValue([row], 'summary', {})).toMatch(/\n {2}c50: [^\n]+\n {2}… and 99950 more columns$/)
  })
})

describe('the name of a handle', () => {
  it('has three digits, and four from 1,000 on', () => {
    expect([1, 999, 1_000].map(handleName)).toEqual(['.h_001', '.h_999', '.h_1000'])
    expect(['.h_001', 'h_1', ' .h_1000 '].map(handleNumber)).toEqual([1, 1, 1_000])
    expect(['.h_000', '.h_', 'x', '.h_1x', '.h_99999999999999999999'].map(handleNumber)).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
      undefined,
    ])
  })
})
