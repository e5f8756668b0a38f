import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { Delta } from '../../src/world/changes.ts'
import { defineComponent } from '../../src/world/component.ts'
import { tick } from '../../src/world/tick.ts'
import { World } from '../../src/world/world.ts'
import type { System } from '../../src/world/world.ts'
import { Asleep, ChildOf, Diary, doing, entry, family, Person } from './family.ts'

/** The delta of one tick of a world with Ada, who sleeps, and her child Bob. */
function deltaOf(run: System['run']): Delta {
  const world = new World({ systems: [doing(run)], components: family })
  world.spawn(Person({ name: 'Ada' }), Diary([entry('a')]), Asleep)
  world.spawn(Person({ name: 'Bob' }), ChildOf({ parent: 1 }))
  return tick(world).delta
}

describe('a delta', () => {
  it('of a tick in which nothing happened holds the state that is no entity, and nothing else', () => {
    const delta = deltaOf(() => undefined)
    expect(delta).toEqual({ tick: 1, nowMs: 0, dateOffsetMs: 0, next: 3, ids: 0, random: delta.random })
  })

  it('tells what was written, by component and entity in ascending order, whatever the order of writing', () => {
    const { set, removed, spawned } = deltaOf((world) => {
      world.spawn(Person({ name: 'Eve' }))
      world.set(2, Person, { name: 'Rob' })
      world.add(2, Asleep)
      world.set(1, Person, { name: 'Ida' })
      world.remove(2, ChildOf)
      world.remove(1, Asleep)
    })
    expect(JSON.stringify({ set, removed, spawned })).toBe(
      JSON.stringify({
        set: {
          Asleep: [[2, true]],
          Person: [
            [1, { name: 'Ida' }],
            [2, { name: 'Rob' }],
            [3, { name: 'Eve' }],
          ],
        },
        removed: { Asleep: [1], ChildOf: [2] },
        spawned: [3],
      }),
    )
  })

  it('tells the end of a tick, not the way there', () => {
    const { set, removed, spawned, despawned } = deltaOf((world) => {
      for (let age = 0; age < 10; age++) world.patch(1, Person, { age })
      world.remove(1, Asleep)
      world.add(1, Asleep)
      world.add(2, Asleep)
      world.remove(2, Asleep)
      world.despawn(world.spawn(Person({ name: 'Nobody' })))
    })
    expect(set).toEqual({ Person: [[1, { age: 9, name: 'Ada' }]] })
    expect([removed, spawned, despawned]).toEqual([undefined, undefined, undefined])
  })

  it('does not tell of the components of who is gone', () => {
    const delta = deltaOf((world) => {
      world.patch(1, Person, { age: 1 })
      world.append(1, Diary, entry('last'))
      world.remove(2, Person)
      world.despawn(1)
    })
    expect(delta.despawned).toEqual([1, 2])
    expect([delta.set, delta.appended, delta.removed]).toEqual([undefined, undefined, undefined])
  })

  it('tells of a value that was written as it was: which values are one object is no part of a world', () => {
    const world = new World({
      systems: [doing((each) => each.set(1, Person, each.read(2, Person)))],
      components: family,
    })
    world.spawn(Person({ name: 'Ada' }))
    world.spawn(Person({ name: 'Bob' }))
    world.set(1, Person, world.read(2, Person))
    const again = World.restore(world.snapshot(), { systems: world.systems, components: family })
    const { delta } = tick(world)
    expect(delta.set).toEqual({ Person: [[1, { name: 'Bob' }]] })
    expect(tick(again).delta).toEqual(delta)
  })

  it('costs what changed: one entry more in a diary of ten thousand is one entry', () => {
    const world = new World({ systems: [doing((each) => each.append(1, Diary, entry('new')))] })
    world.spawn(Diary(Array.from({ length: 10_000 }, () => entry('old'))))
    expect(JSON.stringify(tick(world).delta).length).toBeLessThan(250)
  })

  it('says the version of a component that it sets, where that is above 1', () => {
    const House = defineComponent('House', z.string(), { version: 3 })
    const world = new World({ systems: [doing((each) => void each.spawn(House('Elm'), Person({ name: 'Ada' })))] })
    expect(tick(world).delta.versions).toEqual({ House: 3 })
  })

  it('is not touched by what happens in later ticks', () => {
    const world = new World({
      systems: [
        doing((each) => {
          each.append(1, Diary, entry(`tick ${each.tick}`))
          each.splice(1, Diary, 0, 1, [entry('x')])
          each.append(1, Diary, entry('y'))
        }),
      ],
    })
    world.spawn(Diary([entry('a')]))
    const { delta } = tick(world)
    const text = JSON.stringify(delta)
    for (let round = 0; round < 3; round++) tick(world)
    expect(JSON.stringify(delta)).toBe(text)
  })
})
