import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { itemsPerLine } from '../../src/world/snapshot.ts'
import { tick } from '../../src/world/tick.ts'
import { World } from '../../src/world/world.ts'
import { Asleep, ChildOf, Diary, doing, entry, family, input, Person, refusal } from './family.ts'

function populated(): World {
  const world = new World({ name: 'town', seed: 7, components: family })
  world.spawn(Person({ name: 'Ada', age: 36 }), Diary([entry('a')]))
  world.spawn()
  world.spawn(ChildOf({ parent: 1 }), Asleep)
  world.post(input('hello'))
  return world
}

describe('a snapshot', () => {
  it('is a head, a line for each entity in ascending order, and an end that proves the rest', () => {
    const lines = [...populated().snapshot()]
    const [head, ...rest] = lines.slice(0, -1)
    expect(JSON.parse(head as string)).toEqual({
      entia: 1,
      name: 'town',
      seed: 7,
      components: { Asleep: 1, ChildOf: 1, Diary: 1, Fresh: 1, Person: 1 },
      header: { tick: 0, nowMs: 0, dateOffsetMs: 0, next: 4, ids: 0, random: expect.any(Array) as unknown },
      inbox: [{ kind: 'hello' }],
    })
    expect(rest).toEqual([
      '{"entity":1,"has":{"Diary":[{"text":"a"}],"Fresh":true,"Person":{"age":36,"name":"Ada"}}}',
      '{"entity":2,"has":{}}',
      '{"entity":3,"has":{"Asleep":true,"ChildOf":{"parent":1}}}',
    ])
    const sha256 = createHash('sha256')
      .update(`${lines.slice(0, -1).join('\n')}\n`)
      .digest('hex')
    expect(JSON.parse(lines.at(-1) as string)).toEqual({ end: { lines: 4, sha256 } })
  })

  it('has the same bytes for the same state, whatever way it came about', () => {
    const [world, other] = [new World({ components: family }), new World()]
    const one = world.spawn(Person({ name: 'Ada', age: 1 }), Asleep)
    world.spawn(Diary([entry('a'), entry('b')]))
    other.spawn(Asleep)
    other.query(Person)
    other.spawn(Diary([entry('x')]))
    other.add(one, ChildOf({ parent: 2 }))
    other.set(one, Person, JSON.parse('{"age":1,"name":"Ada"}') as { name: string })
    other.rewrite(2, Diary, [entry('a')])
    other.append(2, Diary, entry('b'))
    other.remove(one, ChildOf)
    expect([...other.snapshot()]).toEqual([...world.snapshot()])
    expect(other.hash()).toBe(world.hash())
  })

  it('puts a long log on further lines, so that none becomes too long for a text', () => {
    const world = new World({ components: family })
    const count = itemsPerLine * 2 + 1
    world.spawn(Diary(Array.from({ length: count }, (_, index) => entry(`${index}`))), Asleep)
    world.spawn(Diary(Array.from({ length: itemsPerLine }, () => entry('x'))))
    const lines = [...world.snapshot()]
    expect(lines).toHaveLength(6)
    expect(lines[2]).toMatch(/^\{"entity":1,"log":"Diary","more":\[\{"text":"1000"\}/)
    const again = World.restore(lines, { components: family })
    expect(again.read(1, Diary)).toEqual(world.read(1, Diary))
    again.append(1, Diary, entry('last'))
    expect(again.read(1, Diary)).toHaveLength(count + 1)
  })

  it('that is taken line by line while the world is written to says so, and has no end', () => {
    const world = populated()
    const lines = world.snapshot()[Symbol.iterator]()
    lines.next()
    lines.next()
    world.set(1, Person, { name: 'Eve' })
    expect(() => lines.next()).toThrow(
      refusal('corrupt-snapshot', "World 'town'", 'after line 2', '[...world.snapshot()]'),
    )
    const untouched = world.snapshot()[Symbol.iterator]()
    untouched.next()
    world.query(Person)
    world.random()
    expect(untouched.next().done).toBe(false)
  })

  it('can be taken again and again, and changes nothing', () => {
    const world = populated()
    const lines = [...world.snapshot()]
    expect([...world.snapshot()]).toEqual(lines)
    expect([...World.restore(lines, { components: family }).snapshot()]).toEqual(lines)
  })

  it('lists no component that nobody has any more', () => {
    const world = new World({ components: family })
    world.despawn(world.spawn(Asleep))
    world.query(Person)
    expect(JSON.parse([...world.snapshot()][0] as string)).toMatchObject({ components: {} })
  })
})

describe('a hash', () => {
  it('is the SHA-256 of the snapshot before its end', () => {
    const world = populated()
    const lines = [...world.snapshot()]
    expect(JSON.parse(lines.at(-1) as string)).toMatchObject({ end: { sha256: world.hash() } })
  })

  it.for<[string, (world: World) => unknown]>([
    ['a value', (world) => world.patch(1, Person, { age: 37 })],
    ['an item of a log', (world) => world.append(1, Diary, entry('b'))],
    ['a tag', (world) => world.add(2, Asleep)],
    ['an entity', (world) => world.despawn(2)],
    ['the next number', (world) => world.despawn(world.spawn())],
    ['the dice', (world) => world.random()],
    ['the ids given', (world) => world.newId('x')],
    ['what is posted', (world) => world.post(input('more'))],
    ['the tick', (world) => tick(world)],
  ])('is another when another is %s', ([, change]) => {
    const world = populated()
    const before = world.hash()
    change(world)
    expect(world.hash()).not.toBe(before)
  })

  it('that is stable leaves out what a crash may change: tick, times, dice and counters', () => {
    const world = populated()
    const before = [world.hash({ stable: true }), world.hash()]
    tick(world, [input('started', { dateMs: 5 })], { nowMs: 100 })
    world.random()
    world.newId('x')
    world.despawn(world.spawn())
    expect(world.hash({ stable: true })).toBe(before[0])
    expect(world.hash()).not.toBe(before[1])
    world.set(1, Person, { name: 'Ada', about: { dueMs: 5, attempt: 1, deep: [{ atMs: 1 }] } })
    const timed = world.hash({ stable: true })
    world.set(1, Person, { name: 'Ada', about: { dueMs: 6, attempt: 2, deep: [{ atMs: 2 }] } })
    expect(world.hash({ stable: true })).toBe(timed)
    world.set(1, Person, { name: 'Eve', about: { dueMs: 6, attempt: 2, deep: [{ atMs: 2 }] } })
    expect(world.hash({ stable: true })).not.toBe(timed)
  })

  it('is the same for a world within a tick as after it', () => {
    const seen: string[] = []
    const world = new World({ systems: [doing((each) => void seen.push(each.hash()))], components: family })
    tick(world)
    expect(seen).toEqual([world.hash()])
  })
})
