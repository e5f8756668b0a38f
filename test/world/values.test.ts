import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { defineComponent } from '../../src/world/component.ts'
import { tick } from '../../src/world/tick.ts'
import { World } from '../../src/world/world.ts'
import { Asleep, ChildOf, Diary, doing, Person, refusal } from './family.ts'

const Anything = defineComponent('Anything', z.unknown())

function ada(): { world: World; one: number } {
  const world = new World()
  return { world, one: world.spawn(Person({ name: 'Ada', age: 36 })) }
}

describe('a value', () => {
  it('is replaced whole by set, and field by field by patch, where undefined takes an optional field away', () => {
    const { world, one } = ada()
    world.set(one, Person, { name: 'Ada King' })
    expect(world.get(one, Person)).toEqual({ name: 'Ada King' })
    world.patch(one, Person, { age: 37 })
    expect(world.get(one, Person)).toEqual({ name: 'Ada King', age: 37 })
    world.patch(one, Person, { age: undefined })
    expect(world.get(one, Person)).toEqual({ name: 'Ada King' })
  })

  it('is added by set where it was absent, and replaced by add where it was present', () => {
    const { world } = ada()
    const two = world.spawn()
    world.set(two, Person, { name: 'Bob' })
    world.add(two, Person({ name: 'Rob' }))
    expect(world.read(two, Person)).toEqual({ name: 'Rob' })
    expect(world.query(Person)).toEqual([1, two])
  })

  it('is a frozen copy: what the writer does to its own object later changes nothing', () => {
    const { world, one } = ada()
    const about = { hobby: { name: 'chess' } }
    world.set(one, Person, { name: 'Ada', about })
    about.hobby.name = 'whist'
    expect(world.get(one, Person)?.about).toEqual({ hobby: { name: 'chess' } })
    const stored = world.read(one, Person) as { name: string; about: { hobby: object } }
    expect(() => (stored.name = 'Eve')).toThrow(TypeError)
    expect(Object.isFrozen(stored.about.hobby)).toBe(true)
  })

  it('of any JSON can be stored, falsy ones and null included', () => {
    const world = new World()
    for (const value of [0, '', false, null, [], {}]) {
      const one = world.spawn(Anything(value))
      expect(world.get(one, Anything)).toEqual(value)
      expect(world.has(one, Anything)).toBe(true)
      expect(world.query(Anything)).toContain(one)
    }
    expect(World.restore(world.snapshot(), { components: [Anything] }).hash()).toBe(world.hash())
  })

  it('that is wrong is refused with entity, component, path and expectation, and the old one stays', () => {
    const { world, one } = ada()
    const wrong = { name: 7 } as unknown as { name: string }
    const refused = refusal('invalid-value', 'entity 1, component Person', 'at name', 'expected string')
    expect(() => world.set(one, Person, wrong)).toThrow(refused)
    expect(() => world.patch(one, Person, wrong)).toThrow(refused)
    expect(world.get(one, Person)).toEqual({ age: 36, name: 'Ada' })
  })

  it.for<[string, unknown, string]>([
    ['a function', { f: () => 1 }, 'a function'],
    ['a symbol', Symbol('s'), 'a symbol'],
    ['a bigint', { list: [1n] }, 'a bigint'],
    ['NaN', { list: [0, NaN] }, 'NaN'],
    ['infinity', -Infinity, '-Infinity'],
    ['undefined', undefined, 'undefined'],
    ['undefined in a list', [undefined], 'undefined'],
    ['a hole', Array(2), 'a hole'],
    ['a date', { when: new Date(0) }, 'an instance of Date'],
    ['a map', new Map(), 'an instance of Map'],
    ['a class', new World(), 'an instance of World'],
    ['a promise', { later: Promise.resolve() }, 'an instance of Promise'],
  ])('that is no JSON is refused: %s', ([, value, came]) => {
    const { world, one } = ada()
    const before = world.hash()
    expect(() => world.set(one, Anything, value)).toThrow(
      refusal('not-json', 'entity 1, component Anything', `got ${came}`, 'plain data'),
    )
    expect(world.hash()).toBe(before)
  })

  it('that holds itself is refused', () => {
    const { world, one } = ada()
    const cyclic: { self?: unknown; list: unknown[] } = { list: [] }
    cyclic.list.push({ back: cyclic })
    expect(() => world.set(one, Anything, cyclic)).toThrow(refusal('not-json', 'entity 1', 'a cycle'))
    expect(world.has(one, Anything)).toBe(false)
  })

  it('of 50 MB is stored, saved and restored as it is', () => {
    const { world, one } = ada()
    const text = 'ü$5 '.repeat(12_500_000)
    world.set(one, Anything, { text })
    const again = World.restore(world.snapshot(), { components: [Anything, Person] })
    expect((again.read(one, Anything) as { text: string }).text === text).toBe(true)
  })

  it('is undefined to get and an error to read when it is absent, whoever should have it', () => {
    const { world, one } = ada()
    expect(world.get(one, ChildOf)).toBeUndefined()
    expect(world.get(99, Person)).toBeUndefined()
    expect(world.has(99, Person)).toBe(false)
    expect(() => world.read(one, ChildOf)).toThrow(refusal('missing-component', 'Entity 1 has no ChildOf', 'world.get'))
    expect(() => world.patch(one, ChildOf, {})).toThrow(refusal('missing-component', 'Entity 1 has no ChildOf'))
    expect(() => world.read(99, Person)).toThrow(refusal('unknown-entity', 'Entity 99'))
  })

  it('is not written to an entity that does not exist', () => {
    const { world } = ada()
    expect(() => world.set(99, Person, { name: 'Nobody' })).toThrow(refusal('unknown-entity', 'Entity 99', 'exists'))
    expect(() => world.append(99, Diary, { text: 'x' })).toThrow(refusal('unknown-entity', 'Entity 99'))
    expect(() => world.add(99, Asleep)).toThrow(refusal('unknown-entity', 'Entity 99'))
    expect(world.query(Person)).toEqual([1])
  })

  it('is removed without a trace, once or again', () => {
    const { world, one } = ada()
    const empty = World.restore(world.snapshot(), { components: [Person] })
    for (const each of [world, empty]) each.remove(one, Person)
    world.remove(one, Person)
    world.remove(99, Person)
    expect(world.componentsOf(one)).toEqual([])
    expect(world.hash()).toBe(empty.hash())
  })

  it('is never added as a bare component: only a tag is', () => {
    const { world, one } = ada()
    expect(() => world.add(one, Person as unknown as typeof Asleep)).toThrow(
      refusal('invalid-argument', 'Entity 1', 'Person needs a value', 'Person(…)'),
    )
  })
})

