import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import { canonical } from '../../src/world/canonical.ts'
import { defineTag } from '../../src/world/component.ts'
import { not } from '../../src/world/entities.ts'
import type { Json } from '../../src/base/json.ts'
import { tick } from '../../src/world/tick.ts'
import { World } from '../../src/world/world.ts'
import { Asleep, ChildOf, Diary, doing, entry, family, Likes, Person } from './family.ts'

/** The longest column: what a world keeps room for. */
function room(world: World): number {
  return Math.max(...world.core.state.columns().map(({ size }) => size))
}

function heapAfter(work: () => void): number {
  work()
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  // What a first pass frees may hold more that only a second one finds.
  for (let pass = 0; pass < 3; pass++) collect()
  return process.memoryUsage().heapUsed
}

describe('the memory of a world', () => {
  it('is that of who lives, not of who ever lived', () => {
    const world = new World({
      systems: [
        doing((each) => {
          const parent = each.spawn(Person({ name: 'Ada' }), Diary([entry('a')]))
          each.spawn(ChildOf({ parent }), Likes({ whom: parent }), Asleep)
          each.query(Person, Diary)
          for (const one of each.entities()) if (one < parent) each.despawn(one)
        }),
      ],
      components: family,
    })
    const run = (): void => {
      for (let round = 0; round < 5_000; round++) tick(world)
    }
    const before = heapAfter(run)
    expect(heapAfter(run) - before).toBeLessThan(500_000)
    expect(world.entities()).toHaveLength(2)
    expect(room(world)).toBeLessThan(64)
  })

  it('keeps room in proportion to the crowd when many come and go', () => {
    const world = new World()
    for (let count = 0; count < 1_000; count++) world.spawn(Asleep)
    for (let round = 0; round < 50_000; round++) world.despawn(world.spawn(Asleep))
    expect(room(world)).toBeLessThan(1_500)
    for (const entity of world.entities()) world.despawn(entity)
    for (let count = 0; count < 1_000; count++) world.spawn(Asleep)
    expect(room(world)).toBeLessThan(1_500)
  })

  it('has no room in a column for the crowd before the first that has the component', () => {
    const world = new World()
    for (let count = 0; count < 1_000; count++) world.spawn(Asleep)
    const ada = world.spawn(Person({ name: 'Ada' }))
    expect(world.core.state.column(Person).size).toBe(1)
    world.add(1, Person({ name: 'Bo' }))
    expect(world.query(Person).map((entity) => world.read(entity, Person).name)).toEqual(['Bo', 'Ada'])
    world.set(ada, Person, { name: 'Ada', age: 36 })
    expect(world.core.state.column(Person).count).toBe(2)
    world.remove(1, Person)
    world.remove(1, Person)
    expect(world.core.state.column(Person).count).toBe(1)
    expect(world.read(ada, Person).name).toBe('Ada')
  })

  it('moves a column a few times only when its rows come from the last to the first', () => {
    const world = new World()
    const crowd = Array.from({ length: 1_000 }, () => world.spawn())
    for (const entity of crowd.toReversed()) world.add(entity, Person({ name: String(entity) }))
    expect(world.core.state.column(Person).size).toBeLessThanOrEqual(1_001)
    for (const entity of crowd) expect(world.read(entity, Person).name).toBe(String(entity))
  })

  it('is that of what it holds, however much is asked of it that nobody has, or few', { timeout: 60_000 }, () => {
    const tokens = Array.from({ length: 30 }, (_, index) => defineTag(`Asked${index}`))
    const many = 500
    const worlds = (ask: (world: World) => void): World[] =>
      Array.from({ length: many }, () => {
        const world = new World()
        world.spawn(Person({ name: 'Ada' }), Diary([entry('a')]))
        ask(world)
        return world
      })
    const weighOnce = (ask: (world: World) => void): number => {
      worlds(ask)
      const before = heapAfter(() => undefined)
      let kept: World[] = []
      const after = heapAfter(() => (kept = worlds(ask)))
      return (after - before) / kept.length
    }
    const askAll = (world: World): void => {
      for (const token of tokens) expect(world.query(token, Person)).toEqual([])
      expect(world.query(Person, Diary, ...tokens.map(not))).toEqual([1])
    }
    // Garbage of other tests may be freed, or made, while something is weighed: the median leaves such passes out.
    const weigh = (ask: (world: World) => void): number => {
      const passes = Array.from({ length: 5 }, () => weighOnce(ask)).sort((a, b) => a - b)
      return passes[2] as number
    }
    const [plain, asked] = [weigh(() => undefined), weigh(askAll)]
    expect(asked - plain).toBeLessThan(500)
    expect(asked).toBeLessThan(4_000)
  })

  it('has no room in the lists of its values for items that never come', () => {
    const lists = 20_000
    const stored: Json[] = []
    const before = heapAfter(() => undefined)
    const after = heapAfter(() => {
      for (let count = 0; count < lists; count++) stored.push(canonical([count], () => 'a list'))
    })
    // An array takes 32 bytes and its item 24; with room for 17 items it were 184.
    expect((after - before) / lists).toBeLessThan(120)
    expect(stored).toHaveLength(lists)
  })

  it('holds nothing of ticks that are done', () => {
    const world = new World({
      systems: [
        doing((each) => {
          each.set(1, Person, { name: 'x'.repeat(1_000) + each.tick })
          if (each.tick % 2 === 0) throw new Error('undone')
        }),
      ],
    })
    world.spawn(Person({ name: 'Ada' }))
    const run = (): void => {
      for (let round = 0; round < 2_000; round++) {
        try {
          tick(world)
        } catch {
          world.core.tick++
        }
      }
    }
    run()
    const before = heapAfter(run)
    expect(heapAfter(run) - before).toBeLessThan(1_000_000)
    for (const { overwritten } of world.core.state.columns()) expect(overwritten).toBeUndefined()
  })
})
