import { describe, expect, it } from 'vitest'
import { tick } from '../../src/world/tick.ts'
import { World } from '../../src/world/world.ts'
import { doing, refusal } from './family.ts'

function rolls(world: World, count: number): number[] {
  return Array.from({ length: count }, () => world.random())
}

describe("a world's dice", () => {
  it('fall the same for the same seed, and otherwise for others, however large', () => {
    const seeds = [0, 1, 2, 7, 2 ** 31, 2 ** 32, 2 ** 32 + 1, 2 ** 53 - 1]
    const first = seeds.map((seed) => rolls(new World({ seed }), 3).join())
    expect(seeds.map((seed) => rolls(new World({ seed }), 3).join())).toEqual(first)
    expect(new Set(first).size).toBe(seeds.length)
    expect(rolls(new World(), 1)).toEqual(rolls(new World({ seed: 1 }), 1))
  })

  it('fall so on every machine and in every version: what was recorded is replayed', () => {
    expect(rolls(new World({ seed: 7 }), 3)).toEqual([0.04740336826805225, 0.40756843029788714, 0.35853941671983813])
    expect(rolls(new World({ seed: 2 ** 40 + 7 }), 2)).toEqual([0.6840062684450602, 0.07545604782181237])
    const world = new World({ seed: 7, name: 'town' })
    expect([world.newId('x'), world.newId('x')]).toEqual(['x-1abc0ecd3f634af7', 'x-d06585408d325ace'])
  })

  it('fall between 0 and 1, evenly', () => {
    const fallen = rolls(new World({ seed: 7 }), 20_000)
    expect(fallen.every((roll) => roll >= 0 && roll < 1)).toBe(true)
    const counts = Array<number>(10).fill(0)
    for (const roll of fallen) counts[Math.floor(roll * 10)] = (counts[Math.floor(roll * 10)] as number) + 1
    for (const count of counts) expect(Math.abs(count - 2_000)).toBeLessThan(250)
    expect(new Set(fallen).size).toBe(fallen.length)
  })

  it('go on in a restored world where they stood, and are part of its hash', () => {
    const world = new World({ seed: 7 })
    const before = world.hash()
    rolls(world, 5)
    expect(world.hash()).not.toBe(before)
    const again = World.restore(world.snapshot())
    expect(rolls(again, 5)).toEqual(rolls(world, 5))
    expect(again.hash()).toBe(world.hash())
  })

  it('fall again the same way after a tick that failed', () => {
    const fallen: (number | string)[] = []
    const system = doing((world) => {
      fallen.push(world.random(), world.newId('x'), world.spawn())
      if (fallen.length === 3) throw new Error('no')
    })
    const world = new World({ systems: [system] })
    expect(() => tick(world)).toThrow(refusal('system-failed'))
    tick(world)
    expect(fallen.slice(3)).toEqual(fallen.slice(0, 3))
    expect(world.tick).toBe(1)
  })
})

describe('an id', () => {
  it('is the prefix and 16 hex digits, given once in a world', () => {
    const world = new World({ seed: 3 })
    const ids = Array.from({ length: 50_000 }, () => world.newId('session'))
    expect(ids.every((id) => /^session-[0-9a-f]{16}$/.test(id))).toBe(true)
    expect(new Set(ids).size).toBe(ids.length)
  })

  it('is the same again for the same name and seed, and otherwise another', () => {
    const worlds = [{}, { seed: 2 }, { name: 'other' }, { name: 'other', seed: 2 }]
    const ids = worlds.map((options) => new World(options).newId('x'))
    expect(worlds.map((options) => new World(options).newId('x'))).toEqual(ids)
    expect(new Set(ids).size).toBe(worlds.length)
  })

  it('given before a save is not given again after it', () => {
    const world = new World()
    const before = Array.from({ length: 10 }, () => world.newId('x'))
    const again = World.restore(world.snapshot())
    const next = again.newId('x')
    expect(before).not.toContain(next)
    expect(world.newId('x')).toBe(next)
  })
})
