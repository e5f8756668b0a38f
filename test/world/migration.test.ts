import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { Delta } from '../../src/world/changes.ts'
import { defineComponent, defineLog, type Migrate } from '../../src/world/component.ts'
import type { EntiaErrorCode } from '../../src/base/entia-error.ts'
import type { JsonObject } from '../../src/base/json.ts'
import { tick } from '../../src/world/tick.ts'
import { World } from '../../src/world/world.ts'
import { doing, refusal } from './family.ts'

/** Houses and letters as they once were. */
const House1 = defineComponent('House', z.strictObject({ address: z.string() }))
const Letters1 = defineLog('Letters', z.string())

const calls: unknown[] = []
const migrate: Migrate = (value, version) => {
  calls.push([value, version])
  if (version > 1) return value
  const [street, city] = ((value as JsonObject)['address'] as string).split(', ')
  return { street, city }
}
const House2 = defineComponent('House', z.strictObject({ street: z.string(), city: z.string() }), {
  version: 2,
  migrate,
})
const Letters2 = defineLog('Letters', z.strictObject({ text: z.string() }), {
  version: 2,
  migrate: (text) => ({ text }),
})

const elm = { address: 'Elm 1, Oz' }

/** A snapshot, the deltas of the ticks since, and the world then: houses come up in the snapshot or in a tick. */
function old({ inSnapshot = true } = {}): { lines: string[]; deltas: Delta[]; world: World } {
  const systems = [
    doing((world) => {
      if (world.tick === 1) world.spawn(House1({ address: 'Ash 2, Oz' }), Letters1(['one']))
      if (world.tick === 2) world.append(world.query(Letters1)[0] as number, Letters1, 'two')
    }),
  ]
  const world = new World({ systems })
  world.spawn(...(inSnapshot ? [House1(elm), Letters1(['zero'])] : []))
  const lines = [...world.snapshot()]
  return { lines, deltas: [tick(world).delta, tick(world).delta], world }
}

describe('a migration', () => {
  it('turns each value of an older version once, a log item by item, and then checks it', () => {
    calls.length = 0
    const world = World.restore(old().lines, { components: [House2, Letters2] })
    expect(world.get(1, House2)).toEqual({ city: 'Oz', street: 'Elm 1' })
    expect(world.get(1, Letters2)).toEqual([{ text: 'zero' }])
    expect(calls).toEqual([[elm, 1]])
    const again = World.restore(world.snapshot(), { components: [House2, Letters2] })
    expect(calls).toHaveLength(1)
    expect(again.hash()).toBe(world.hash())
  })

  it('comes after all ticks since the snapshot: those hold what is older too', () => {
    calls.length = 0
    const { lines, deltas } = old()
    const world = World.restore(lines, { components: [House2, Letters2], deltas })
    expect(world.query(House2).map((entity) => world.get(entity, House2)?.street)).toEqual(['Elm 1', 'Ash 2'])
    expect(world.get(1, Letters2)).toEqual([{ text: 'zero' }, { text: 'two' }])
    expect(calls).toHaveLength(2)
  })

  it('reaches a component that came up in a tick, of which the snapshot knows nothing', () => {
    const { lines, deltas } = old({ inSnapshot: false })
    const world = World.restore(lines, { components: [House2, Letters2], deltas })
    expect(world.get(2, House2)).toEqual({ city: 'Oz', street: 'Ash 2' })
    expect(world.get(2, Letters2)).toEqual([{ text: 'one' }, { text: 'two' }])
  })

  it('from whatever version there was is told which', () => {
    const newest = defineComponent('House', z.unknown(), { version: 5, migrate: (value, version) => [version, value] })
    const made = new World({ systems: [doing((world) => void world.spawn(House2({ street: 'Elm', city: 'Oz' })))] })
    const [lines, { delta }] = [[...made.snapshot()], tick(made)]
    const components = [newest]
    expect(World.restore(made.snapshot(), { components }).get(1, newest)).toEqual([2, { city: 'Oz', street: 'Elm' }])
    expect(World.restore(lines, { components, deltas: [delta] }).get(1, newest)).toEqual([
      2,
      { city: 'Oz', street: 'Elm' },
    ])
  })

  it.for<[string, Migrate, EntiaErrorCode, ...string[]]>([
    ['what is not valid', () => ({ street: 7 }), 'invalid-value', 'entity 1, component House', 'at street'],
    [
      'what is no JSON',
      () => ({ street: 'a', city: new Date(0) }),
      'not-json',
      'entity 1, component House, migrated from version 1',
      'at city',
    ],
    ['nothing', () => undefined, 'not-json', 'entity 1, component House', 'undefined'],
  ])('that gives %s is refused', ([, wrong, code, ...parts]) => {
    const House = defineComponent('House', House2.schema, { version: 2, migrate: wrong })
    const { lines } = old()
    expect(() => World.restore(lines, { components: [House, Letters2] })).toThrow(refusal(code, ...parts))
  })

  it('may not make a reference to nobody', () => {
    const wrong = { version: 2, ref: 'owner', migrate: () => ({ owner: 9 }) } as const
    const House = defineComponent('House', z.strictObject({ owner: z.number() }), wrong)
    expect(() => World.restore(old().lines, { components: [House, Letters2] })).toThrow(
      refusal('unknown-entity', 'entity 1, component House at owner', 'entity 9'),
    )
    const right = defineComponent('House', House.schema, { ...wrong, migrate: () => ({ owner: 1 }) })
    const world = World.restore(old().lines, { components: [right, Letters2] })
    expect(world.referrers(right, 1)).toEqual([1])
  })

  it('that is not defined leaves no world', () => {
    const House = defineComponent('House', z.unknown(), { version: 2 })
    for (const { lines, deltas } of [old(), old({ inSnapshot: false })]) {
      expect(() => World.restore(lines, { components: [House, Letters2], deltas })).toThrow(
        refusal('corrupt-snapshot', "'House' in version 1", "(version 2) has no 'migrate'"),
      )
    }
  })

  it('that throws leaves no world, and says whose value it was', () => {
    const cause = new Error('moved out')
    const fails = (): never => {
      throw cause
    }
    const House = defineComponent('House', z.unknown(), { version: 2, migrate: fails })
    expect(() => World.restore(old().lines, { components: [House, Letters2] })).toThrow(
      refusal('invalid-value', 'entity 1, component House', "'migrate' from version 1 threw: moved out"),
    )
  })
})

describe('a newer component', () => {
  it('than this program knows is refused, in the snapshot and in the ticks since', () => {
    const made = new World({ systems: [doing((world) => void world.spawn(House2({ street: 'Elm', city: 'Oz' })))] })
    const [lines, { delta }] = [[...made.snapshot()], tick(made)]
    const refused = refusal('newer-version', "'House' in version 2", 'knows up to 1', 'newer program')
    expect(() => World.restore(made.snapshot(), { components: [House1] })).toThrow(refused)
    expect(() => World.restore(lines, { components: [House1], deltas: [delta] })).toThrow(refused)
  })

  it('cannot go on from an older snapshot: after a migration comes a new one', () => {
    const { lines } = old()
    const systems = [doing((world) => world.set(1, House2, { street: 'New', city: 'Oz' }))]
    const world = World.restore(lines, { components: [House2, Letters2], systems })
    const { delta } = tick(world)
    expect(() => World.restore(lines, { components: [House2, Letters2], deltas: [delta] })).toThrow(
      refusal('corrupt-journal', "'House' in version 2", 'before it 1', 'new snapshot'),
    )
  })
})
