import { beforeAll, describe, expect, it } from 'vitest'
import { JournalCodec } from '../../src/world/journal.ts'
import { tick } from '../../src/world/tick.ts'
import { World } from '../../src/world/world.ts'
import type { System } from '../../src/world/world.ts'
import { processorUs } from '../processor-us.ts'
import { Asleep, Diary, doing, entry, Likes, Person } from './family.ts'

/** A flat cost, with room for a busy machine. What is not flat here is a thousand times as much. */
const maxRatio = 4
const [few, many] = [100, 100_000]

/**
 * How much more work of the processor the second is than the first: both warmed up, then measured in turns, the quietest
 * third of the rounds compared, so that what else the machine does falls out.
 */
function ratio(first: () => void, second: () => void): number {
  const costs: [number[], number[]] = [[], []]
  for (let round = -5; round < 30; round++) {
    for (const [index, work] of [first, second].entries()) {
      const before = processorUs()
      for (let count = 0; count < 50; count++) work()
      if (round >= 0) costs[index]?.push(processorUs() - before)
    }
  }
  const [small = 0, large = 0] = costs.map((each) => each.toSorted((a, b) => a - b)[10])
  return large / small
}

/** Worlds with few and with many sleepers, ticked by these. */
function sleepers(...systems: readonly System[]): [World, World] {
  const worlds = [few, many].map((count) => {
    const world = new World({ systems })
    world.query(Person)
    world.query(Asleep)
    for (let one = 0; one < count; one++) world.spawn(Person({ name: 'x' }), Asleep)
    return world
  })
  return worlds as [World, World]
}

describe('the cost', () => {
  let worlds: [World, World]

  beforeAll(() => {
    worlds = sleepers(
      doing((world) => {
        world.query(Likes)
        world.query(Diary, Likes)
      }),
    )
  })

  it('of a tick in which nothing happens is the same for a hundred thousand entities', () => {
    const [small, large] = worlds
    expect(
      ratio(
        () => tick(small),
        () => tick(large),
      ),
    ).toBeLessThan(maxRatio)
  })

  it('of one who comes and goes is the same among a hundred thousand', () => {
    const [small, large] = worlds
    const comeAndGo = (world: World) => () => world.despawn(world.spawn(Person({ name: 'y' }), Asleep))
    // What many before them leave behind may not slow down the next.
    for (const world of worlds) for (let count = 0; count < 20_000; count++) world.despawn(world.spawn())
    expect(ratio(comeAndGo(small), comeAndGo(large))).toBeLessThan(maxRatio)
  })

  it('of a reference to somebody among a hundred thousand, and of its end, is the same', () => {
    const [small, large] = worlds
    const like = (world: World) => () => {
      const one = world.spawn(Likes({ whom: 1 }))
      world.referrers(Likes, 1)
      world.despawn(one)
    }
    expect(ratio(like(small), like(large))).toBeLessThan(maxRatio)
  })

  it('of an entry, written and journaled, is the same behind a hundred thousand', () => {
    const systems = [doing((world) => world.append(1, Diary, entry('one more')))]
    const write = (length: number): (() => void) => {
      const world = new World({ systems })
      world.spawn(Diary(Array.from({ length }, () => entry('old'))))
      const codec = new JournalCodec('')
      return () => void codec.encode(tick(world))
    }
    expect(ratio(write(10), write(many))).toBeLessThan(maxRatio)
  })

  it('of a tick that is undone is that of what it wrote', () => {
    const systems = [
      doing((world) => {
        world.append(1, Diary, entry('x'))
        world.despawn(world.spawn())
        throw new Error('no')
      }),
    ]
    const fail = (length: number, others: number): (() => void) => {
      const world = new World({ systems })
      world.spawn(Diary(Array.from({ length }, () => entry('old'))))
      for (let count = 0; count < others; count++) world.spawn()
      return () => expect(() => tick(world)).toThrow('undone')
    }
    expect(ratio(fail(10, few), fail(many, many))).toBeLessThan(maxRatio)
  })
})
