import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { EntiaError } from '../../src/base/entia-error.ts'
import { not, type QueryTerm } from '../../src/world/entities.ts'
import type { Input } from '../../src/world/input.ts'
import { JournalCodec } from '../../src/world/journal.ts'
import { tick, type TickResult } from '../../src/world/tick.ts'
import { World } from '../../src/world/world.ts'
import { act, acting, someActions, someTicks } from './acting.ts'
import { Asleep, ChildOf, Diary, family, Fresh, Likes, Person } from './family.ts'

const numRuns = 150
const options = { systems: [acting], components: family }

/** One tick; `undefined` if it failed and was undone. */
function tried(world: World, input: Input): TickResult | undefined {
  try {
    return tick(world, [input], { nowMs: world.nowMs + 5 })
  } catch (error) {
    if (error instanceof EntiaError && error.code === 'system-failed' && input['fails'] === true) return undefined
    throw error
  }
}

function restored(world: World): World {
  return World.restore(world.snapshot(), options)
}

/** Holds whatever has happened: queries and references tell what a look at every entity tells. */
function expectIndexesToHold(world: World): void {
  const all = world.entities()
  const has = (term: QueryTerm) => (entity: number) =>
    'not' in term ? !world.has(entity, term.not) : world.has(entity, term)
  for (const terms of queries) {
    expect(world.query(...terms)).toEqual(terms.reduce((left, term) => left.filter(has(term)), all))
  }
  for (const entity of all) {
    expect(world.referrers(ChildOf, entity)).toEqual(
      all.filter((other) => world.get(other, ChildOf)?.parent === entity),
    )
    expect(world.referrers(Likes, entity)).toEqual(all.filter((other) => world.get(other, Likes)?.whom === entity))
  }
  for (const entity of world.query(ChildOf)) expect(world.exists(world.read(entity, ChildOf).parent)).toBe(true)
  for (const entity of world.query(Likes)) expect(world.exists(world.read(entity, Likes).whom)).toBe(true)
}

const queries: readonly (readonly QueryTerm[])[] = [
  [Person],
  [Diary, Person],
  [Person, not(Asleep)],
  [Fresh, not(Asleep), not(Likes)],
  [ChildOf, not(Person)],
  [Diary, ChildOf, Likes],
]

describe('whatever happens to a world', () => {
  it('is told by its journal: a shadow that only reads the lines is the same after every tick', () => {
    fc.assert(
      fc.property(someTicks, (inputs) => {
        const world = new World(options)
        const shadow = restored(world)
        const [writer, reader] = [new JournalCodec('start'), new JournalCodec('start')]
        for (const input of inputs) {
          const step = tried(world, input)
          if (step === undefined) continue
          const { delta } = reader.decode(writer.encode(step), 'a line')
          shadow.core.apply(delta)
          shadow.core.header = delta
          expect(shadow.hash()).toBe(world.hash())
        }
        expectIndexesToHold(shadow)
        expect([...shadow.snapshot()]).toEqual([...world.snapshot()])
      }),
      { numRuns },
    )
  })

  it('is in its snapshot: the restored world has the same bytes and goes on byte for byte', () => {
    fc.assert(
      fc.property(someTicks, someTicks, (before, after) => {
        const world = new World(options)
        for (const input of before) tried(world, input)
        const again = restored(world)
        expect([...again.snapshot()]).toEqual([...world.snapshot()])
        for (const input of after) {
          expect(JSON.stringify(tried(again, input)?.delta)).toBe(JSON.stringify(tried(world, input)?.delta))
          expect(again.hash()).toBe(world.hash())
        }
        expectIndexesToHold(again)
      }),
      { numRuns },
    )
  })

  it('is in a snapshot and the deltas since', () => {
    fc.assert(
      fc.property(someTicks, someTicks, (before, after) => {
        const world = new World(options)
        for (const input of before) tried(world, input)
        const lines = [...world.snapshot()]
        const deltas = after.flatMap((input) => tried(world, input)?.delta ?? [])
        expect(World.restore(lines, { ...options, deltas }).hash()).toBe(world.hash())
      }),
      { numRuns },
    )
  })

  it('is gone with a tick that fails, dice and counters included', () => {
    fc.assert(
      fc.property(someTicks, someActions, (inputs, actions) => {
        const world = new World(options)
        for (const input of inputs) tried(world, input)
        const [before, twin] = [world.hash(), restored(world)]
        expect(tried(world, { kind: 'act', actions, fails: true })).toBeUndefined()
        expect(world.hash()).toBe(before)
        expectIndexesToHold(world)
        // What was undone leaves no trace in what comes after either.
        const next = { kind: 'act', actions }
        expect(JSON.stringify(tried(world, next)?.delta)).toBe(JSON.stringify(tried(twin, next)?.delta))
        expect(world.hash()).toBe(twin.hash())
      }),
      { numRuns },
    )
  })

  it('shows in queries and references as a look at every entity would show it, ascending', () => {
    fc.assert(
      fc.property(someTicks, (inputs) => {
        const world = new World(options)
        for (const input of inputs) {
          tried(world, input)
          expectIndexesToHold(world)
        }
      }),
      { numRuns },
    )
  })

  it('happens again the same way when the inputs come again', () => {
    fc.assert(
      fc.property(someTicks, (inputs) => {
        const [world, twin] = [new World(options), new World(options)]
        for (const input of inputs) expect(tried(twin, input)).toEqual(tried(world, input))
        expect(twin.hash()).toBe(world.hash())
      }),
      { numRuns },
    )
  })

  it('through a change from outside happens again from the input that it becomes', () => {
    fc.assert(
      fc.property(someTicks, someActions, someActions, (inputs, changed, actions) => {
        const world = new World(options)
        for (const input of inputs) tried(world, input)
        const twin = restored(world)
        const step = tick(world, [{ kind: 'act', actions }], { change: () => act(world, changed) })
        const again = tick(twin, step.inputs)
        expect(JSON.stringify(again.delta)).toBe(JSON.stringify(step.delta))
        expect(twin.hash()).toBe(world.hash())
      }),
      { numRuns },
    )
  })

  it('between ticks can be taken back and made again by an input', () => {
    fc.assert(
      fc.property(someTicks, someActions, (inputs, actions) => {
        const world = new World(options)
        for (const input of inputs) tried(world, input)
        const [before, twin] = [world.hash(), restored(world)]
        world.core.watch()
        act(world, actions)
        const after = [...world.snapshot()].slice(1, -1)
        const change = world.core.unwatch()
        expect(world.hash()).toBe(before)
        expectIndexesToHold(world)
        const ticked = change === undefined ? [] : [change]
        const { delta } = tick(world, ticked)
        expect([...world.snapshot()].slice(1, -1)).toEqual(after)
        twin.core.apply(delta)
        twin.core.header = delta
        expect(twin.hash()).toBe(world.hash())
      }),
      { numRuns },
    )
  })
})
