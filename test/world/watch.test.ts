import { describe, expect, it } from 'vitest'
import { tick } from '../../src/world/tick.ts'
import { World } from '../../src/world/world.ts'
import { Asleep, ChildOf, Diary, entry, family, Person } from './family.ts'

function watched(): World {
  const world = new World({ components: family })
  world.spawn(Person({ name: 'Ada' }), Diary([entry('a'), entry('b')]))
  world.spawn(Person({ name: 'Bob' }), ChildOf({ parent: 1 }))
  world.core.watch()
  return world
}

describe('a watched world', () => {
  it('has nothing to tell when nothing was written', () => {
    const world = watched()
    world.query(Person)
    world.set(1, Person, { name: 'Eve' })
    world.core.unwatch()
    world.core.watch()
    world.despawn(99)
    world.remove(1, Asleep)
    expect(world.core.unwatch()).toBeUndefined()
  })

  it('takes back what was written and gives it as an input that makes it again', () => {
    const world = watched()
    const before = world.hash()
    world.patch(1, Person, { age: 3 })
    world.append(1, Diary, entry('c'))
    const three = world.spawn(Asleep, ChildOf({ parent: 2 }))
    world.despawn(world.spawn())
    const roll = world.random()
    const change = world.core.unwatch()
    expect(world.hash()).toBe(before)
    expect(change).toMatchObject({
      kind: 'change',
      spawned: [three],
      set: { Person: [[1, { age: 3, name: 'Ada' }]] },
      appended: { Diary: [[1, [entry('c')]]] },
      header: { next: 5 },
    })
    const { delta } = tick(world, [change as NonNullable<typeof change>])
    expect([world.read(1, Person).age, world.referrers(ChildOf, 2), world.spawn()]).toEqual([3, [three], 5])
    expect(delta.tick).toBe(1)
    expect(world.random()).not.toBe(roll)
  })

  it('gives a log that was thrown away and begun anew whole', () => {
    const world = watched()
    world.remove(1, Diary)
    world.add(1, Diary([entry('a'), entry('b'), entry('new')]))
    const change = world.core.unwatch()
    const lines = [...world.snapshot()]
    const { delta } = tick(world, change === undefined ? [] : [change])
    expect(delta.set?.['Diary']).toEqual([[1, [entry('a'), entry('b'), entry('new')]]])
    expect(World.restore(lines, { components: family, deltas: [delta] }).hash()).toBe(world.hash())
  })

  it('has what was taken back once more when it is to be written again', () => {
    const world = watched()
    world.append(1, Diary, entry('c'))
    const [before, roll] = [world.hash(), world.newId('x')]
    const change = world.core.unwatch()
    world.core.watch(change)
    expect(world.newId('x')).not.toBe(roll)
    expect(world.read(1, Diary)).toHaveLength(3)
    expect(before).not.toBe(world.hash())
    const again = world.core.unwatch()
    expect(again).toMatchObject({ appended: { Diary: [[1, [entry('c')]]] }, header: { ids: 2 } })
    expect(world.read(1, Diary)).toHaveLength(2)
  })

  it('moves on with the clock of the tick in which it is written again, not back to its own', () => {
    const world = watched()
    tick(world, [], { nowMs: 50 })
    world.core.watch()
    world.add(1, Asleep)
    const change = world.core.unwatch()
    const { delta } = tick(world, change === undefined ? [] : [change], { nowMs: 80 })
    expect([delta.tick, delta.nowMs, world.tick, world.nowMs]).toEqual([2, 80, 2, 80])
  })

  it('tells even of dice alone', () => {
    const world = watched()
    world.random()
    expect(world.core.unwatch()).toMatchObject({ kind: 'change' })
  })

  it('is watched from the newest beginning, and no more once it ticks', () => {
    const world = watched()
    world.add(1, Asleep)
    world.core.watch()
    world.add(2, Asleep)
    expect(world.core.unwatch()).toMatchObject({ set: { Asleep: [[2, true]] } })
    expect(world.query(Asleep)).toEqual([1])
    world.core.watch()
    tick(world)
    world.add(2, Asleep)
    expect(world.core.unwatch()).toBeUndefined()
    expect(world.query(Asleep)).toEqual([1, 2])
  })

  it('keeps a value as deep as any can be', () => {
    const world = watched()
    let deep: unknown = 1
    for (let level = 0; level < 253; level++) deep = { a: deep }
    world.set(1, Person, { name: 'Ada', about: { deep } })
    const change = world.core.unwatch()
    tick(world, change === undefined ? [] : [change])
    expect(world.get(1, Person)?.about).toEqual({ deep })
  })
})
