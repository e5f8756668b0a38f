import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { rawComponents } from '../../src/inspector/reading/raw-view.ts'
import type { Delta } from '../../src/world/changes.ts'
import { defineComponent, defineLog } from '../../src/world/component.ts'
import { not } from '../../src/world/entities.ts'
import { EntiaError } from '../../src/base/entia-error.ts'
import type { Input } from '../../src/world/input.ts'
import { type RawComponent, RawWorld, type TakenStep } from '../../src/world/raw-world.ts'
import { tick } from '../../src/world/tick.ts'
import { World } from '../../src/world/world.ts'
import { acting, someTicks } from './acting.ts'
import { Asleep, ChildOf, Diary, doing, entry, family, input, Likes, Person, refusal } from './family.ts'

const numRuns = 150
const known = rawComponents(family)

/** What a run was: the world before it, each tick that held, and the world's hash and bytes after each. */
interface Told {
  readonly first: readonly string[]
  readonly deltas: readonly Delta[]
  readonly hashes: readonly string[]
  readonly snapshots: readonly (readonly string[])[]
}

function told(inputs: readonly Input[]): Told {
  const world = new World({ systems: [acting], components: family })
  const first = [...world.snapshot()]
  const deltas: Delta[] = []
  const hashes = [world.hash()]
  const snapshots = [first]
  for (const each of inputs) {
    try {
      deltas.push(tick(world, [each], { nowMs: world.nowMs + 5 }).delta)
      hashes.push(world.hash())
      snapshots.push([...world.snapshot()])
    } catch (error) {
      if (!(error instanceof EntiaError && error.code === 'system-failed' && each['fails'] === true)) throw error
    }
  }
  return { first, deltas, hashes, snapshots }
}

/** One tick after another: a world, and what each tick changes. */
function moving(...ticks: readonly ((world: World) => unknown)[]) {
  const world = new World({
    name: 'moving',
    components: family,
    systems: [
      doing((of) => {
        for (const { n } of of.inputs) ticks[Number(n)]?.(of)
      }),
    ],
  })
  const first = [...world.snapshot()]
  const deltas = ticks.map((_, n) => tick(world, [input('go', { n })]).delta)
  return { world, first, deltas }
}

describe.each([
  ['with components that it knows', known],
  ['with components that no one here knows', {}],
] as const)('a raw world %s', (_, components: Readonly<Record<string, RawComponent>>) => {
  it('is the same as the World after every tick, and again at each tick that it goes back to', () => {
    fc.assert(
      fc.property(someTicks, fc.array(fc.nat(), { maxLength: 8 }), (inputs, stops) => {
        const { deltas, first, hashes, snapshots } = told(inputs)
        const raw = RawWorld.restore(first, components)
        const taken: TakenStep[] = []
        const goTo = (goal: number): void => {
          while (raw.tick < goal) taken.push(raw.forward(deltas[raw.tick] as Delta))
          while (raw.tick > goal) raw.back(taken.pop() as TakenStep)
          expect(raw.hash(), `tick ${goal}`).toBe(hashes[goal])
        }
        for (let goal = 0; goal <= deltas.length; goal++) goTo(goal)
        for (const stop of stops) goTo(stop % (deltas.length + 1))
        for (let goal = deltas.length; goal >= 0; goal--) goTo(goal)
        for (const [index, lines] of snapshots.entries()) {
          const restored = RawWorld.restore(lines, components)
          goTo(index)
          expect(restored.hash()).toBe(hashes[index])
          expect(restored.entities).toEqual(raw.entities)
          for (const entity of raw.entities) expect(raw.valuesOf(entity)).toEqual(restored.valuesOf(entity))
        }
      }),
      { numRuns },
    )
  })
})

