import {
  Conversation,
  LastTurn,
  memoryStore,
  Runner,
  sqliteStore,
  standardSystems,
  textOf,
  type ToolContext,
  VirtualClock,
} from 'entia'
import * as components from 'entia/components'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { expectValid, transcript } from '../../transcript.ts'
import {
  addAgent,
  behaving,
  calling,
  driven,
  gate,
  mortal,
  rejection,
  reopened,
  turns,
  worldWith,
} from '../turns/driving.ts'
import { tool } from '../turns/tools.ts'
import { mortalStore, watchedStore } from './watched-store.ts'

/** A letter is sent once at most. */
function post() {
  const sent: string[] = []
  const send = tool('send', ({ key }) => void sent.push(key), { restart: 'once' })
  return { sent, tools: [send], models: behaving(calling({ name: 'send' })).models }
}

describe('an effect', () => {
  it('that is pure or keyed begins after the commit that asks for it', async () => {
    const order: string[] = []
    const store = watchedStore(memoryStore(), {
      after: (ticks) => ticks.forEach(({ delta }) => delta.set?.['Pending'] !== undefined && order.push('committed')),
    })
    const tools = [tool('keyed', () => order.push('keyed'), { restart: 'keyed' })]
    const { world } = worldWith({ tools })
    const { models } = behaving((request, context) => {
      order.push('model')
      return calling({ name: 'keyed' })(request, context)
    })
    const { runner } = driven(world, { models, tools, store })
    await runner.start()
    await runner.idle()
    expect(order).toEqual(['committed', 'model', 'committed', 'keyed', 'committed', 'model'])
  })

  it('that runs once begins only after the commit that marks it as running', async () => {
    const order: string[] = []
    let sending = 0
    const store = watchedStore(memoryStore(), {
      after: (ticks) =>
        ticks.forEach(({ delta: { set = {} } }) => {
          for (const name of ['Pending', 'Running']) {
            for (const [entity] of set[name] ?? []) order.push(`${entity} ${name}`)
          }
        }),
    })
    const send = tool('send', () => order.push(`${sending} sent`), { restart: 'once' })
    const { world } = worldWith({ tools: [send] })
    const { models } = behaving(calling({ name: 'send' }))
    const { runner } = driven(world, { models, tools: [send], store })
    runner.on('tool-called', ({ effect }) => void (sending = effect))
    await runner.start()
    await runner.idle()
    const ofTool = order.filter((what) => what.startsWith(`${sending} `)).map((what) => what.split(' ')[1])
    expect(ofTool).toEqual(['Pending', 'Running', 'sent'])
  })

  it('that runs once and was found pending never began: it begins now', async () => {
    const kept = memoryStore()
    const { sent, tools, models } = post()
    const { world, agent } = worldWith({ tools })
    const { store, die } = mortalStore(kept)
    const first = mortal(world, { models, tools, store })
    first.runner.on('tool-called', die)
    const called = first.next('tool-called')
    await first.runner.start()
    await called
    await turns()
    expect(sent).toEqual([])
    const second = await reopened(kept, { models, tools })
    expect(second.world.query(components.ToolCall, components.Pending)).toHaveLength(1)
    await second.runner.start()
    await second.runner.idle()
    expect(sent).toHaveLength(1)
    expect(transcript(second.world, agent)[2]).toBe('tool call-1-0: [no output]')
  })

  it('that runs once and was found running may have happened: it is interrupted exactly once, and never runs again', async () => {
    const kept = memoryStore()
    const { sent, tools, models } = post()
    const { world, agent } = worldWith({ tools })
    const { store, die } = mortalStore(kept)
    const begun = gate()
    const send = tool(
      'send',
      ({ key }) => {
        sent.push(key)
        begun.resolve()
        die()
        return 'sent'
      },
      { restart: 'once' },
    )
    const first = mortal(world, { models, tools: [send], store })
    await first.runner.start()
    await begun.promise
    await turns()
    for (const found of [1, 0]) {
      const again = await reopened(kept, { models, tools })
      expect(again.world.query(components.ToolCall, components.Running)).toHaveLength(found)
      await again.runner.start()
      await again.runner.idle()
      await again.runner.stop()
      const results = transcript(again.world, agent).filter((line) => line.startsWith('tool'))
      expect(results).toEqual([
        'tool call-1-0!: [interrupted] The process ended while this ran: it may have happened, or not, or in part.',
      ])
      expect(again.world.read(agent, LastTurn).stop).toBe('done')
      expectValid(again.world, agent)
    }
    expect(sent).toHaveLength(1)
  })

  it('that is keyed and was at work is done again under the same key', async () => {
    const kept = memoryStore()
    const keys: string[] = []
    const { store, die } = mortalStore(kept)
    const begun = gate()
    const book = tool('book', ({ key }) => (die(), begun.resolve(), keys.push(key)), { restart: 'keyed' })
    const { world, agent } = worldWith({ tools: [book] })
    const { models } = behaving(calling({ name: 'book' }))
    const first = mortal(world, { models, tools: [book], store })
    await first.runner.start()
    await begun.promise
    await turns()
    const second = await reopened(kept, { models, tools: [book] })
    await second.runner.start()
    await second.runner.idle()
    expect(keys).toHaveLength(2)
    expect(new Set(keys).size).toBe(1)
    expect(transcript(second.world, agent).at(-1)).toBe('assistant: Done.')
  })

  it.each([
    ['throws then', () => Promise.reject(new Error('taken already')), 'Error: taken already'],
    ['reports an error then', () => ({ content: [{ type: 'text', text: 'taken' }], isError: true }), 'taken'],
  ])('that is keyed knows of each run before it, and if it %s, the model does too', async (_, last, said) => {
    const kept = memoryStore()
    const attempts: number[] = []
    const { models } = behaving(calling({ name: 'book' }))
    for (const life of [1, 2, 3]) {
      const { store, die } = life < 3 ? mortalStore(kept) : { store: kept, die: () => undefined }
      const begun = gate()
      const run = ({ attempt }: ToolContext): unknown => {
        attempts.push(attempt)
        if (life === 3) return last()
        die()
        begun.resolve()
        return 'booked'
      }
      const book = tool('book', run, { restart: 'keyed' })
      const parts = { models, tools: [book] }
      // Nobody stops what has died.
      const found = { ...parts, clock: new VirtualClock(), name: 'world', systems: standardSystems(), components }
      const create = () => worldWith({ tools: [book] }).world
      const runner = await Runner.open({ ...found, store, create })
      const { world } = runner
      await runner.start()
      if (life < 3) await begun.promise
      else await runner.idle()
      await turns()
      if (life < 3) continue
      await runner.stop()
      const doubt = 'The process ended while an earlier run of this call was under way: it may have happened'
      expect(transcript(world, 1)[2]).toContain(`tool call-1-0!: ${said}`)
      expect(textOf(world.read(1, Conversation)[2])).toContain(doubt)
      expectValid(world, 1)
    }
    expect(attempts).toEqual([1, 2, 3])
  })

  it('that is pure is at its first try again', async () => {
    const kept = memoryStore()
    const attempts: number[] = []
    const { store, die } = mortalStore(kept)
    const begun = gate()
    const look = tool('look', ({ attempt }) => (die(), begun.resolve(), attempts.push(attempt)))
    const { models } = behaving(calling({ name: 'look' }))
    const first = mortal(worldWith({ tools: [look] }).world, { models, tools: [look], store })
    await first.runner.start()
    await begun.promise
    await turns()
    const second = await reopened(kept, { models, tools: [look] })
    await second.runner.start()
    await second.runner.idle()
    expect(attempts).toEqual([1, 1])
  })
})

