import {
  Conversation,
  defineComponent,
  type Entity,
  memoryStore,
  recordingOf,
  replay,
  standardSystems,
  user,
} from 'entia'
import * as components from 'entia/components'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { transcript } from '../../transcript.ts'
import { behaving, driven, emptyWorld, gate, reopened, settled, worldWith } from './driving.ts'
import { watchedStore } from '../stores/watched-store.ts'

const Note = defineComponent('Note', z.strictObject({ text: z.string(), dice: z.number().optional() }))
const all = [...Object.values(components), Note]

describe('a change from outside', () => {
  it('is made at the next tick, and gives what the function gives once that is committed', async () => {
    const order: string[] = []
    const store = watchedStore(memoryStore(), {
      after: (ticks) => ticks.forEach(({ tick }) => order.push(`commit ${tick}`)),
    })
    const { runner, world } = driven(emptyWorld(), { store })
    await runner.start()
    await runner.idle()
    const made = runner.change((world) => {
      order.push(`change in ${world.tick}`)
      return world.spawn(Note({ text: 'a' }))
    })
    expect(world.query(Note)).toEqual([])
    const note = await made
    order.push('resolved')
    expect(world.read(note, Note)).toEqual({ text: 'a' })
    expect(order).toEqual(['commit 1', 'change in 2', 'commit 2', 'resolved'])
  })

  it('is one recorded input, so that a replay makes it again without the function', async () => {
    const store = memoryStore()
    const { world, agent } = worldWith()
    const { runner } = driven(world, { models: behaving(() => 'Hi').models, store, record: true })
    await runner.start()
    const made: Entity[] = []
    await runner.change((world) => {
      for (const text of ['a', 'b', 'c'])
        made.push(world.spawn(Note({ text: world.newId(text), dice: world.random() })))
      world.despawn(made[1] ?? 0)
      world.append(agent, Conversation, user('From outside'))
    })
    await runner.change((world) => world.patch(made[0] ?? 0, Note, { text: 'changed' }))
    await runner.idle()
    await runner.stop()
    const recording = await recordingOf(store, 'world')
    const again = replay(recording, { systems: standardSystems(), components: all })
    expect(again.difference).toBeUndefined()
    expect(again.hash).toBe(world.hash())
    expect(again.world.query(Note)).toEqual([made[0], made[2]])
    const kinds = recording.worlds[0]?.rows.map(({ line }) => /"kind":"([a-z]+)"/.exec(line)?.[1])
    expect(kinds?.filter((kind) => kind === 'change')).toHaveLength(2)
  })

  it('that throws changes nothing, rejects with the same, and leaves no trace in the recording', async () => {
    const store = memoryStore()
    const { runner, world } = driven(emptyWorld(), { store, record: true })
    await runner.start()
    await runner.idle()
    const before = world.hash()
    const error = new RangeError('not like that')
    const failing = runner.change((world) => {
      world.spawn(Note({ text: world.newId('lost') }))
      throw error
    })
    await expect(failing).rejects.toBe(error)
    expect(world.hash()).toBe(before)
    await runner.change((world) => world.spawn(Note({ text: 'kept' })))
    await runner.stop()
    const again = replay(await recordingOf(store, 'world'), { systems: standardSystems(), components: all })
    expect([again.difference, again.hash]).toEqual([undefined, world.hash()])
  })

  it('that throws takes no input with it that came at the same time', async () => {
    const { world, agent } = worldWith({ messages: [] })
    const { runner } = driven(world, { models: behaving(() => 'Hi').models })
    await runner.start()
    await runner.idle()
    const failing = runner.change(() => {
      throw new Error('no')
    })
    const taken = runner.message(agent, 'Hello')
    await expect(failing).rejects.toThrow('no')
    await taken
    await runner.idle()
    expect(transcript(world, agent)).toEqual(['user: Hello', 'assistant: Hi'])
  })

  it('that writes what is not allowed is refused as a whole', async () => {
    const { runner, world } = driven(emptyWorld())
    await runner.start()
    const wrong = runner.change((world) => {
      world.spawn(Note({ text: 'half' }))
      world.set(999, Note, { text: 'other half' })
    })
    await expect(wrong).rejects.toMatchObject({ code: 'unknown-entity' })
    expect(world.query(Note)).toEqual([])
  })

  it('is synchronous: a promise is refused, and what it wrote is taken back', async () => {
    const { runner, world } = driven(emptyWorld())
    await runner.start()
    const later = runner.change(async (world) => {
      world.spawn(Note({ text: 'now' }))
      await Promise.resolve()
      world.spawn(Note({ text: 'later' }))
    })
    await expect(later).rejects.toMatchObject({
      code: 'invalid-argument',
      message: expect.stringContaining('synchronous') as string,
    })
    expect(world.query(Note)).toEqual([])
  })

  it('takes its turn: several are made in order, one a tick, between the inputs around them', async () => {
    const { world, agent } = worldWith({ messages: [] })
    const { runner } = driven(world, { models: behaving(() => 'Hi').models })
    await runner.start()
    await runner.idle()
    const { tick } = world
    const seen: unknown[] = []
    const look = () => runner.change((world) => void seen.push([world.tick - tick, transcript(world, agent).length]))
    await Promise.all([runner.message(agent, 'a'), look(), look(), runner.message(agent, 'b'), look()])
    // A change comes before the inputs of its tick, and after all that was posted before it.
    expect(seen).toEqual([
      [2, 1],
      [3, 1],
      [4, 2],
    ])
  })
})

