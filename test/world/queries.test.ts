import { describe, expect, it } from 'vitest'
import { type Component, defineTag } from '../../src/world/component.ts'
import { not } from '../../src/world/entities.ts'
import { World } from '../../src/world/world.ts'
import { Asleep, Diary, family, Person, refusal } from './family.ts'

describe('a query', () => {
  it('gives the entities that have all of its components and none of the others, ascending', () => {
    const world = new World()
    const both = world.spawn(Person({ name: 'Ada' }), Diary())
    const asleep = world.spawn(Person({ name: 'Bob' }), Diary(), Asleep)
    const alone = world.spawn(Person({ name: 'Eve' }))
    world.spawn()
    expect(world.query(Person)).toEqual([both, asleep, alone])
    expect(world.query(Person, Diary)).toEqual([both, asleep])
    expect(world.query(Diary, Person)).toEqual([both, asleep])
    expect(world.query(Person, not(Asleep))).toEqual([both, alone])
    expect(world.query(Person, not(Asleep), not(Diary))).toEqual([alone])
    expect(world.query(Person, Person)).toEqual([both, asleep, alone])
    expect(world.query(Person, not(Person))).toEqual([])
  })

  it('needs a component that entities have', () => {
    const world = new World()
    expect(() => world.query()).toThrow(refusal('invalid-argument', 'at least one component'))
    expect(() => world.query(not(Asleep))).toThrow(refusal('invalid-argument', 'besides not'))
  })

  it('finds what was there before it was first asked, and what changes after', () => {
    const world = new World()
    const one = world.spawn(Person({ name: 'Ada' }))
    expect(world.query(Person, not(Asleep))).toEqual([one])
    world.add(one, Asleep)
    expect(world.query(Person, not(Asleep))).toEqual([])
    world.remove(one, Asleep)
    const two = world.spawn(Person({ name: 'Bob' }))
    expect(world.query(Person, not(Asleep))).toEqual([one, two])
    world.despawn(one)
    expect(world.query(Person, not(Asleep))).toEqual([two])
    world.remove(two, Person)
    expect(world.query(Person, not(Asleep))).toEqual([])
  })

  it('has an answer that stays as it was, so that its entities may be changed on the way', () => {
    const world = new World()
    for (let round = 0; round < 10; round++) world.spawn(Asleep)
    const found = world.query(Asleep)
    for (const entity of found) {
      world.remove(entity, Asleep)
      world.despawn(entity + 1)
      world.spawn(Asleep)
    }
    expect(found).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
    expect(world.query(Asleep)).toEqual([12, 13, 14, 15, 16, 17, 18, 19, 20])
  })

  it('answers in the order of numbers, not of history: in a restored world the same', () => {
    const world = new World({ components: family })
    for (let round = 0; round < 300; round++) world.spawn(...(round % 2 === 0 ? [Asleep] : []))
    for (let entity = 300; entity > 0; entity -= 7) world.despawn(entity)
    for (let entity = 298; entity > 0; entity -= 4) if (world.exists(entity)) world.add(entity, Asleep)
    for (let round = 0; round < 100; round++) world.spawn(Asleep)
    const found = world.query(Asleep)
    expect(found).toEqual([...found].sort((a, b) => a - b))
    expect(World.restore(world.snapshot(), { components: family }).query(Asleep)).toEqual(found)
  })

  it('tells apart more components than a number has bits', () => {
    const world = new World()
    const tags = Array.from({ length: 100 }, (_, index) => defineTag(`Tag${index}`))
    for (const tag of tags) world.query(tag)
    const entities = tags.map((tag, index) => world.spawn(tag, tags[(index + 50) % 100] as Component & { kind: 'tag' }))
    tags.forEach((tag, index) => {
      const other = (index + 50) % 100
      const expected = [entities[index], entities[other]].sort((a, b) => (a as number) - (b as number))
      expect(world.query(tag)).toEqual(expected)
      expect(world.query(tag, tags[other] as Component)).toEqual(expected)
      expect(world.query(tag, not(tags[(index + 1) % 100] as Component))).toEqual(expected)
      expect(world.query(tag, tags[(index + 32) % 100] as Component)).toEqual([])
    })
  })
})
