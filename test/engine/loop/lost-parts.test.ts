import { memoryStore, Runner, type Store, standardSystems, World } from 'entia'
import { Approval, Due, Effect, ModelCall, OwnedBy, Pending, Running, ToolCall } from 'entia/components'
import * as components from 'entia/components'
import { tick } from 'entia/systems'
import { describe, expect, it } from 'vitest'
import { firstSnapshot } from '../../../src/engine/loop/journal-writer.ts'
import { tokensOf } from '../../../src/world/restore.ts'
import { restored } from '../../../src/engine/loop/stored-ticks.ts'
import { behaving, calling, driven, gate, mortal, reopened, worldWith } from '../../behaviour/turns/driving.ts'
import { tool } from '../../behaviour/turns/tools.ts'

const effect = { attempt: 1, kind: 'tool', restart: 'once' } as const
const call = { arguments: {}, callId: 'a', name: 'look' }

/** Worlds with one agent, entity 1, and with one entity of which a part is missing, entity 2. */
const damaged: readonly [whose: string, spawn: (world: World) => unknown, part: string][] = [
  [
    'a running effect',
    (world) => world.spawn(Running({ sinceMs: 0 }), ToolCall(call), OwnedBy({ agent: 1 })),
    'Effect',
  ],
  ['a pending effect', (world) => world.spawn(Pending, ModelCall({ messages: 1 }), OwnedBy({ agent: 1 })), 'Effect'],
  ['an effect that waits for its next try', (world) => world.spawn(Due({ atMs: 5 }), OwnedBy({ agent: 1 })), 'Effect'],
  ['a call', (world) => world.spawn(ToolCall(call), Effect(effect), Running({ sinceMs: 0 })), 'OwnedBy'],
  ['a model call', (world) => world.spawn(ModelCall({ messages: 1 }), Effect(effect), Pending), 'OwnedBy'],
  [
    'an approval',
    (world) =>
      world.spawn(Approval({ id: 'a', tool: 'look', arguments: {} }), Effect(effect), Pending, OwnedBy({ agent: 1 })),
    'ApprovalOf',
  ],
]

async function stored(world: World): Promise<Store> {
  const store = memoryStore()
  const journal = await store.open(world.name)
  await journal.commit(firstSnapshot(world))
  await journal.close()
  return store
}

describe('a stored world in which something is under way of which a part is gone', () => {
  it.each(damaged)('is refused when it is opened: %s', async (_, spawn, part) => {
    const { world } = worldWith()
    spawn(world)
    const opened = Runner.open({ store: await stored(world), name: 'world', systems: standardSystems(), components })
    await expect(opened).rejects.toMatchObject({
      code: 'corrupt-snapshot',
      message: expect.stringMatching(`^World 'world', tick 0: entity 2 must have ${part} beside its `) as string,
      details: { world: 'world', tick: 0, entity: 2, component: part },
    })
  })

  it('is refused under the tick that was stored last, and opens again once that is taken back', async () => {
    const store = memoryStore()
    const begun = gate()
    const look = tool('look', () => (begun.resolve(), gate().promise), { restart: 'once' })
    const { world } = worldWith({ tools: [look] })
    const { models } = behaving(calling({ name: 'look' }))
    const first = mortal(world, { models, tools: [look], store })
    await first.runner.start()
    await begun.promise
    await first.runner.stop({ onceMs: 0 })
    const whole = (await store.read('world')) ?? { snapshot: { tick: 0, lines: [] }, rows: [] }
    const harm = {
      name: 'harm',
      priority: 0,
      run: (within: World) => within.entitiesWith(Running).forEach((each) => within.remove(each, Effect)),
    }
    const found = restored('world', whole, { systems: [harm], components: tokensOf(components) })
    const step = tick(found.world, [])
    const row = { tick: found.world.tick, line: found.codec.encode(step) }
    const journal = await store.open('world')
    await journal.commit({ rows: [row] })
    await journal.close()
    await expect(reopened(store, { models, tools: [look] })).rejects.toMatchObject({
      code: 'corrupt-journal',
      message: expect.stringMatching(
        `^World 'world', tick ${row.tick}: entity \\d+ must have Effect beside its Running, and has none\\. What is stored`,
      ) as string,
    })
    expect((await store.read('world'))?.rows.at(-1)).toEqual(row)
  })

  it.each(damaged)('is not started either where it has no store: %s', async (_, spawn, part) => {
    const { world } = worldWith()
    spawn(world)
    const again = World.restore(world.snapshot(), { systems: standardSystems(), components })
    const { runner } = driven(again, { models: behaving(() => 'Hi').models })
    await expect(runner.start()).rejects.toMatchObject({
      code: 'missing-component',
      details: { entity: 2, component: part },
    })
    expect(again.tick).toBe(0)
  })
})