describe('a world in a store', () => {
  it('is there for the next Runner, in another process or this one, as it was', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'entia-engine-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const { world, agent } = worldWith()
    const { models } = behaving(() => 'Hi')
    const store = sqliteStore({ folder, synchronous: 'normal' })
    const first = driven(world, { models, store })
    await first.runner.start()
    await first.runner.idle()
    await first.runner.stop()
    await store.close()
    const again = sqliteStore({ folder, synchronous: 'normal' })
    const second = await reopened(again, { models })
    expect(second.world.hash()).toBe(world.hash())
    await second.runner.start()
    await second.runner.message(agent, 'Hello')
    await second.runner.idle()
    expect(transcript(second.world, agent)).toEqual(['user: Go', 'assistant: Hi', 'user: Hello', 'assistant: Hi'])
    await second.runner.stop()
    await again.close()
  })

  it('is not overwritten by a new world of the same name', async () => {
    const store = memoryStore()
    const { models } = behaving(() => 'Hi')
    const first = driven(worldWith().world, { models, store })
    await first.runner.start()
    await first.runner.idle()
    await first.runner.stop()
    const second = driven(worldWith().world, { models, store })
    await expect(second.runner.start()).rejects.toMatchObject({
      code: 'world-exists',
      message: expect.stringMatching(/Runner\.open\(\{ store, name: 'world'/) as string,
    })
    const third = await reopened(store, { models })
    expect(third.world.tick).toBe(2)
  })

  it('is made where there is none, if that is wished', async () => {
    const store = memoryStore()
    const where = { store, name: 'new', systems: standardSystems(), components }
    await expect(Runner.open(where)).rejects.toMatchObject({ code: 'no-such-world' })
    const wrong = Runner.open({ ...where, create: () => worldWith({}, 'old').world })
    await expect(wrong).rejects.toThrow(/expected a world named 'new', 'create' made one named 'old'/)
    const runner = await Runner.open({
      ...where,
      models: behaving(() => 'Hi').models,
      create: () => worldWith({}, 'new').world,
    })
    await runner.start()
    await runner.idle()
    await runner.stop()
    expect((await store.list()).map(({ name }) => name)).toEqual(['new'])
  })

  it('has one Runner at a time', async () => {
    const store = memoryStore()
    const { models } = behaving(() => 'Hi')
    const { world } = worldWith()
    const first = driven(world, { models, store })
    await first.runner.start()
    await expect(driven(world, { models }).runner.start()).rejects.toMatchObject({ code: 'world-driven' })
    await expect(driven(worldWith().world, { models, store }).runner.start()).rejects.toMatchObject({
      code: 'world-locked',
    })
    await expect(reopened(store, { models })).rejects.toMatchObject({ code: 'world-locked' })
    await first.runner.idle()
    await first.runner.stop()
    const next = await reopened(store, { models })
    await next.runner.start()
    await next.runner.idle()
  })

  it('is free again after a start that was refused', async () => {
    const store = memoryStore()
    const { world } = worldWith()
    await expect(driven(world, { store }).runner.start()).rejects.toMatchObject({ code: 'unknown-provider' })
    const taking = driven(world, { models: behaving(() => 'Hi').models, store })
    await taking.runner.start()
    await taking.runner.idle()
    await taking.runner.stop()
    const late = driven(worldWith().world, { models: behaving(() => 'Hi').models, store })
    await expect(late.runner.start()).rejects.toMatchObject({ code: 'world-exists' })
    await reopened(store, { models: behaving(() => 'Hi').models })
  })
})

describe('a Runner that is stopped', () => {
  it('while a tick is committed waits for that', async () => {
    const kept = memoryStore()
    const held = gate()
    let hold = false
    const committing = gate()
    const store = watchedStore(kept, { before: () => (hold ? (committing.resolve(), held.promise) : undefined) })
    const { world, agent } = worldWith({ messages: [] })
    const { models, requests } = behaving(() => 'Hi')
    const { runner } = driven(world, { models, store })
    await runner.start()
    await runner.idle()
    hold = true
    const posted = runner.message(agent, 'Hello')
    await committing.promise
    let stopped = false
    const stopping = runner.stop().then(() => (stopped = true))
    await turns(10)
    expect(stopped).toBe(false)
    held.resolve()
    await Promise.all([posted, stopping])
    expect(requests).toHaveLength(0)
    const second = await reopened(kept, { models })
    expect(second.world.read(agent, Conversation)).toHaveLength(1)
    await second.runner.start()
    await second.runner.idle()
    expect(requests).toHaveLength(1)
  })

  it('while it starts lets go of world and store', async () => {
    const kept = memoryStore()
    const held = gate()
    const { world, agent } = worldWith()
    const { models, requests } = behaving(() => 'Hi')
    const { runner } = driven(world, { models, store: watchedStore(kept, { before: () => held.promise }) })
    const starting = rejection(runner.start())
    await turns()
    await runner.stop()
    held.resolve()
    expect(await starting).toMatchObject({ code: 'world-driven' })
    expect(requests).toHaveLength(0)
    const next = await reopened(kept, { models })
    await next.runner.start()
    await next.runner.idle()
    expect(transcript(next.world, agent).at(-1)).toBe('assistant: Hi')
    addAgent(world)
  })

  it('twice, or before it has started, is stopped', async () => {
    const { world } = worldWith()
    const { runner } = driven(world, { models: behaving(() => 'Hi').models })
    await runner.stop()
    await runner.stop()
    await expect(runner.start()).rejects.toMatchObject({ code: 'world-driven' })
    addAgent(world)
  })
})
