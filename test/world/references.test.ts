import { describe, expect, it } from 'vitest'
import { tick } from '../../src/world/tick.ts'
import { World } from '../../src/world/world.ts'
import type { System } from '../../src/world/world.ts'
import { ChildOf, doing, family, Likes, Person, refusal } from './family.ts'

function worldOf(...systems: readonly System[]): World {
  return new World({ systems, components: family })
}

describe('a reference', () => {
  it('of many is put in order once, as long as nobody comes or goes', () => {
    const world = worldOf()
    const parent = world.spawn()
    const [one, two] = [1, 2].map(() => world.spawn(ChildOf({ parent })))
    const listed = world.referrers(ChildOf, parent)
    expect(world.referrers(ChildOf, parent)).toBe(listed)
    const three = world.spawn(ChildOf({ parent }))
    expect(world.referrers(ChildOf, parent)).toEqual([one, two, three])
    world.remove(one as number, ChildOf)
    expect(world.referrers(ChildOf, parent)).toEqual([two, three])
    // A list that somebody goes through stays as it was.
    expect(listed).toEqual([one, two])
  })

  it('is found from its other end, ascending', () => {
    const world = worldOf()
    const parent = world.spawn()
    const [one, two, three] = [1, 2, 3].map(() => world.spawn(ChildOf({ parent })))
    expect(world.referrers(ChildOf, parent)).toEqual([one, two, three])
    world.remove(two as number, ChildOf)
    world.set(three as number, ChildOf, { parent: one as number })
    expect(world.referrers(ChildOf, parent)).toEqual([one])
    expect(world.referrers(ChildOf, one as number)).toEqual([three])
    expect(world.referrers(Likes, parent)).toEqual([])
  })

  it('to an entity that does not exist is refused, and the old one stays', () => {
    const world = worldOf()
    const parent = world.spawn()
    const child = world.spawn(ChildOf({ parent }))
    const refused = refusal('unknown-entity', 'component ChildOf at parent', 'entity 99 does not exist')
    expect(() => world.set(child, ChildOf, { parent: 99 })).toThrow(refused)
    expect(() => world.spawn(ChildOf({ parent: 99 }))).toThrow(refused)
    expect(world.read(child, ChildOf)).toEqual({ parent })
    expect(world.referrers(ChildOf, parent)).toEqual([child])
  })

  it('that cascades takes its entity along, and so on down, circles included', () => {
    const world = worldOf()
    const root = world.spawn()
    const child = world.spawn(ChildOf({ parent: root }))
    const grandchild = world.spawn(ChildOf({ parent: child }))
    world.add(root, ChildOf({ parent: grandchild }))
    const self = world.spawn()
    world.add(self, ChildOf({ parent: self }))
    world.despawn(child)
    expect(world.entities()).toEqual([self])
    world.despawn(self)
    expect(world.entities()).toEqual([])
  })

  it('that cascades goes down a chain of any length', () => {
    const world = worldOf()
    let last = world.spawn()
    for (let depth = 0; depth < 20_000; depth++) last = world.spawn(ChildOf({ parent: last }))
    world.despawn(1)
    expect(world.entities()).toEqual([])
  })

  it('that does not cascade goes alone when its other end is gone', () => {
    const world = worldOf()
    const one = world.spawn(Person({ name: 'Ada' }))
    const two = world.spawn(Person({ name: 'Bob' }), Likes({ whom: one }))
    world.add(one, Likes({ whom: one }))
    world.despawn(one)
    expect(world.componentsOf(two).map(({ name }) => name)).toEqual(['Person'])
    expect(world.query(Likes)).toEqual([])
  })

  it('is told as what became of it, so that who applies the tick does not cascade again', () => {
    const world = worldOf(doing((each) => each.tick === 1 && each.despawn(1)))
    const [root, friend] = [world.spawn(), world.spawn(Likes({ whom: 1 }))]
    const child = world.spawn(ChildOf({ parent: root }))
    const [lines, { delta }] = [[...world.snapshot()], tick(world)]
    expect([delta.despawned, delta.removed]).toEqual([[root, child], { Likes: [friend] }])
    expect(World.restore(lines, { components: family, deltas: [delta] }).hash()).toBe(world.hash())
  })

  it('that a tick made, moved or lost is as before when the tick fails', () => {
    const world = worldOf(
      doing((each) => {
        const late = each.spawn(ChildOf({ parent: 2 }))
        each.set(3, ChildOf, { parent: late })
        each.set(4, Likes, { whom: late })
        each.despawn(2)
        each.despawn(1)
        throw new Error('no')
      }),
    )
    for (const _ of [1, 2]) world.spawn()
    const [child, friend] = [world.spawn(ChildOf({ parent: 1 })), world.spawn(Likes({ whom: 2 }))]
    const before = world.hash()
    expect(() => tick(world)).toThrow(refusal('system-failed'))
    expect(world.hash()).toBe(before)
    expect([world.referrers(ChildOf, 1), world.referrers(Likes, 2)]).toEqual([[child], [friend]])
    world.despawn(1)
    expect(world.entities()).toEqual([2, friend])
  })

  it('holds in a restored world as it did', () => {
    const world = worldOf()
    const parent = world.spawn()
    const children = [1, 2].map(() => world.spawn(ChildOf({ parent }), Likes({ whom: parent })))
    const again = World.restore(world.snapshot(), { components: family })
    expect([again.referrers(ChildOf, parent), again.referrers(Likes, parent)]).toEqual([children, children])
    again.despawn(parent)
    expect(again.entities()).toEqual([])
  })
})