describe('what is written to a world while nobody drives it', () => {
  it('after it was stopped enters with the next start, as a change', async () => {
    const store = memoryStore()
    const { models } = behaving(() => 'Hi')
    const { world, agent } = worldWith()
    await settled(world, { models, store, record: true })
    const second = await reopened(store, { models, record: true })
    second.world.append(agent, Conversation, user('Meanwhile'))
    const note = second.world.spawn(Note({ text: second.world.newId('note'), dice: second.world.random() }))
    const written = second.world.read(note, Note)
    await second.runner.start()
    await second.runner.idle()
    await second.runner.stop()
    expect(transcript(second.world, agent)).toEqual(['user: Go', 'assistant: Hi', 'user: Meanwhile', 'assistant: Hi'])
    expect(second.world.read(note, Note)).toEqual(written)
    const again = replay(await recordingOf(store, 'world'), { systems: standardSystems(), components: all })
    expect([again.difference, again.hash]).toEqual([undefined, second.world.hash()])
  })

  it('is kept in a world without a store as well', async () => {
    const { models } = behaving(() => 'Hi')
    const { world, agent } = worldWith()
    await settled(world, { models })
    world.append(agent, Conversation, user('Meanwhile'))
    await settled(world, { models })
    expect(transcript(world, agent)).toEqual(['user: Go', 'assistant: Hi', 'user: Meanwhile', 'assistant: Hi'])
  })

  it('is there still when a start was refused', async () => {
    const store = memoryStore()
    const { models } = behaving(() => 'Hi')
    const { world, agent } = worldWith()
    await settled(world, { models, store })
    world.append(agent, Conversation, user('Meanwhile'))
    const refused = driven(world, { models, store })
    await expect(refused.runner.start()).rejects.toMatchObject({ code: 'world-exists' })
    await refused.runner.stop()
    expect(transcript(world, agent)).toEqual(['user: Go', 'assistant: Hi', 'user: Meanwhile'])
    await settled(world, { models })
    expect(transcript(world, agent).slice(2)).toEqual(['user: Meanwhile', 'assistant: Hi'])
  })
})

describe('a write from outside while a Runner drives the world', () => {
  it('is refused, whatever it is, and says what to do', async () => {
    const begun = gate()
    const { world, agent } = worldWith()
    const { models } = behaving(() => (begun.resolve(), 'Hi'))
    const { runner } = driven(world, { models })
    await runner.start()
    const before = world.hash()
    const writes = [
      () => world.spawn(Note({ text: 'a' })),
      () => world.despawn(agent),
      () => world.append(agent, Conversation, user('b')),
      () => world.rewrite(agent, Conversation, []),
      () => world.remove(agent, Conversation),
      () => world.random(),
      () => world.newId('a'),
    ]
    for (const write of writes) expect(write).toThrow(expect.objectContaining({ code: 'world-driven' }))
    expect(writes[0]).toThrow(/runner\.change/)
    expect(world.hash()).toBe(before)
    await begun.promise
    await runner.idle()
    expect(transcript(world, agent)).toEqual(['user: Go', 'assistant: Hi'])
    await runner.stop()
    world.spawn(Note({ text: 'now I may' }))
  })
})
