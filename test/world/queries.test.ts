import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Component, defineTag, type Tag } from '../../src/world/component.ts'
import { not, type QueryTerm } from '../../src/world/entities.ts'
import { World } from '../../src/world/world.ts'
import { Asleep, Diary, Fresh, family, Person, refusal } from './family.ts'

/** A world of so many who have nothing: in a small one, and in a crowd, queries find their entities in different ways. */
function worldOf(others: number): World {
  const world = new World({ components: family })
  for (let count = 0; count < others; count++) world.spawn()
  return world
}

describe.each([
  ['a small world', 0],
  ['a crowd', 100],
])('a query in %s', (_, others) => {
  it('gives the entities that have all of its components and none of the others, ascending', () => {
    const world = worldOf(others)
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
    expect(world.query(Person, not(Fresh))).toEqual([both, asleep, alone])
    expect(world.query(Person, Fresh)).toEqual([])
  })

  it('needs a component that entities have', () => {
    const world = worldOf(others)
    expect(() => world.query()).toThrow(refusal('invalid-argument', 'at least one component'))
    expect(() => world.query(not(Asleep))).toThrow(refusal('invalid-argument', 'besides not'))
    world.spawn(Asleep)
    expect(() => world.query(not(Asleep))).toThrow(refusal('invalid-argument', 'besides not'))
  })

  it('finds what was there before it was first asked, and what changes after', () => {
    const world = worldOf(others)
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

  it('that was asked when nobody had its components finds the first who gets them', () => {
    const world = worldOf(others)
    expect([world.query(Person, not(Asleep)), world.first(1, Person, Diary)]).toEqual([[], []])
    const one = world.spawn(Person({ name: 'Ada' }))
    expect([world.query(Person, not(Asleep)), world.first(1, Person, Diary)]).toEqual([[one], []])
    world.add(one, Diary())
    expect([world.first(1, Person, Diary), world.first(0, Person, Diary), world.first(0, Person)]).toEqual([
      [one],
      [],
      [],
    ])
    world.despawn(one)
    expect([world.query(Person, not(Asleep)), world.first(1, Person, Diary)]).toEqual([[], []])
    const two = world.spawn(Person({ name: 'Bob' }), Diary())
    expect([world.query(Person, not(Asleep)), world.first(1, Person, Diary)]).toEqual([[two], [two]])
  })

  it('has an answer that stays as it was, so that its entities may be changed on the way', () => {
    const world = worldOf(others)
    const people = Array.from({ length: 10 }, () => world.spawn(Asleep))
    const last = people.at(-1) as number
    const found = world.query(Asleep)
    for (const entity of found) {
      world.remove(entity, Asleep)
      world.despawn(entity + 1)
      world.spawn(Asleep)
    }
    expect(found).toEqual(people)
    expect(world.query(Asleep)).toEqual(Array.from({ length: 9 }, (__, index) => last + 2 + index))
  })
})

describe('a query', () => {
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

  it('finds the same as a look at each entity does, while a world grows and shrinks', () => {
    const tags: readonly Tag[] = ['Alpha', 'Beta', 'Gamma', 'Delta'].map((name) => defineTag(name))
    const [alpha, beta, gamma, delta] = tags as [Tag, Tag, Tag, Tag]
    const asked: readonly (readonly [QueryTerm, ...QueryTerm[]])[] = [
      [alpha],
      [delta],
      [alpha, beta],
      [beta, not(alpha)],
      [gamma, beta, not(alpha), not(delta)],
    ]
    const deed = fc.record({
      what: fc.constantFrom('spawn', 'spawn', 'turn', 'despawn'),
      who: fc.nat(99),
      n: fc.nat(15),
    })
    const look = (world: World, terms: readonly QueryTerm[]): number[] =>
      world.entities().filter((entity) => terms.every((term) => fits(world, entity, term)))
    const property = fc.property(fc.array(deed, { maxLength: 120, size: 'max' }), ([...deeds]) => {
      const world = new World()
      for (const { what, who, n } of deeds) {
        const alive = world.entities()
        const one = alive[who % alive.length]
        if (what === 'spawn' || one === undefined) world.spawn(...tags.filter((__, index) => (n >> index) % 2 === 1))
        else if (what === 'despawn') world.despawn(one)
        else {
          const tag = tags[n % 4] as Tag
          if (world.has(one, tag)) world.remove(one, tag)
          else world.add(one, tag)
        }
        for (const terms of asked) {
          const expected = look(world, terms)
          expect(world.query(...terms)).toEqual(expected)
          expect(world.first(3, ...terms)).toEqual(expected.slice(0, 3))
        }
      }
    })
    fc.assert(property, { numRuns: 40 })
  })
})

function fits(world: World, entity: number, term: QueryTerm): boolean {
  return 'not' in term ? !world.has(entity, term.not) : world.has(entity, term)
}
