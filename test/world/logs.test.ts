import { describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { defineLog } from '../../src/world/component.ts'
import { tick } from '../../src/world/tick.ts'
import { World } from '../../src/world/world.ts'
import type { System } from '../../src/world/world.ts'
import { Asleep, Diary, doing, entry, family, Fresh, Person, refusal } from './family.ts'

function texts(world: World, entity: number): string[] {
  return world.read(entity, Diary).map(({ text }) => text)
}

function writer(...lines: readonly string[]): { world: World; one: number } {
  const world = new World({ components: family })
  return { world, one: world.spawn(Diary(lines.map(entry))) }
}

/** What one tick of these writes to a diary of a, b, c tells. */
function told(run: System['run']): { world: World; delta: ReturnType<typeof tick>['delta'] } {
  const world = new World({ systems: [doing(run)], components: family })
  world.spawn(Diary(['a', 'b', 'c'].map(entry)))
  const lines = [...world.snapshot()]
  const { delta } = tick(world)
  expect(World.restore(lines, { components: family, deltas: [delta] }).hash()).toBe(world.hash())
  return { world, delta }
}

describe('a log', () => {
  it('grows at its end, one item or several at once, and is made by the first', () => {
    const { world, one } = writer()
    world.append(one, Diary, entry('a'))
    world.append(one, Diary, entry('b'), entry('c'))
    world.append(one, Diary)
    expect(texts(world, one)).toEqual(['a', 'b', 'c'])
    const two = world.spawn()
    world.append(two, Diary)
    expect(world.read(two, Diary)).toEqual([])
    world.append(two, Diary, ...world.read(one, Diary))
    expect(texts(world, two)).toEqual(['a', 'b', 'c'])
  })

  it('takes all items of an append or none', () => {
    const { world, one } = writer('a')
    const wrong = { text: 7 } as unknown as { text: string }
    const refused = refusal('invalid-value', 'entity 1, component Diary', 'at text', 'expected string')
    expect(() => world.append(one, Diary, entry('b'), wrong)).toThrow(refused)
    expect(() => world.rewrite(one, Diary, [entry('b'), wrong])).toThrow(refused)
    expect(() => world.splice(one, Diary, 0, 1, [wrong])).toThrow(refused)
    expect(texts(world, one)).toEqual(['a'])
  })

  it('shows later appends to whoever holds its array', () => {
    const { world, one } = writer('a')
    const held = world.read(one, Diary)
    world.append(one, Diary, entry('b'))
    expect(held).toHaveLength(2)
  })

  it('begins a new array at a splice or a rewrite: who holds the old one keeps what it was', () => {
    const { world, one } = writer('a', 'b', 'c')
    const first = world.read(one, Diary)
    world.splice(one, Diary, 1, 1, [entry('B1'), entry('B2')])
    const second = world.read(one, Diary)
    world.rewrite(one, Diary, [entry('z')])
    world.append(one, Diary, entry('end'))
    expect(first.map(({ text }) => text)).toEqual(['a', 'b', 'c'])
    expect(second.map(({ text }) => text)).toEqual(['a', 'B1', 'B2', 'c'])
    expect(texts(world, one)).toEqual(['z', 'end'])
  })

  it.for<[from: number, deleteCount: number, after: string]>([
    [0, 0, 'xabc'],
    [3, 0, 'abcx'],
    [1, 1, 'axc'],
    [2, 99, 'abx'],
    [0, 3, 'x'],
  ])('is spliced at %d, %d items out and one in', ([from, deleteCount, after]) => {
    const { world, one } = writer('a', 'b', 'c')
    world.splice(one, Diary, from, deleteCount, [entry('x')])
    expect(texts(world, one).join('')).toBe(after)
  })

  it.for([
    [-1, 0],
    [4, 0],
    [0.5, 0],
    [0, -1],
    [NaN, 0],
    [0, Infinity],
  ])('is not spliced outside of itself: %d, %d', ([from = 0, deleteCount = 0]) => {
    const { world, one } = writer('a', 'b', 'c')
    expect(() => world.splice(one, Diary, from, deleteCount, [])).toThrow(
      refusal('invalid-argument', 'entity 1, component Diary', `${deleteCount} items`, `at ${from}`, 'the log has 3'),
    )
    expect(() => world.splice(world.spawn(), Diary, 0, 0, [])).toThrow(refusal('missing-component', 'has no Diary'))
  })

  it('is rewritten with more items than a call may have arguments', () => {
    const { world, one } = writer('a')
    const many = Array.from({ length: 300_000 }, () => entry('x'))
    world.rewrite(one, Diary, many)
    expect(world.read(one, Diary)).toHaveLength(300_000)
  })

  it('tells an append as the items that came, however long it is', () => {
    const { delta } = told((world) => {
      world.append(1, Diary, entry('d'))
      world.append(1, Diary, entry('e'))
    })
    expect(delta.appended).toEqual({ Diary: [[1, [entry('d'), entry('e')]]] })
    expect([delta.set, delta.spliced]).toEqual([undefined, undefined])
  })

  it('tells a change in its middle as edits in order, what was appended before included', () => {
    const { delta } = told((world) => {
      world.append(1, Diary, entry('d'))
      world.splice(1, Diary, 1, 2, [])
      world.append(1, Diary, entry('e'))
      world.rewrite(1, Diary, [entry('z')])
    })
    expect(delta.spliced?.['Diary']).toEqual([
      [
        1,
        [
          [3, 0, [entry('d')]],
          [1, 2, []],
          [2, 0, [entry('e')]],
          [0, 3, [entry('z')]],
        ],
      ],
    ])
    expect(delta.appended).toBeUndefined()
  })

  it('that is removed and made anew is told whole', () => {
    const { delta } = told((world) => {
      world.append(1, Diary, entry('d'))
      world.remove(1, Diary)
      world.add(1, Diary([entry('new')]))
      world.append(1, Diary, entry('more'))
    })
    expect(delta.set?.['Diary']).toEqual([[1, [entry('new'), entry('more')]]])
    expect([delta.appended, delta.spliced, delta.removed]).toEqual([undefined, undefined, undefined])
  })

  it('that came to nothing in the end is not told of', () => {
    const { delta } = told((world) => {
      world.append(1, Diary)
      world.append(1, Diary, entry('d'))
      world.remove(1, Diary)
      world.remove(1, Fresh)
    })
    expect(delta.removed).toEqual({ Diary: [1], Fresh: [1] })
    expect(delta.appended).toBeUndefined()
  })

  it('stays what was told of it when it goes on growing', () => {
    const { world, delta } = told((each) => each.append(1, Diary, entry('d')))
    const spawned = tick(new World({ systems: [doing((each) => void each.spawn(Diary([entry('a')])))] }))
    world.append(1, Diary, entry('e'))
    expect(delta.appended?.['Diary']?.[0]?.[1]).toHaveLength(1)
    expect(spawned.delta.set?.['Diary']).toEqual([[1, [entry('a')]]])
  })

  it('gives its entity the tag that its last item calls for, after every kind of write, and takes none away', () => {
    const { world, one } = writer()
    const isMarked = (): boolean => {
      const marked = world.has(one, Fresh)
      world.remove(one, Fresh)
      return marked
    }
    const secret = { text: 's', secret: true }
    expect(isMarked()).toBe(false)
    world.append(one, Diary, entry('a'))
    expect(isMarked()).toBe(true)
    world.append(one, Diary, entry('b'), secret)
    expect(isMarked()).toBe(false)
    world.rewrite(one, Diary, [entry('c')])
    expect(isMarked()).toBe(true)
    world.rewrite(one, Diary, [])
    expect(isMarked()).toBe(false)
    world.splice(one, Diary, 0, 0, [entry('d')])
    expect(isMarked()).toBe(true)
    expect(world.has(world.spawn(Diary([secret])), Fresh)).toBe(false)
    const marked = world.spawn(Diary([secret, entry('e')]))
    world.append(marked, Diary, secret)
    expect(world.has(marked, Fresh)).toBe(true)
  })

  it('is put back by a tick that fails, whatever was done to it', () => {
    const fails = doing((world) => {
      world.append(1, Diary, entry('d'))
      world.splice(1, Diary, 0, 2, [entry('x')])
      world.append(1, Diary, entry('e'))
      world.remove(2, Diary)
      world.add(2, Diary([entry('other')]))
      world.append(3, Diary, entry('first'))
      throw new Error('no')
    })
    const world = new World({ systems: [fails], components: family })
    world.spawn(Diary(['a', 'b', 'c'].map(entry)))
    world.spawn(Diary([entry('z')]), Person({ name: 'Zoe' }))
    world.spawn(Asleep)
    const [before, held] = [world.hash(), world.read(1, Diary)]
    expect(() => tick(world)).toThrow(refusal('system-failed', 'no'))
    expect(world.hash()).toBe(before)
    expect(world.read(1, Diary)).toBe(held)
    expect(held).toHaveLength(3)
    expect(world.query(Diary)).toEqual([1, 2])
  })
})

/** Another log of the same entries. */
const Memoir = defineLog('Memoir', Diary.schema)

describe('a log that shares the items of another', () => {
  it('is the first so many of them: the very same, neither copied nor checked', () => {
    const { world, one } = writer('a', 'b', 'c')
    const two = world.spawn()
    const check = vi.spyOn(Diary.schema, 'safeParse')
    world.share(one, Diary, two, Memoir, 2)
    expect(check).not.toHaveBeenCalled()
    check.mockRestore()
    const [diary, memoir] = [world.read(one, Diary), world.read(two, Memoir)]
    expect(memoir).toHaveLength(2)
    memoir.forEach((item, index) => expect(item).toBe(diary[index]))
  })

  it('goes on by itself, as the other does', () => {
    const { world, one } = writer('a', 'b')
    const two = world.spawn()
    world.share(one, Diary, two, Diary, 2)
    world.append(one, Diary, entry('one'))
    world.append(two, Diary, entry('two'))
    expect([texts(world, one), texts(world, two)]).toEqual([
      ['a', 'b', 'one'],
      ['a', 'b', 'two'],
    ])
    world.despawn(one)
    expect(texts(world, two)).toEqual(['a', 'b', 'two'])
  })

  it('may be shared further, be empty, and take the place of what was there', () => {
    const { world, one } = writer('a', 'b', 'c')
    const two = world.spawn(Diary([entry('x')]))
    const held = world.read(two, Diary)
    world.share(one, Diary, two, Diary, 3)
    world.share(two, Diary, two, Diary, 1)
    world.share(one, Diary, one, Memoir, 0)
    expect([texts(world, two), world.read(one, Memoir), held]).toEqual([['a'], [], [entry('x')]])
  })

  it('is told whole, and is the same in a restored world', () => {
    const { delta } = told((world) => {
      world.share(1, Diary, world.spawn(), Diary, 2)
      world.append(1, Diary, entry('d'))
    })
    expect(delta.set?.['Diary']).toEqual([[2, ['a', 'b'].map(entry)]])
    expect(delta.appended?.['Diary']).toEqual([[1, [entry('d')]]])
  })

  it('is told as an edit where it takes the place of another', () => {
    const { delta } = told((world) => world.share(1, Diary, 1, Diary, 1))
    expect(delta.spliced?.['Diary']).toEqual([[1, [[0, 3, [entry('a')]]]]])
  })

  it('gives its entity the tag that its last item calls for', () => {
    const { world, one } = writer('a')
    world.append(one, Diary, { text: 's', secret: true })
    const [two, three] = [world.spawn(), world.spawn()]
    world.share(one, Diary, two, Diary, 1)
    world.share(one, Diary, three, Diary, 2)
    expect([world.has(two, Fresh), world.has(three, Fresh)]).toEqual([true, false])
  })

  it('is undone with a tick that fails', () => {
    const fails = doing((world) => {
      world.share(1, Diary, 2, Diary, 1)
      world.share(1, Diary, 3, Diary, 2)
      world.append(3, Diary, entry('more'))
      throw new Error('no')
    })
    const world = new World({ systems: [fails], components: family })
    world.spawn(Diary(['a', 'b'].map(entry)))
    world.spawn(Diary([entry('z')]))
    world.spawn(Asleep)
    const before = world.hash()
    expect(() => tick(world)).toThrow(refusal('system-failed', 'no'))
    expect(world.hash()).toBe(before)
    expect(world.query(Diary)).toEqual([1, 2])
  })

  it('is refused for more items than there are, for a log that is not there, and for other items', () => {
    const { world, one } = writer('a', 'b')
    const two = world.spawn()
    for (const count of [-1, 3, 0.5]) {
      const refused = refusal('invalid-argument', 'component Memoir', `${count} items of Diary`, 'the log has 2')
      expect(() => world.share(one, Diary, two, Memoir, count)).toThrow(refused)
    }
    expect(() => world.share(two, Diary, one, Memoir, 0)).toThrow(refusal('missing-component', 'has no Diary'))
    expect(() => world.share(one, Diary, 99, Memoir, 1)).toThrow(refusal('unknown-entity', '99'))
    expect(() => world.share(99, Diary, one, Memoir, 1)).toThrow(refusal('unknown-entity', '99'))
    const Poems = defineLog('Poems', z.strictObject({ text: z.string() }))
    expect(() => world.share(one, Diary, two, Poems, 1)).toThrow(refusal('invalid-argument', 'different schemas'))
    expect(world.componentsOf(two)).toEqual([])
  })
})

describe("a log's items, once read,", () => {
  it.for<[string, (log: { text: string }[]) => unknown]>([
    ['pushed to', (log) => log.push(entry('c'))],
    ['set by index', (log) => (log[0] = entry('c'))],
    ['cut', (log) => (log.length = 0)],
    ['spliced', (log) => log.splice(0, 1)],
    ['sorted', (log) => log.sort(() => 1)],
    ['deleted', (log) => Reflect.deleteProperty(log, 0) || log.pop()],
    ['defined anew', (log) => Object.defineProperty(log, 0, { value: entry('c') })],
    ['frozen', (log) => Object.freeze(log)],
    ['changed by who visits them', (log) => log.forEach((_, __, all) => all.push(entry('c')))],
  ])('cannot be %s by a cast', ([, change]) => {
    const { world, one } = writer('a', 'b')
    const before = world.hash()
    const refused = refusal('invalid-argument', 'cannot be changed in place', 'world.append')
    expect(() => change(world.read(one, Diary) as { text: string }[])).toThrow(refused)
    expect(() => change(world.get(one, Diary) as { text: string }[])).toThrow(refused)
    expect(world.hash()).toBe(before)
    world.append(one, Diary, entry('d'))
    expect(texts(world, one)).toEqual(['a', 'b', 'd'])
  })

  it('read as an array does, and are the same array until a splice', () => {
    const { world, one } = writer('a', 'b', 'c')
    const log = world.read(one, Diary)
    const same = [entry('a'), entry('b'), entry('c')]
    expect([Array.isArray(log), log, [...log], log.slice(1), log[1], log.at(-1)]).toEqual([
      true,
      same,
      same,
      same.slice(1),
      same[1],
      same[2],
    ])
    expect(JSON.stringify(log)).toBe(JSON.stringify(same))
    expect(log.reduce((sum, { text }) => sum + text, '')).toBe('abc')
    expect(log.concat(log)).toEqual([...same, ...same])
    expect(log.map(({ text }, index, all) => `${text}${index}${all === log}`)).toEqual(['a0true', 'b1true', 'c2true'])
    expect(world.read(one, Diary)).toBe(log)
  })
})
