import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { errorOutput, standardMaxResultChars, toolOutput } from '../../src/tools/tool-output.ts'
import { textOf } from './calling.ts'

const note = /\n?\[(\d+) characters left out\]$/
const [firstHalf, secondHalf] = ['\ud83d', '\ude00']

describe('the output of a tool', () => {
  it.each([
    ['a text, as it is', '{"a": 1}', '{"a": 1}'],
    ['nothing', undefined, '[no output]'],
    ['an empty text', '', '[no output]'],
    ['null', null, 'null'],
    ['a number', 0.5, '0.5'],
    ['a truth value', false, 'false'],
    ['a list', [1, 'two', null, []], '[1,"two",null,[]]'],
    ['an object, without its absent keys', { a: undefined, b: { 'c"': '\n' } }, '{"b":{"c\\"":"\\n"}}'],
    ['a Date', { at: new Date(0) }, '{"at":"1970-01-01T00:00:00.000Z"}'],
    ['a URL', new URL('https://example.org/a'), '"https://example.org/a"'],
    ['an object without prototype', Object.assign(Object.create(null), { a: 1 }), '{"a":1}'],
    ['data with a field `content`', { content: ['a', 'b'] }, '{"content":["a","b"]}'],
    ['data with a field `content` and others', { content: [{ type: 'text', text: 'a' }], id: 1 }, undefined],
  ])('says %s', (_, result, text) => {
    const output = toolOutput(result)
    expect(output.isError).toBeUndefined()
    expect(textOf(output)).toBe(text ?? JSON.stringify(result))
  })

  it('counts an object of a class by its fields', () => {
    class Row {
      readonly id = 7
      get shout(): string {
        return 'never'
      }
    }
    expect(textOf(toolOutput([new Row()]))).toBe('[{"id":7}]')
  })

  it('keeps blocks and the error mark of a ToolOutput', () => {
    const image = { type: 'file' as const, mediaType: 'image/png', data: 'AAAA' }
    const output = { content: [{ type: 'text' as const, text: 'a plot' }, image], isError: true }
    expect(toolOutput(output)).toEqual(output)
  })

  it('drops the empty texts of a ToolOutput', () => {
    const image = { type: 'file' as const, mediaType: 'image/png', data: 'AAAA' }
    expect(toolOutput({ content: [{ type: 'text', text: '' }, image] })).toEqual({ content: [image] })
    expect(toolOutput({ content: [] })).toEqual({ content: [{ type: 'text', text: '[no output]' }] })
  })

  it('names the place where a ToolOutput is wrong', () => {
    const output = toolOutput({ content: [{ type: 'text', txt: 'a' }] })
    expect(output.isError).toBe(true)
    expect(textOf(output)).toContain('content[0].text: expected string, received undefined')
  })

  it.each([
    ['a function', { rows: [{}, { draw: () => 1 }] }, 'rows[1].draw is a function'],
    ['a symbol', [Symbol('a')], '[0] is a symbol'],
    ['a BigInt', { size: 1n }, 'size is a bigint'],
    ['NaN', { 'a b': Number.NaN }, '["a b"] is NaN'],
    ['an infinite number', Infinity, 'it is Infinity'],
    ['undefined in a list', [1, undefined], '[1] is undefined'],
    ['a Map', { users: new Map([[1, 2]]) }, 'users is an object of type Map'],
    ['a Set', new Set([1]), 'it is an object of type Set'],
    ['an Error', { failed: new Error('no') }, 'failed is an object of type Error'],
    ['a forgotten promise', [Promise.resolve(1)], '[0] is an object of type Promise'],
    ['an invalid Date', { at: new Date(Number.NaN) }, 'at is an invalid Date'],
  ])('with %s in it is an error that says where', (_, result, where) => {
    const output = toolOutput(result)
    expect(output.isError).toBe(true)
    expect(textOf(output)).toBe(`Error: The tool ran, but its result is no JSON: ${where}.`)
  })

  it('with a cycle in it is an error', () => {
    const parent: { child?: unknown } = {}
    parent.child = { parent }
    expect(textOf(toolOutput(parent))).toContain(
      'child.parent.child is nested more than 256 levels deep, or holds itself',
    )
  })

  it('lets what a getter of the result throws pass: it is the handler that failed', () => {
    const hostile = {
      get size(): number {
        throw new RangeError('no size')
      },
    }
    expect(() => toolOutput(hostile)).toThrow(RangeError)
  })

  it('has no half of a surrogate pair', () => {
    expect(textOf(toolOutput(`a${firstHalf}b`))).toBe('a\ufffdb')
  })

  it('is, for any JSON value, its compact text', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        fc.pre(typeof value !== 'string' && typeof (value as { content?: unknown } | null)?.content !== 'object')
        expect(textOf(toolOutput(value))).toBe(JSON.stringify(value))
      }),
    )
  })
})

