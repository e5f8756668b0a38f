import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { canonical, maxDepth } from '../../src/world/canonical.ts'
import { refusal } from './family.ts'

const where = (): string => 'a value'
const json = fc.jsonValue({ maxDepth: 6 })

/** The same data with all keys put in reverse, thawed. */
function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed)
  if (typeof value !== 'object' || value === null) return value
  const copy = {}
  for (const [key, item] of Object.entries(value).toReversed()) {
    Object.defineProperty(copy, key, { value: reversed(item), enumerable: true, configurable: true, writable: true })
  }
  return copy
}

function isFrozenThroughout(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return true
  return Object.isFrozen(value) && Object.values(value).every(isFrozenThroughout)
}

function nested(levels: number, wrap: (inner: unknown) => unknown, core: unknown): unknown {
  let value = core
  for (let level = 0; level < levels; level++) value = wrap(value)
  return value
}

describe('the canonical form', () => {
  it('says the same data, and the same bytes whatever order the keys came in', () => {
    fc.assert(
      fc.property(json, (value) => {
        const form = canonical(value, where)
        expect(JSON.parse(JSON.stringify(form))).toEqual(JSON.parse(JSON.stringify(value)))
        expect(JSON.stringify(canonical(reversed(value), where))).toBe(JSON.stringify(form))
        expect(JSON.stringify(canonical(reversed(JSON.parse(JSON.stringify(form))), where, Infinity))).toBe(
          JSON.stringify(form),
        )
      }),
      { numRuns: 200 },
    )
  })

  it('is frozen throughout, leaves what it was made of alone, and of itself is the very same object', () => {
    fc.assert(
      fc.property(json, (value) => {
        const before = JSON.stringify(value)
        const form = canonical(value, where)
        expect(isFrozenThroughout(form)).toBe(true)
        expect(canonical(form, where)).toBe(form)
        expect(JSON.stringify(value)).toBe(before)
        expect(value === form).toBe(typeof value !== 'object' || value === null)
      }),
      { numRuns: 200 },
    )
  })

  it('adopts as many levels as it is told to: freezes them in place, and copies what is below', () => {
    const value = { a: { b: { c: 1 } } }
    const form = canonical(value, where, 2) as typeof value
    expect(form).not.toBe(value)
    const whole = { a: [{ b: 1 }] }
    expect(canonical(whole, where, Infinity)).toBe(whole)
    expect(isFrozenThroughout(whole)).toBe(true)
  })

  it('sorts keys as texts, but for those that an engine puts first as indices', () => {
    const value = { b: 1, a: 2, Z: 3, 10: 4, 9: 5, '-1': 6, '01': 7, 4294967294: 8, 4294967295: 9, ä: 10, '': 11 }
    const keys = Object.keys(canonical(value, where) as object)
    expect(keys).toEqual(['9', '10', '4294967294', '', '-1', '01', '4294967295', 'Z', 'a', 'b', 'ä'])
  })

  it('keeps a key called __proto__ as data, at every level', () => {
    const text = '{"__proto__":{"__proto__":[{"__proto__":null,"polluted":true}],"b":1,"a":2},"a":{"__proto__":7}}'
    const form = canonical(JSON.parse(text), where)
    expect(JSON.stringify(form)).toBe(
      '{"__proto__":{"__proto__":[{"__proto__":null,"polluted":true}],"a":2,"b":1},"a":{"__proto__":7}}',
    )
    expect(Object.getPrototypeOf(form)).toBe(Object.prototype)
    expect(JSON.stringify(canonical(JSON.parse(text), where, Infinity))).toBe(JSON.stringify(form))
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined()
  })

  it('has no negative zero, which JSON would not keep', () => {
    const values = [-0, { a: -0 }, [-0], Object.freeze({ a: Object.freeze([-0, { b: -0 }]) })]
    for (const value of values) {
      const zeros = JSON.stringify(canonical(value, where), (_, item: unknown) =>
        Object.is(item, -0) ? 'negative' : item,
      )
      expect(zeros).not.toContain('negative')
    }
  })

  it('leaves out what is undefined in an object, and takes objects without prototype', () => {
    const bare: Record<string, unknown> = Object.assign(Object.create(null) as object, { b: undefined, a: 1 })
    expect(JSON.stringify(canonical({ z: bare, a: undefined }, where))).toBe('{"z":{"a":1}}')
  })

  it('goes as deep as 256 levels, and no deeper', () => {
    const wrap = (inner: unknown): unknown => ({ a: inner })
    expect(JSON.stringify(canonical(nested(maxDepth, wrap, 1), where))).toHaveLength(6 * maxDepth + 1)
    expect(() => canonical(nested(maxDepth + 1, wrap, 1), where)).toThrow(refusal('not-json', 'a value', '256 levels'))
  })

  it.for<[string, (inner: unknown) => unknown]>([
    ['keys are out of order', (inner) => ({ b: 1, a: inner })],
    ['something is undefined', (inner) => ({ a: inner, b: undefined })],
    ['all is frozen', (inner) => Object.freeze({ a: inner, b: undefined })],
    [
      'keys are called __proto__',
      (inner) => Object.defineProperty({}, '__proto__', { value: inner, enumerable: true }),
    ],
    ['lists hold lists', (inner) => Object.freeze([inner, -0])],
  ])('looks at what is deep inside once, not twice as often with each level, when %s', ([, wrap]) => {
    let looks = 0
    const inside = new Proxy(
      { z: 1, a: 2 },
      { getPrototypeOf: (target) => (looks++, Object.getPrototypeOf(target) as object) },
    )
    const value = nested(16, wrap, inside)
    canonical(value, where)
    expect(looks).toBe(1)
    canonical(value, where, Infinity)
    expect(looks).toBe(2)
  })

  it('is not had of what holds itself, and what hangs on the cycle is not copied at every turn', () => {
    let looks = 0
    const large = new Proxy([1, 2, 3], { get: (target, key) => (looks++, Reflect.get(target, key) as unknown) })
    const cyclic: Record<string, unknown> = { large, list: [] }
    ;(cyclic['list'] as unknown[]).push({ large, back: cyclic })
    expect(() => canonical({ first: cyclic }, where)).toThrow(
      refusal('not-json', 'a value at first.list.0.back: expected JSON, got a cycle'),
    )
    expect(looks).toBeLessThan(200)
    const twice = { a: [1] }
    expect(
      JSON.stringify(
        canonical(
          nested(20, (inner) => [inner, twice], twice),
          where,
        ),
      ),
    ).toContain('[[{"a":[1]},{"a":[1]}]')
  })

  it('names the path to what is no JSON', () => {
    const value = { list: [{ fine: 1 }, { 'a key': { bad: new Set() } }] }
    const error = refusal('not-json', 'a value at list.1.a key.bad: expected JSON', 'an instance of Set')
    expect(() => canonical(value, where)).toThrow(error)
    expect(() => canonical(value, where)).toThrow(
      expect.objectContaining({ details: { path: ['list', '1', 'a key', 'bad'] } }),
    )
  })

  it('of the same data is the same text on both sides of a file', () => {
    const text = JSON.stringify(canonical({ text: '\u{1F600}\ud800\u2028"\\\u0000', n: 1e21, m: 0.1 + 0.2 }, where))
    expect(JSON.stringify(canonical(JSON.parse(text), where, Infinity))).toBe(text)
  })
})
