import {
  agent,
  declare,
  defineTool,
  type Entity,
  memoryStore,
  recordingOf,
  replay,
  type RunnerOptions,
  standardSystems,
  type Store,
  type Tool,
} from 'entia'
import { HostFacts, ToolRegistry } from 'entia/components'
import * as components from 'entia/components'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { expectValid, transcript } from '../../transcript.ts'
import {
  behaving,
  calling,
  type Driven,
  driven,
  gate,
  mortal,
  rejection,
  reopened,
  settled,
  worldWith,
} from './driving.ts'
import { tool } from './tools.ts'

const search = (field: string, run: (words: unknown) => unknown = () => 'found') =>
  defineTool({
    name: 'search',
    description: `Searches by ${field}.`,
    input: z.object({ [field]: z.string() }),
    restart: 'pure',
    run,
  })

const [older, newer] = [search('word'), search('query')]
const send = tool('send', () => 'sent')

/** A world with one agent that was driven once with these tools, in a store. */
async function saved(tools: readonly Tool[], options: Partial<RunnerOptions> = {}): Promise<Store> {
  const store = memoryStore()
  const { world } = worldWith({ tools, messages: 'Hello' })
  await settled(world, { models: behaving(() => 'Hi').models, tools, store, ...options })
  return store
}

async function redeployed(store: Store, options: Partial<RunnerOptions>, say = 'Go'): Promise<Driven> {
  const made = await reopened(store, { models: behaving(() => 'Done.').models, ...options })
  await made.runner.start()
  await made.runner.message(1, say)
  await made.runner.idle()
  return made
}

const namesOf = ({ world }: Driven, entity: Entity = 1) =>
  world.get(entity, ToolRegistry)?.tools.map(({ name }) => name)

describe('a tool that has changed since its agent was saved', () => {
  it('is declared anew, which is told, and its calls run', async () => {
    const store = await saved([older])
    const { models } = behaving(({ messages }) =>
      messages.at(-1)?.role === 'user' ? { toolCalls: [{ name: 'search', arguments: { query: 'x' } }] } : 'Done.',
    )
    const made = await redeployed(store, { models, tools: [newer] })
    expect(made.told('tool-changed')).toMatchObject([{ agent: 1, tool: 'search', change: 'changed' }])
    expect(made.world.read(1, ToolRegistry).tools).toEqual(declare(newer))
    expect(made.told('prefix-broken')).toMatchObject([{ agent: 1, component: 'ToolRegistry' }])
    expect(transcript(made.world, 1).at(-2)).toMatch(/^tool call-\d-0: found$/)
  })

  it('is told once: with the next start nothing has changed', async () => {
    const store = await saved([older])
    await (await redeployed(store, { tools: [newer] })).runner.stop()
    const again = await redeployed(store, { tools: [newer] })
    expect(again.told('tool-changed')).toEqual([])
  })

  it('that is kept stays as it was, until a Host that refreshes comes', async () => {
    const store = await saved([older])
    for (let start = 0; start < 2; start++) {
      const kept = await redeployed(store, { tools: [newer], onToolChange: 'keep' })
      expect(kept.told('tool-changed')).toMatchObject([{ tool: 'search', change: 'changed', kept: true }])
      expect(kept.world.read(1, ToolRegistry).tools).toEqual(declare(older))
      expect(kept.told('prefix-broken')).toEqual([])
      await kept.runner.stop()
    }
    const last = await redeployed(store, { tools: [newer] })
    expect(last.world.read(1, ToolRegistry).tools).toEqual(declare(newer))
    expect(last.world.read(last.world.query(HostFacts)[0] as Entity, HostFacts).keptTools).toBeUndefined()
  })

  it('is a program’s own if no Host had it so: a stricter declaration stays', async () => {
    const strict = { ...(declare(older)[0] as ReturnType<typeof declare>[number]), approval: true }
    const store = memoryStore()
    const { world } = worldWith({ tools: [strict], messages: 'Hello' })
    await settled(world, { models: behaving(() => 'Hi').models, tools: [older], store })
    const made = await redeployed(store, { tools: [newer] })
    expect(made.told('tool-changed')).toEqual([])
    expect(made.world.read(1, ToolRegistry).tools).toEqual([strict])
  })

  it('is shared by all agents that had the same tools', async () => {
    const store = memoryStore()
    const { world } = worldWith({ tools: [older], messages: 'Hello' })
    world.spawn(...agent({ model: 'scripted/x', tools: [older] }))
    await settled(world, { models: behaving(() => 'Hi').models, tools: [older], store })
    const made = await redeployed(store, { tools: [newer] })
    expect(made.told('tool-changed').map((event) => event.agent)).toEqual([1, 2])
    expect(made.world.read(1, ToolRegistry).tools[0]).toBe(made.world.read(2, ToolRegistry).tools[0])
  })
})

