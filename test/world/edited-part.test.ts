import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { defineComponent, defineLog, defineTag } from '../../src/world/component.ts'
import { tick } from '../../src/world/tick.ts'
import { World } from '../../src/world/world.ts'
import { doing, refusal } from './family.ts'

const Changed = defineComponent('Changed', () =>
  z.strictObject({ from: z.number(), inserted: z.number(), removed: z.number() }),
)
const Item = z.strictObject({ text: z.string() })
const Notes = defineLog('Notes', Item, { edited: Changed })
const Plain = defineLog('Plain', Item)
const components = [Changed, Notes, Plain]

function items(letters: string): { text: string }[] {
  return Array.from(letters, (text) => ({ text }))
}

function noting(letters: string): { world: World; one: number } {
  const world = new World({ components })
  return { world, one: world.spawn(Notes(items(letters))) }
}

/** What is noted of the log abcde after these writes: index, items removed, items inserted. */
function noted(...writes: readonly ((world: World, one: number) => void)[]) {
  const { world, one } = noting('abcde')
  for (const write of writes) write(world, one)
  const part = world.get(one, Changed)
  return part && [part.from, part.removed, part.inserted]
}

const splice =
  (from: number, count: number, letters = '') =>
  (world: World, one: number): void =>
    world.splice(one, Notes, from, count, items(letters))
const rewrite =
  (letters: string) =>
  (world: World, one: number): void =>
    world.rewrite(one, Notes, items(letters))
const append =
  (letters: string) =>
  (world: World, one: number): void =>
    world.append(one, Notes, ...items(letters))

describe('a log that notes where it was changed', () => {
  it('notes nothing of what is appended, in whatever way', () => {
    expect(noted(append('fg'))).toBeUndefined()
    expect(noted(splice(5, 0, 'f'))).toBeUndefined()
    expect(noted(rewrite('abcdef'))).toBeUndefined()
    expect(noted((world, one) => world.add(one, Notes(items('abcdef'))))).toBeUndefined()
  })

  it('notes nothing of items that are put in the place of equal ones', () => {
    expect(noted(splice(1, 2, 'bc'))).toBeUndefined()
    expect(noted(rewrite('abcde'))).toBeUndefined()
  })

  it('notes the part that is another one, and no more', () => {
    expect(noted(splice(1, 2, 'xyz'))).toEqual([1, 2, 3])
    expect(noted(splice(0, 4, 'abxd'))).toEqual([2, 1, 1])
    expect(noted(splice(2, 0, 'x'))).toEqual([2, 0, 1])
    expect(noted(rewrite('abxe'))).toEqual([2, 2, 1])
    expect(noted((world, one) => world.add(one, Notes(items('abxde'))))).toEqual([2, 1, 1])
  })

  it('notes items that are gone, from the end or all of them', () => {
    expect(noted(rewrite('ab'))).toEqual([2, 3, 0])
    expect(noted(rewrite(''))).toEqual([0, 5, 0])
    expect(noted((world, one) => world.remove(one, Notes))).toEqual([0, 5, 0])
  })

  it('notes what a log that is shared over it changes', () => {
    const { world, one } = noting('abcde')
    const other = world.spawn(Plain(items('abxdef')))
    world.share(other, Plain, one, Notes, 6)
    expect(world.read(one, Changed)).toEqual({ from: 2, inserted: 4, removed: 3 })
  })

  it('joins several edits, with what was appended between them', () => {
    expect(noted(splice(3, 1, 'x'), splice(1, 1))).toEqual([1, 3, 2])
    expect(noted(append('f'), splice(5, 1, 'xy'), append('z'), splice(0, 1))).toEqual([0, 6, 6])
  })

  it('begins anew once the note is removed', () => {
    const take = (world: World, one: number): void => world.remove(one, Changed)
    expect(noted(splice(0, 1), take, append('f'))).toBeUndefined()
    expect(noted(splice(0, 1), take, splice(3, 1))).toEqual([3, 1, 0])
  })

  it('has the same items before the part and behind it, whatever was done', () => {
    const letters = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 4 })
    const place = fc.nat({ max: 9 })
    const write = fc.oneof(
      letters.map((text) => append(text)),
      letters.map((text) => rewrite(text)),
      fc.tuple(place, place, letters).map(([from, count, text]) => (world: World, one: number) => {
        splice(Math.min(from, world.read(one, Notes).length), count, text)(world, one)
      }),
    )
    fc.assert(
      fc.property(letters, fc.array(write, { maxLength: 6 }), (text, writes) => {
        const { world, one } = noting(text)
        const before = [...world.read(one, Notes)]
        for (const each of writes) each(world, one)
        const after = [...world.read(one, Notes)]
        const { from, inserted, removed } = world.get(one, Changed) ?? { from: before.length, inserted: 0, removed: 0 }
        expect(after.slice(0, Math.min(from, before.length))).toEqual(before.slice(0, from))
        const kept = before.slice(from + removed)
        expect(after.slice(from + inserted, from + inserted + kept.length)).toEqual(kept)
      }),
      { numRuns: 500 },
    )
  })

  it('notes it as data: in the changes of the tick, in the snapshot, and undone with the tick', () => {
    let isFailing = true
    const systems = [
      doing((world) => {
        world.splice(1, Notes, 1, 1, items('x'))
        if (isFailing) throw new Error('no')
      }),
    ]
    const world = new World({ systems, components })
    world.spawn(Notes(items('abc')))
    const lines = [...world.snapshot()]
    expect(() => tick(world)).toThrow('no')
    expect(world.has(1, Changed)).toBe(false)
    isFailing = false
    const { delta } = tick(world)
    expect(delta.set).toEqual({ Changed: [[1, { from: 1, inserted: 1, removed: 1 }]] })
    expect(World.restore(lines, { components, deltas: [delta] }).hash()).toBe(world.hash())
    expect(World.restore(world.snapshot(), { components }).hash()).toBe(world.hash())
  })

  it('decides the same in a world that was restored, where equal items are other objects', () => {
    const { world, one } = noting('abc')
    const restored = World.restore(world.snapshot(), { components })
    const held = world.read(one, Notes)
    for (const each of [world, restored]) each.rewrite(one, Notes, [...held.slice(0, 2), { text: 'd' }])
    expect(restored.hash()).toBe(world.hash())
  })

  it('is refused a component for its notes that has no value, or another one', () => {
    const wrong = defineTag('Wrong') as never
    expect(() => defineLog('Wronged', Item, { edited: wrong })).toThrow(
      refusal('invalid-argument', 'Component Wronged', 'edited', 'from, inserted, removed'),
    )
    const Other = defineComponent('Other', z.strictObject({ from: z.string() })) as never
    const Odd = defineLog('Odd', Item, { edited: Other })
    const world = new World()
    const one = world.spawn(Odd(items('ab')))
    expect(() => world.splice(one, Odd, 0, 1, [])).toThrow(refusal('invalid-value', 'entity 1, component Other'))
    expect(world.read(one, Odd)).toEqual(items('ab'))
  })
})
