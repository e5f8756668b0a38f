import { describe, expect, it } from 'vitest'
import { Conversation, LastStep, Limits, Llm } from '../../components/index.ts'
import * as components from '../../components/index.ts'
import type { Message } from '../../src/protocol/message.ts'
import { journalEqualsWorld } from '../../src/sim/laws/journal-equals-world.ts'
import { restoredEqualsSaved } from '../../src/sim/laws/restored-equals-saved.ts'
import type { Component } from '../../src/world/component.ts'
import type { Json } from '../../src/base/json.ts'
import { defineComponent } from '../../src/world/component.ts'
import { World } from '../../src/world/world.ts'
import { z } from 'zod'
import { run, underLaw, watched, worldOf } from './law-under-test.ts'

const says = (text: string): Message => ({ role: 'user', content: [{ type: 'text', text }] })

function talk(...steps: readonly ((world: World) => unknown)[]): World {
  const world = worldOf(...steps)
  world.spawn(Conversation([says('Go')]), Limits({ maxSteps: 3 }))
  return world
}

/** Writes where nobody looks. */
const unseen = (token: Component, value: Json) => (world: World) => {
  const { state } = world.core
  const column = state.column(token)
  column.put(state.row(1), value, column.get(state.row(1)) === undefined)
}

const restored = (world: World): World => World.restore(world.snapshot(), { components })

const everything = [
  (world: World) => world.spawn(Conversation([says('Hello')]), LastStep),
  (world: World) => world.append(1, Conversation, says('More'), says('Even more')),
  (world: World) => world.splice(1, Conversation, 1, 1, [says('Less')]),
  (world: World) => world.rewrite(1, Conversation, [says('All anew')]),
  (world: World) => (world.patch(1, Limits, { maxSteps: 4 }), world.remove(2, LastStep), world.newId('id')),
  (world: World) => (world.despawn(2), world.remove(1, Limits), world.random()),
]

describe('journal-equals-world', () => {
  it('has nothing to say of whatever a world can do', () => {
    const world = talk(...everything)
    const law = underLaw(journalEqualsWorld, world)
    expect(law.begin()).toBeUndefined()
    for (const _ of everything) expect(law.tick()).toBeUndefined()
    expect(law.watch.crashed?.()).toBeUndefined()
    expect(law.begin(restored(world))).toBeUndefined()
    expect(law.watch.ended?.(watched(world))).toBeUndefined()
  })

  it('is broken at once by a write past the world that the journal goes on from', () => {
    const world = talk(
      (driven) => (driven.core.state.get(1, Conversation) as Message[]).push(says('Psst')),
      (driven) => driven.append(1, Conversation, says('Well')),
    )
    const law = underLaw(journalEqualsWorld, world)
    law.begin()
    expect(law.tick()).toBeUndefined()
    expect(law.tick()).toBe(
      'tick 2 of the journal does not make the world: the log Conversation of entity 1 has 3 items, and was to have 2',
    )
  })

  it('is broken at the end, at a crash, and when the world is let go of, by any other', () => {
    const found = 'entity 1, Limits: expected {"maxSteps":3}, got {"maxSteps":9}'
    const unwatched = () => {
      const world = talk(unseen(Limits, { maxSteps: 9 }))
      const law = underLaw(journalEqualsWorld, world)
      law.begin()
      expect(law.tick()).toBeUndefined()
      return { world, watch: law.watch }
    }
    expect(unwatched().watch.crashed?.()).toMatch(found)
    expect(unwatched().watch.finished?.(new Map())).toMatch(found)
    const { watch, world } = unwatched()
    expect(watch.ended?.(watched(world))).toBe(
      `the journal of ${world.name} up to tick 1 does not make the world: ${found}`,
    )
  })

  it('leaves out what could not be committed', () => {
    const world = talk(unseen(Limits, { maxSteps: 9 }))
    const law = underLaw(journalEqualsWorld, world)
    law.begin()
    underLaw(restoredEqualsSaved, world).tick()
    expect(law.watch.crashed?.()).toBeUndefined()
  })
})

describe('restored-equals-saved', () => {
  it('is broken by a world that comes back as it was a tick ago', () => {
    const world = talk(...everything)
    const law = underLaw(restoredEqualsSaved, world)
    expect(law.begin()).toBeUndefined()
    law.tick()
    const before = restored(world)
    law.tick()
    expect(law.begin(restored(world))).toBeUndefined()
    expect(law.begin(before)).toMatch(/^the restored world is not what was committed: entity 1, Conversation/)
  })

  it('is broken by a value that comes back as another one', () => {
    const world = talk(...everything)
    const law = underLaw(restoredEqualsSaved, world)
    law.begin()
    law.tick()
    const other = restored(world)
    unseen(Limits, { maxSteps: 9 })(other)
    expect(law.begin(other)).toBe(
      'the restored world is not what was committed: entity 1, Limits: expected {"maxSteps":3}, got {"maxSteps":9}',
    )
  })

  it('is broken by what comes back besides, or not at all', () => {
    const world = talk()
    const law = underLaw(restoredEqualsSaved, world)
    law.begin()
    const more = restored(world)
    unseen(Llm, { model: 'a/b' })(more)
    expect(law.begin(more)).toMatch(/entity 1, Llm: expected nothing, got/)
    const fewer = restored(world)
    fewer.despawn(1)
    expect(law.begin(fewer)).toMatch(/there are 0 entities, expected 1/)
  })

  it('is broken at the end by a world that its own snapshot does not make', () => {
    const Grown = defineComponent('Grown', z.strictObject({ size: z.number() }), {
      version: 2,
      migrate: (saved) => saved,
    })
    const world = talk()
    world.add(1, Grown({ size: 1 }))
    const law = underLaw(restoredEqualsSaved, world)
    law.begin()
    expect(law.watch.finished?.(new Map([[world.name, watched(world)]]))).toBeUndefined()
    // What stands in a world, and cannot be said in JSON, is lost.
    unseen(Grown, { size: NaN })(world)
    expect(law.watch.finished?.(new Map([[world.name, watched(world)]]))).toMatch(
      /^world, made again of its snapshot: it cannot be: .*/,
    )
  })

  it('restores each world of a thorough run, whatever its seed; of others, the root under every 32nd seed', () => {
    const world = talk()
    const finds = (seed: number, isThorough: boolean) => {
      const law = underLaw(restoredEqualsSaved, world, run(5, { isThorough, seed }))
      law.begin()
      return law.watch.finished?.(new Map([[world.name, watched(world)]])) !== undefined
    }
    unseen(Limits, { maxSteps: NaN })(world)
    expect([1, 2, 32, 33].filter((seed) => finds(seed, false))).toEqual([1, 33])
    expect([1, 2, 32, 33].filter((seed) => finds(seed, true))).toEqual([1, 2, 32, 33])
  })
})