describe('a tool that its Host has no more', () => {
  it('is dropped, which is told, and the start goes on', async () => {
    const store = await saved([older, send])
    const made = await redeployed(store, { tools: [older] })
    expect(made.told('tool-changed')).toMatchObject([{ agent: 1, tool: 'send', change: 'removed' }])
    expect(namesOf(made)).toEqual(['search'])
    expect(transcript(made.world, 1).at(-1)).toBe('assistant: Done.')
  })

  it.each([
    ['refresh', "Error: the tool 'hang' is not there any more."],
    ['keep', "Error: Tool 'hang' has no handler on this host."],
  ] as const)('has its open calls answered with a sentence under %s', async (onToolChange, text) => {
    const store = memoryStore()
    const begun = gate()
    const hang = tool('hang', () => (begun.resolve(), gate<never>().promise))
    const { models } = behaving(calling({ name: 'hang' }))
    const first = mortal(worldWith({ tools: [hang, send] }).world, { models, tools: [hang, send], store })
    await first.runner.start()
    await begun.promise
    await first.runner.stop()
    const made = await reopened(store, { models, tools: [send], onToolChange })
    await made.runner.start()
    await made.runner.idle()
    expect(transcript(made.world, 1).slice(2)).toEqual([`tool call-1-0!: ${text}`, 'assistant: Done.'])
    expect(made.told('input-dropped')).toEqual([])
    expect(namesOf(made)).toEqual(onToolChange === 'keep' ? ['hang', 'send'] : ['send'])
    expectValid(made.world, 1)
  })

  it('may have done its work if it was keyed, and the model reads that', async () => {
    const store = memoryStore()
    const begun = gate()
    const hang = tool('hang', () => (begun.resolve(), gate<never>().promise), { restart: 'keyed' })
    const { models } = behaving(calling({ name: 'hang' }))
    const first = mortal(worldWith({ tools: [hang] }).world, { models, tools: [hang], store })
    await first.runner.start()
    await begun.promise
    await first.runner.stop()
    const made = await reopened(store, { models, tools: [] })
    await made.runner.start()
    await made.runner.idle()
    expect(transcript(made.world, 1)[2]).toContain('it may have happened')
  })

  it('has the question about its call withdrawn, and the call is answered', async () => {
    const store = memoryStore()
    const buy = tool('buy', () => 'bought', { approval: true })
    const { models } = behaving(calling({ name: 'buy' }))
    const first = driven(worldWith({ tools: [buy] }).world, { models, tools: [buy], store, approve: 'by-input' })
    const asked = first.next('approval-requested')
    await first.runner.start()
    await asked
    await first.runner.stop()
    const made = await reopened(store, { models, tools: [], approve: 'by-input' })
    await made.runner.start()
    await made.runner.idle()
    expect(transcript(made.world, 1)[2]).toContain('there is no tool named buy')
  })
})

describe('a Host that refuses changed tools', () => {
  it('names each before anything has run, and the world stays as it was', async () => {
    const store = await saved([older, send])
    const { runner, world } = await reopened(store, {
      models: behaving(() => 'Hi').models,
      tools: [newer],
      onToolChange: 'refuse',
    })
    const before = world.hash()
    const error = await rejection(runner.start())
    expect(error).toMatchObject({ code: 'tool-changed', message: expect.stringContaining("'search' of entity 1") })
    expect(error).toMatchObject({ message: expect.stringContaining("'send' of entity 1 is gone") })
    expect(world.hash()).toBe(before)
    await runner.stop()
    await redeployed(store, { tools: [older, send], onToolChange: 'refuse' })
  })

  it('is asked for by one of three words', () => {
    expect(() => driven(worldWith().world, { onToolChange: 'ignore' as never })).toThrow("got 'ignore'")
  })
})

describe('a tool that is new', () => {
  it('is shown to no saved agent, but to the one that the program gives it to', async () => {
    const store = await saved([older])
    const plain = await redeployed(store, { tools: [older, send] })
    expect([namesOf(plain), plain.told('tool-changed')]).toEqual([['search'], []])
    await plain.runner.stop()
    const made = await reopened(store, { models: behaving(() => 'Done.').models, tools: [older, send] })
    made.runner.addTool(1, 'send')
    await made.runner.start()
    await made.runner.message(1, 'Go')
    await made.runner.idle()
    expect(made.told('tool-changed')).toMatchObject([{ agent: 1, tool: 'send', change: 'added' }])
    expect(namesOf(made)).toEqual(['search', 'send'])
    expect(() => made.runner.addTool(1, 'send')).toThrow(expect.objectContaining({ code: 'world-driven' }))
    await made.runner.stop()
    const again = await reopened(store, { models: behaving(() => 'Done.').models, tools: [older, send] })
    again.runner.addTool(1, 'send')
    await again.runner.start()
    await again.runner.idle()
    expect([namesOf(again), again.told('tool-changed')]).toEqual([['search', 'send'], []])
  })

  it.each([
    [1, 'fly', "the host has no tool 'fly'"],
    [99, 'send', 'there is no entity 99'],
  ])('is refused at the start if there is no such agent or tool: %i, %s', async (entity, name, problem) => {
    const made = driven(worldWith().world, { models: behaving(() => 'Hi').models, tools: [send] })
    made.runner.addTool(entity, name)
    expect(await rejection(made.runner.start())).toMatchObject({
      code: 'invalid-argument',
      message: expect.stringContaining(problem),
    })
  })
})

describe('a recording of changed tools', () => {
  it('gives the same world without the Host that brought them', async () => {
    const store = await saved([older, send], { record: true })
    const made = await reopened(store, {
      models: behaving(() => 'Done.').models,
      tools: [newer, tool('call', () => 'called')],
      record: true,
    })
    made.runner.addTool(1, 'call')
    await made.runner.start()
    await made.runner.message(1, 'Go')
    await made.runner.idle()
    await made.runner.stop()
    expect(namesOf(made)).toEqual(['search', 'call'])
    const again = replay(await recordingOf(store, 'world'), { systems: standardSystems(), components })
    expect(again.difference).toBeUndefined()
    expect(again.hash).toBe(made.world.hash())
  })
})