describe('the cap on results', () => {
  it('is 50,000 characters, and a result just as long has no note', () => {
    expect(standardMaxResultChars).toBe(50_000)
    expect(textOf(toolOutput('x'.repeat(50_000)))).toBe('x'.repeat(50_000))
    expect(textOf(toolOutput('x'.repeat(50_001)))).toBe(`${'x'.repeat(50_000)}\n[1 characters left out]`)
  })

  it('does not split a surrogate pair', () => {
    const text = `${'x'.repeat(9)}${firstHalf}${secondHalf}`
    expect(textOf(toolOutput(text, 10))).toBe(`${'x'.repeat(9)}\n[2 characters left out]`)
    expect(textOf(toolOutput(text, 11))).toBe(text)
    expect(textOf(toolOutput([text], 12))).toBe(`["${'x'.repeat(9)}\n[4 characters left out]`)
  })

  it('holds for JSON, and counts what it does not keep', () => {
    expect(textOf(toolOutput([1, 'ab"c', 2.5], 5))).toBe('[1,"a\n[10 characters left out]')
    expect(textOf(toolOutput('x', 1))).toBe('x')
    expect(textOf(toolOutput([1], 3))).toBe('[1]')
  })

  it('holds over all texts together, and leaves files in', () => {
    const image = { type: 'file' as const, mediaType: 'image/png', url: 'https://example.org/a.png' }
    const content = [
      { type: 'text', text: 'abc' },
      image,
      { type: 'text', text: 'defg' },
      { type: 'text', text: 'h' },
      image,
    ]
    expect(toolOutput({ content }, 5).content).toEqual([
      { type: 'text', text: 'abc' },
      image,
      { type: 'text', text: 'de' },
      image,
      { type: 'text', text: '[3 characters left out]' },
    ])
  })

  it('holds for errors', () => {
    expect(textOf(errorOutput('x'.repeat(60_000)))).toHaveLength(50_000 + '\n[10007 characters left out]'.length)
  })

  it('never lets more through, never splits a pair, and counts to the character', () => {
    const texts = fc.array(fc.string({ unit: 'binary' }), { minLength: 1, maxLength: 4 })
    fc.assert(
      fc.property(texts, fc.boolean(), fc.integer({ min: 1, max: 30 }), (parts, asJson, maxChars) => {
        const whole = asJson ? JSON.stringify(parts) : parts.join('')
        const result = asJson ? parts : { content: parts.map((text) => ({ type: 'text', text })) }
        const text = textOf(toolOutput(result, maxChars))
        const leftOut = Number(note.exec(text)?.[1] ?? 0)
        const kept = leftOut === 0 ? text : text.replace(note, '')
        fc.pre(whole !== '' && !note.test(whole))
        expect(text.isWellFormed()).toBe(true)
        expect(kept.length).toBeLessThanOrEqual(maxChars)
        expect(kept.length + leftOut).toBe(whole.length)
        expect(whole.startsWith(kept)).toBe(true)
        expect(leftOut === 0).toBe(whole.length <= maxChars)
      }),
    )
  })

  it('shortens results of 50 MB', () => {
    const rows = Array.from({ length: 300_000 }, (_, id) => ({ id, name: 'n'.repeat(150) }))
    const ofText = textOf(toolOutput('x'.repeat(50_000_000)))
    const ofRows = textOf(toolOutput(rows))
    expect(ofText.endsWith('\n[49950000 characters left out]')).toBe(true)
    expect(Number(note.exec(ofRows)?.[1])).toBe(JSON.stringify(rows).length - 50_000)
  })
})
