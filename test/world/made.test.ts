import { describe, expect, it } from 'vitest'
import { adopt, appendAdopted, appendMade, made, setMade } from '../../src/world/made.ts'
import { World } from '../../src/world/world.ts'
import { Diary, entry, family, Fresh, Person, refusal } from './family.ts'

const inhabited = (): World => new World({ components: family })

describe('a value that the rules have made', () => {
  it('is stored as the same object, frozen', () => {
    const world = inhabited()
    const value = { age: 3, name: 'Ada' }
    const person = world.spawn(made(Person, value))
    expect(world.get(person, Person)).toBe(value)
    expect(Object.isFrozen(value)).toBe(true)
  })

  it('has the same bytes as one that was checked', () => {
    const [one, other] = [inhabited(), inhabited()]
    setMade(one, one.spawn(made(Person, { age: 3, name: 'Ada' })), Person, { age: 4, name: 'Ada' })
    other.patch(other.spawn(Person({ name: 'Ada', age: 3 })), Person, { age: 4 })
    expect(one.hash()).toBe(other.hash())
  })

  it.for<[string, unknown]>([
    ['has its keys in another order', { name: 'Ada', age: 3 }],
    ['has a field without a value', { age: undefined, name: 'Ada' }],
    ['does not fit its component', { age: 'three', name: 'Ada' }],
    ['is no JSON', { age: Number.NaN, name: 'Ada' }],
  ])('is found by a test if it %s', ([, value]) => {
    const world = inhabited()
    const person = world.spawn(Person({ name: 'Bob' }))
    expect(() => made(Person, value as { name: string })).toThrow(refusal('invalid-value', 'Person', 'unchecked'))
    expect(() => setMade(world, person, Person, value as { name: string })).toThrow(refusal('invalid-value'))
    expect(() => appendMade(world, person, Diary, value as never)).toThrow(refusal('invalid-value', 'Diary'))
    expect(world.read(person, Person).name).toBe('Bob')
  })

  it('is refused while the world is driven, like any other write', () => {
    const world = inhabited()
    const person = world.spawn(Person({ name: 'Bob' }))
    world.core.drive({ name: 'a Runner', post: () => undefined })
    expect(() => setMade(world, person, Person, { age: 3, name: 'Ada' })).toThrow(refusal('world-driven'))
  })
})

describe('a value that is adopted', () => {
  it('is checked, and frozen where it is instead of copied', () => {
    const world = inhabited()
    const person = world.spawn(Person({ name: 'Bob' }), Diary())
    const value = { age: 3, name: 'Ada' }
    adopt(world, person, Person, value, 1)
    expect(world.get(person, Person)).toBe(value)
    expect(() => adopt(world, person, Person, { age: 'x' } as never, 1)).toThrow(refusal('invalid-value'))
  })

  it('is an item of a log, which is checked and marked as one that is appended', () => {
    const world = inhabited()
    const person = world.spawn(Diary([entry('a')]))
    world.remove(person, Fresh)
    const item = { text: 'b' }
    appendAdopted(world, person, Diary, item, 1)
    expect(world.read(person, Diary).at(-1)).toBe(item)
    expect([Object.isFrozen(item), world.has(person, Fresh)]).toEqual([true, true])
    expect(() => appendAdopted(world, person, Diary, { txet: 'c' } as never, 1)).toThrow(
      refusal('invalid-value', 'txet'),
    )
    expect(world.read(person, Diary)).toEqual([entry('a'), entry('b')])
  })
})
