import { describe, expect, it } from 'vitest'
import { defineTag, type TagComponent } from '../../src/world/component.ts'
import { tick } from '../../src/world/tick.ts'
import type { Wake } from '../../src/world/wake-plan.ts'
import { type System, World } from '../../src/world/world.ts'
import { simulate } from 'entia/sim'
import { Asleep, family, Fresh, input, Person, refusal } from './family.ts'

/** A system that notes the ticks in which it runs. */
function noting(wakes: readonly Wake[] | undefined): { readonly system: System; readonly ticks: number[] } {
  const ticks: number[] = []
  const run = (world: World): void => void ticks.push(world.tick)
  const system = { name: 'noting', priority: 0, run, ...(wakes !== undefined && { wakes }) }
  return { system, ticks }
}

const inhabited = (...systems: readonly System[]): World => new World({ systems, components: family })

describe('a system', () => {
  it('without wakes runs in every tick', () => {
    const { system, ticks } = noting(undefined)
    const world = inhabited(system)
    tick(world)
    tick(world)
    expect(ticks).toEqual([1, 2])
  })

  it('runs in a tick that brings an input of a kind that wakes it', () => {
    const { system, ticks } = noting(['letter', 'call'])
    const world = inhabited(system)
    tick(world, [input('visit')])
    tick(world, [input('visit'), input('call')])
    tick(world)
    expect(ticks).toEqual([2])
  })

  it('runs as long as somebody has a component that wakes it', () => {
    const { system, ticks } = noting([Asleep])
    const world = inhabited(system)
    tick(world)
    const sleeper = world.spawn(Asleep)
    tick(world)
    tick(world)
    world.remove(sleeper, Asleep)
    tick(world)
    expect(ticks).toEqual([2, 3])
  })

  it('that is woken by components together sleeps while one of them is not there', () => {
    const { system, ticks } = noting([[Asleep, Fresh]])
    const world = inhabited(system)
    const person = world.spawn(Asleep)
    tick(world)
    world.add(person, Fresh)
    tick(world)
    expect(ticks).toEqual([2])
  })

  it('is woken by what an earlier system of the same tick has written', () => {
    const { system, ticks } = noting([Asleep])
    const earlier = { name: 'earlier', priority: -1, run: (world: World): void => void world.spawn(Asleep) }
    const world = inhabited(system, earlier)
    tick(world)
    expect(ticks).toEqual([1])
  })

  it('is woken in a restored world by what was there before', () => {
    const before = inhabited()
    before.spawn(Asleep)
    const { system, ticks } = noting([Asleep])
    tick(World.restore(before.snapshot(), { systems: [system], components: family }))
    expect(ticks).toEqual([1])
  })

  it('sees each of a hundred components that wake it, also where some of them are there already', () => {
    const many = Array.from({ length: 100 }, (_, index) => defineTag(`Tag${index}`))
    const { system, ticks } = noting(many.map((tag) => [tag, Fresh]))
    const world = inhabited(system)
    const other = world.spawn(...many.filter((_, index) => index % 3 === 0))
    tick(world)
    for (const tag of many) {
      const entity = world.spawn(tag, Fresh)
      tick(world)
      world.despawn(entity)
    }
    world.despawn(other)
    tick(world)
    expect(ticks).toEqual(many.map((_, index) => index + 2))
  })

  it('sees each of a hundred kinds of input, in any order', () => {
    const kinds = Array.from({ length: 100 }, (_, index) => `kind-${index}`)
    const { system, ticks } = noting(kinds.filter((_, index) => index % 2 === 0))
    const world = inhabited(system)
    for (const kind of kinds) tick(world, [input('visit'), input(kind), input(kind)])
    expect(ticks).toEqual(kinds.flatMap((_, index) => (index % 2 === 0 ? [index + 1] : [])))
  })

  it('wakes the same however many combinations of components there were before', () => {
    const tags = Array.from({ length: 14 }, (_, index) => defineTag(`Bit${index}`))
    const [first, second] = tags as [TagComponent, TagComponent]
    const { system, ticks } = noting([[first, second], ...tags.slice(2)])
    const world = inhabited(system)
    const entity = world.spawn()
    const expected: number[] = []
    // Each number differs from the last in one bit: all combinations, one after the other.
    for (let number = 1; number < 2 ** tags.length; number++) {
      const place = Math.log2(number & -number)
      const tag = tags[place] as TagComponent
      if (world.has(entity, tag)) world.remove(entity, tag)
      else world.add(entity, tag)
      tick(world)
      const isAwake =
        (world.has(entity, first) && world.has(entity, second)) ||
        tags.slice(2).some((other) => world.has(entity, other))
      if (isAwake) expected.push(world.tick)
    }
    expect(ticks).toEqual(expected)
  })

  it('that its own world gives back after a failed tick sleeps and wakes as before it', () => {
    const { system, ticks } = noting([Asleep])
    const failing = {
      name: 'failing',
      priority: -1,
      wakes: ['fail'],
      run: (world: World): void => {
        for (const entity of world.query(Asleep)) world.despawn(entity)
        world.spawn(Fresh)
        throw new Error('no')
      },
    }
    const world = inhabited(system, failing)
    world.spawn(Asleep)
    expect(() => tick(world, [input('fail')])).toThrow('no')
    tick(world)
    expect(ticks).toEqual([1])
  })

  it.for<[string, unknown]>([
    ['one component', Asleep],
    ['one kind', 'letter'],
    ['nothing', []],
    ['a number', [7]],
    ['a kind in a list of components', [[Asleep, 'letter']]],
  ])('whose wakes are %s is refused', ([, wakes]) => {
    const system = { name: 'odd', priority: 0, run: () => undefined, wakes: wakes as readonly Wake[] }
    expect(() => inhabited(system)).toThrow(refusal('invalid-argument', "system 'odd': wakes must be a list"))
  })
})

describe('a world that checks wakes', () => {
  it.for<[string, (world: World) => unknown]>([
    ['writes', (world) => world.spawn(Person({ name: 'Ada' }))],
    ['emits', (world) => world.emit({ type: 'warning', message: 'late' })],
    ['asks for another tick', (world) => world.requestTick()],
    ['throws dice', (world) => world.random()],
    ['makes an id', (world) => world.newId('letter')],
  ])('refuses a system that %s though nothing has woken it', ([, act]) => {
    const system = { name: 'odd', priority: 0, wakes: [Asleep], run: (world: World): void => void act(world) }
    const world = inhabited(system)
    tick(world)
    expect(world.tick, 'without the check the system sleeps').toBe(1)
    world.core.checksWakes = true
    expect(() => tick(world)).toThrow(refusal('system-failed', "System 'odd'", 'wakes'))
  })

  it('lets a system look that then does nothing', () => {
    const { system, ticks } = noting([Asleep])
    const world = inhabited(system)
    world.core.checksWakes = true
    tick(world)
    expect(ticks).toEqual([1])
  })
})

describe('a simulation', () => {
  it('finds wakes that lack something under one of two seeds', async () => {
    const late: System = {
      name: 'late',
      priority: 0,
      wakes: [Asleep],
      run: (world) => void (world.query(Fresh).length > 0 && world.requestTick()),
    }
    const world = (): World => {
      const made = inhabited(late)
      made.spawn(Fresh)
      return made
    }
    const found = await Promise.all([1, 2].map((seed) => simulate({ world, components: family, seed })))
    expect(found.map(({ violation }) => violation?.law)).toEqual(['runner-goes-on', undefined])
  })
})
