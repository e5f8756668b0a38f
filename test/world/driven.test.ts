import { describe, expect, it } from 'vitest'
import type { Input } from '../../src/world/input.ts'
import { tick } from '../../src/world/tick.ts'
import { World } from '../../src/world/world.ts'
import { Asleep, Diary, doing, entry, input, Person, refusal } from './family.ts'

function driven(): { world: World; posted: Input[]; driver: { name: string; post: (each: Input) => void } } {
  const world = new World({ name: 'town', systems: [doing((each) => void each.spawn(Asleep))] })
  world.spawn(Person({ name: 'Ada' }), Diary())
  const posted: Input[] = []
  const driver = { name: 'a test', post: (each: Input) => void posted.push(each) }
  world.core.drive(driver)
  return { world, posted, driver }
}

describe('a driven world', () => {
  it.for<[string, (world: World) => unknown]>([
    ['spawn', (world) => world.spawn()],
    ['despawn', (world) => world.despawn(1)],
    ['despawn of nobody', (world) => world.despawn(99)],
    ['add', (world) => world.add(1, Asleep)],
    ['remove', (world) => world.remove(1, Person)],
    ['remove of nothing', (world) => world.remove(1, Asleep)],
    ['set', (world) => world.set(1, Person, { name: 'Eve' })],
    ['patch', (world) => world.patch(1, Person, { age: 1 })],
    ['append', (world) => world.append(1, Diary, entry('a'))],
    ['splice', (world) => world.splice(1, Diary, 0, 0, [])],
    ['rewrite', (world) => world.rewrite(1, Diary, [])],
    ['random', (world) => world.random()],
    ['newId', (world) => world.newId('x')],
  ])('refuses %s from outside, says who drives it, and stays as it is', ([, write]) => {
    const { world } = driven()
    const before = world.hash()
    expect(() => write(world)).toThrow(refusal('world-driven', "World 'town'", 'driven by a test', 'runner.change'))
    expect(world.hash()).toBe(before)
  })

  it('can be read, saved and hashed by anybody', () => {
    const { world } = driven()
    expect([world.read(1, Person).name, world.query(Person)]).toEqual(['Ada', [1]])
    expect(World.restore(world.snapshot(), { components: [Person, Diary] }).hash()).toBe(world.hash())
  })

  it('is ticked by its driver alone, in whose ticks its systems write', () => {
    const { world, driver } = driven()
    expect(() => tick(world)).toThrow(refusal('world-driven', "World 'town'", 'a test', 'Post an input'))
    expect([world.tick, world.query(Asleep)]).toEqual([0, []])
    tick(world, [], { driver })
    expect([world.tick, world.query(Asleep)]).toEqual([1, [2]])
    world.core.drive(undefined)
    expect(() => tick(world, [], { driver })).toThrow(refusal('world-driven', 'driven by nothing'))
  })

  it('sends what is posted to its driver, frozen', () => {
    const { world, posted } = driven()
    world.post({ kind: 'hello', list: [1] })
    expect(posted).toEqual([{ kind: 'hello', list: [1] }])
    expect(Object.isFrozen(posted[0]?.['list'])).toBe(true)
    expect(tick(world, [], { driver: world.core.driver }).inputs).toEqual([])
  })

  it('has one driver until that one lets go', () => {
    const { world, driver } = driven()
    expect(() => world.core.drive({ ...driver, name: 'another' })).toThrow(
      refusal('world-driven', 'a test', 'Stop that'),
    )
    world.core.drive(undefined)
    expect(world.spawn()).toBe(2)
    world.core.drive(driver)
    expect(() => world.spawn()).toThrow(refusal('world-driven'))
  })
})

describe('a post', () => {
  it.for<[string, unknown]>([
    ['nothing', null],
    ['a text', 'hello'],
    ['an object without kind', { text: 'hello' }],
    ['a kind that is no text', { kind: 7 }],
  ])('of %s is refused', ([, value]) => {
    const world = new World()
    expect(() => world.post(value as Input)).toThrow(refusal('invalid-input', "'kind'"))
    expect(tick(world).inputs).toEqual([])
  })

  it('of what is no JSON is refused', () => {
    const world = new World()
    const value: Record<string, unknown> = { kind: 'hello' }
    value['self'] = value
    expect(() => world.post(value as Input)).toThrow(refusal('not-json', 'an input', 'a cycle'))
    expect(() => world.post(input('hello', { when: NaN }))).toThrow(refusal('not-json', 'an input at when', 'NaN'))
  })
})
