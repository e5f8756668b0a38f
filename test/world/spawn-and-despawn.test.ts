import { describe, expect, it } from 'vitest'
import { tick } from '../../src/world/tick.ts'
import { World } from '../../src/world/world.ts'
import { Asleep, ChildOf, Diary, doing, entry, family, Person, refusal } from './family.ts'

describe('an entity', () => {
  it('gets the next number, and no number comes twice', () => {
    const world = new World()
    const given = new Set<number>()
    for (let round = 0; round < 10_000; round++) {
      const entity = world.spawn()
      expect(given.has(entity)).toBe(false)
      given.add(entity)
      if (round % 3 > 0) world.despawn(entity)
    }
    expect(Math.max(...given)).toBe(10_000)
    expect(world.entities()).toHaveLength(3334)
  })

  it('gets a number after all earlier ones in a restored world too, even when those are gone', () => {
    const world = new World()
    world.despawn(world.spawn())
    world.despawn(world.spawn())
    expect(World.restore(world.snapshot()).spawn()).toBe(3)
  })

  it('may have a number of more than 32 bits', () => {
    const world = new World({ components: family })
    for (const next of [2 ** 24, 2 ** 31 - 1, 2 ** 32, 2 ** 50]) {
      world.core.next = next
      const [parent, child] = [world.spawn(Asleep), world.spawn(ChildOf({ parent: next }))]
      expect([parent, child]).toEqual([next, next + 1])
      expect(world.referrers(ChildOf, parent)).toEqual([child])
    }
    expect(world.query(Asleep)).toEqual([2 ** 24, 2 ** 31 - 1, 2 ** 32, 2 ** 50])
    expect(World.restore(world.snapshot(), { components: family }).hash()).toBe(world.hash())
  })

  it('takes everything with it: a late write cannot hit who comes after', () => {
    const world = new World()
    const gone = world.spawn(Person({ name: 'Ada' }), Diary([{ text: 'x' }]), Asleep)
    world.despawn(gone)
    const next = Array.from({ length: 5_000 }, () => world.spawn())
    expect(world.exists(gone)).toBe(false)
    expect(() => world.patch(gone, Person, { age: 1 })).toThrow(refusal('unknown-entity', `Entity ${gone}`))
    expect(next.flatMap((entity) => world.componentsOf(entity))).toEqual([])
    expect([world.query(Person), world.query(Asleep)]).toEqual([[], []])
  })

  it('is listed ascending, whoever came and went between', () => {
    const world = new World()
    for (let round = 0; round < 200; round++) world.spawn()
    for (let entity = 2; entity < 200; entity += 3) world.despawn(entity)
    for (let round = 0; round < 50; round++) world.spawn()
    const all = world.entities()
    expect(all).toEqual([...all].sort((a, b) => a - b))
    expect(all.every((entity) => world.exists(entity))).toBe(true)
    expect(all).toHaveLength(184)
  })

  it('is not made at all if one of its components is refused', () => {
    const world = new World({ components: family })
    const before = [...world.snapshot()].slice(1, -1)
    expect(() => world.spawn(Person({ name: 'Ada' }), ChildOf({ parent: 99 }))).toThrow(refusal('unknown-entity', '99'))
    expect([...world.snapshot()].slice(1, -1)).toEqual(before)
    expect(world.query(Person)).toEqual([])
  })

  it('that is despawned when it does not exist leaves the world as it is', () => {
    const world = new World()
    const one = world.spawn()
    world.despawn(one)
    const before = world.hash()
    world.despawn(one)
    world.despawn(99)
    world.despawn(NaN)
    expect(world.hash()).toBe(before)
  })

  it.for([0, -1, 1.5, 99, NaN, Infinity])(
    'of number %s is none, whatever was read, written or despawned before',
    (number) => {
      const world = new World({ components: family })
      const checkNone = (): void => {
        expect([world.exists(number), world.has(number, Person), world.get(number, Person)]).toEqual([
          false,
          false,
          undefined,
        ])
        expect(() => world.read(number, Person)).toThrow(refusal('unknown-entity'))
        expect(() => world.set(number, Person, { name: 'Nil' })).toThrow(refusal('unknown-entity'))
        expect(() => world.add(number, Asleep)).toThrow(refusal('unknown-entity'))
        expect(() => world.append(number, Diary, entry('a'))).toThrow(refusal('unknown-entity'))
      }
      checkNone()
      const one = world.spawn(Person({ name: 'Ada' }))
      world.despawn(one)
      checkNone()
      world.read(world.spawn(Person({ name: 'Bo' })), Person)
      checkNone()
    },
  )

  it('that comes and goes within a tick is not told of, and its number stays used', () => {
    const world = new World({ systems: [doing((each) => each.despawn(each.spawn(Person({ name: 'Ada' }))))] })
    const { delta } = tick(world)
    expect(delta).toEqual({ ...delta, next: 2 })
    expect(Object.keys(delta).sort()).toEqual(['dateOffsetMs', 'ids', 'next', 'nowMs', 'random', 'tick'])
  })
})