describe('a text with half a surrogate pair', () => {
  it('is well-formed in the world: half a pair becomes U+FFFD, whole pairs stay', () => {
    const { world, one } = ada()
    world.patch(one, Person, { name: 'Ada \ud83d' })
    expect(world.read(one, Person).name).toBe('Ada \ufffd')
    world.patch(one, Person, { name: '\udc4b 👋' })
    expect(world.read(one, Person).name).toBe('\ufffd 👋')
  })

  it('is well-formed wherever it stands in a value', () => {
    const Letter = defineComponent('Letter', z.object({ pages: z.array(z.array(z.string())) }))
    const world = new World()
    const one = world.spawn(Letter({ pages: [['\ud83d'], ['a', 'b\ud83d']] }))
    expect(world.read(one, Letter)).toEqual({ pages: [['\ufffd'], ['a', 'b\ufffd']] })
    expect(World.restore(world.snapshot(), { components: [Letter] }).hash()).toBe(world.hash())
  })

  it('is well-formed in keys too, in order, and in what was frozen before', () => {
    const Any = defineComponent('AnyJson', z.record(z.string(), z.unknown()))
    const world = new World()
    const frozen = Object.freeze({ deep: Object.freeze({ '\ud83d': '\ud83d' }), 'a\ud83d': 1 })
    const one = world.spawn(Any({ '\ud83d': [{ 'b\udc4b': 1, b: 2 }], '\uf000': 3 }))
    expect(JSON.stringify(world.read(one, Any))).toBe('{"\uf000":3,"\ufffd":[{"b":2,"b\ufffd":1}]}')
    world.set(one, Any, frozen)
    expect(JSON.stringify(world.read(one, Any))).toBe('{"a\ufffd":1,"deep":{"\ufffd":"\ufffd"}}')
    world.set(one, Any, Object.freeze({ said: '\ud83d' }))
    expect(world.read(one, Any)).toEqual({ said: '\ufffd' })
    expect(World.restore(world.snapshot(), { components: [Any] }).hash()).toBe(world.hash())
  })

  it('has one value where two keys become the same: the last', () => {
    const Any = defineComponent('AnyJson', z.record(z.string(), z.unknown()))
    const world = new World()
    const one = world.spawn(Any({ 'k\ud83d': 1, 'k\ud83e': 2 }))
    expect(world.read(one, Any)).toEqual({ 'k\ufffd': 2 })
  })
})

describe('the components of an entity', () => {
  it('come in the order of their names, whatever was added first', () => {
    const world = new World()
    const one = world.spawn(Person({ name: 'Ada' }), Diary(), Asleep)
    expect(world.componentsOf(one).map(({ name }) => name)).toEqual(['Asleep', 'Diary', 'Person'])
    expect(() => world.componentsOf(99)).toThrow(refusal('unknown-entity', 'Entity 99'))
  })
})

describe('a tag', () => {
  it('is there or not, and adding it again changes nothing', () => {
    const world = new World({ systems: [doing((each) => each.add(1, Asleep))] })
    const one = world.spawn()
    expect(world.get(one, Asleep)).toBeUndefined()
    expect(tick(world).delta.set).toEqual({ Asleep: [[one, true]] })
    expect(world.get(one, Asleep)).toBe(true)
    expect(tick(world).delta.set).toBeUndefined()
    world.remove(one, Asleep)
    expect(world.has(one, Asleep)).toBe(false)
  })
})