describe('a raw world', () => {
  it('answers queries and references as the World does, forward and back', () => {
    fc.assert(
      fc.property(someTicks, (inputs) => {
        const { deltas, first, snapshots } = told(inputs)
        const raw = RawWorld.restore(first, known)
        const taken: TakenStep[] = []
        const expectSame = (): void => {
          const world = World.restore(snapshots[raw.tick] as readonly string[], { systems: [], components: family })
          expect(raw.entities).toEqual(world.entities())
          expect(raw.query(['Person', 'Diary'], ['Asleep'])).toEqual(world.query(Person, Diary, not(Asleep)))
          for (const entity of raw.entities) {
            expect(raw.referrers('ChildOf', entity)).toEqual(world.referrers(ChildOf, entity))
            expect(raw.referrers('Likes', entity)).toEqual(world.referrers(Likes, entity))
          }
        }
        for (const delta of deltas) {
          taken.push(raw.forward(delta))
          expectSame()
        }
        for (const step of taken.toReversed()) {
          raw.back(step)
          expectSame()
        }
      }),
      { numRuns: 50 },
    )
  })

  it('gives back what was removed, despawned and spliced, items that a log had in common with its later self included', () => {
    const { deltas, first } = moving(
      (world) => world.spawn(Person({ name: 'Ada' }), Diary([entry('one'), entry('two')]), Asleep()),
      (world) => world.append(1, Diary, entry('three')),
      (world) => world.splice(1, Diary, 0, 1, [entry('zero'), entry('half')]),
      (world) => world.append(1, Diary, entry('four')),
      (world) => {
        world.remove(1, Person)
        world.spawn(Likes({ whom: 1 }))
      },
      (world) => world.despawn(1),
    )
    const raw = RawWorld.restore(first, known)
    const seen: unknown[] = []
    const taken = deltas.map((delta) => {
      seen.push(structuredClone(raw.entities.map((entity) => [entity, raw.valuesOf(entity)])))
      return raw.forward(delta)
    })
    expect(raw.entities).toEqual([2])
    expect(raw.valuesOf(2)).toEqual([])
    for (const step of taken.toReversed()) {
      raw.back(step)
      expect(raw.entities.map((entity) => [entity, raw.valuesOf(entity)])).toEqual(seen.pop())
    }
  })

  it('shows a component of a program that is not here, with its kind guessed from its values', () => {
    const Weather = defineComponent('Weather', z.object({ wind: z.number() }))
    const Sightings = defineLog('Sightings', z.string())
    const world = new World({ components: [Weather, Sightings], systems: [] })
    const many = Array.from({ length: 2_500 }, (_, index) => `bird ${index}`)
    world.spawn(Weather({ wind: 3 }), Sightings(many))
    // What was said of it may be wrong as well: the value stands over it.
    for (const said of [
      {},
      { Sightings: { kind: 'value' }, Weather: { kind: 'log' } },
      { Weather: { kind: 'tag' } },
    ] as const) {
      const raw = RawWorld.restore(world.snapshot(), said)
      const kinds = raw.components.map(({ kind, name }) => `${name} ${kind}`)
      expect(kinds.toSorted()).toEqual(['Sightings log', 'Weather value'])
      expect(raw.value(1, 'Weather')).toEqual({ wind: 3 })
      expect(raw.value(1, 'Sightings')).toEqual(many)
      expect(raw.hash()).toBe(world.hash())
    }
  })

  it('refuses a tick that does not follow, or changes what is not there, and stays as it was', () => {
    const { deltas, first } = moving(
      (world) => world.spawn(Person({ name: 'Ada' })),
      (world) => world.spawn(Diary()),
      (world) => world.append(2, Diary, entry('x')),
    )
    const raw = RawWorld.restore(first, known)
    expect(() => raw.forward(deltas[1] as Delta)).toThrow(
      refusal('corrupt-journal', "tick 2 of world 'moving'", 'tick 0'),
    )
    raw.forward(deltas[0] as Delta)
    const before = raw.hash()
    const stray: Delta = { ...(deltas[2] as Delta), tick: 2, set: { Person: [[1, { name: 'Bob' }]] } }
    expect(() => raw.forward(stray)).toThrow(refusal('corrupt-journal', 'Diary'))
    expect(raw.hash()).toBe(before)
    raw.forward(deltas[1] as Delta)
    raw.forward(deltas[2] as Delta)
    expect(raw.value(2, 'Diary')).toEqual([entry('x')])
  })

  it('refuses a damaged snapshot, and one of a newer version', () => {
    const { first } = moving()
    const [head = '', ...others] = first
    expect(() => RawWorld.restore([head.replace('moving', 'movinG'), ...others])).toThrow(refusal('corrupt-snapshot'))
    expect(() => RawWorld.restore([head.replace('"entia":1', '"entia":2'), ...others])).toThrow(
      refusal('newer-version'),
    )
  })
})
