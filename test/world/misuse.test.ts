import {
  agent,
  Conversation,
  defineComponent,
  defineTool,
  EntiaError,
  Host,
  Runner,
  run,
  scripted,
  standardSystems,
  user,
  World,
} from 'entia'
import { Context } from 'entia/context'
import { anthropic, openai } from 'entia/models'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'

const model = scripted(() => 'Hello')
const echo = defineTool({
  name: 'echo',
  description: 'Says it again.',
  input: z.object({ text: z.string() }),
  restart: 'pure',
  run: ({ text }) => text,
})

/** What a program without types may write. */
const any = (value: unknown): never => value as never

function cycle(): unknown {
  const one: Record<string, unknown> = { role: 'user' }
  one['content'] = [one]
  return one
}

function deep(levels: number): unknown {
  let value: unknown = 1
  for (let level = 0; level < levels; level++) value = [value]
  return value
}

const Note = defineComponent('Note', z.strictObject({ about: z.unknown() }))

describe('a mistake', () => {
  it.for<[string, () => unknown, ...string[]]>([
    ['a cycle in a value', () => Note({ about: cycle() }), 'a cycle', 'plain data', 'an id'],
    ['a cycle in a log', () => Conversation(any([cycle()])), 'a cycle', 'an id'],
    ['5,000 levels in a value', () => Note({ about: deep(5_000) }), 'more than 256 levels', 'flatten it'],
    [
      '5,000 levels in a write',
      () => new World().append(1, Conversation, any(deep(5_000))),
      'more than 256 levels',
      'flatten it',
    ],
    ['tools as an object', () => new Host(any({ tools: { echo } })), 'tools must be a list', 'tools: [echo]'],
    ['tools of an agent as an object', () => agent(any({ model: 'script/x', tools: { echo } })), 'tools: [echo]'],
    ['a list among tools', () => new Host({ tools: [any([echo])] }), 'tools[0]', 'spread the list'],
    ['a function for a tool', () => new Host({ tools: [any(() => 1)] }), 'tools[0]', 'defineTool'],
    ['models as a list', () => new Host({ models: any([model]) }), 'models must be an object', 'models: { script:'],
    ['one model for all', () => new Host({ models: any(model) }), 'got a model provider', 'models: { script:'],
    ['a function for a model', () => new Host({ models: any({ script: () => 'x' }) }), 'models.script', 'scripted('],
    ['one tool for all', () => new Host({ tools: any(echo) }), 'tools must be a list', 'tools: […]'],
    ['a Runner of nothing', () => new Runner(any(undefined)), 'a World, got undefined', 'new Runner(world, {'],
    ['a Runner of options alone', () => new Runner(any({ models: { model } })), 'a World', 'run(world, {'],
    ['a name for a model', () => new Host({ models: any({ script: 'x' }) }), 'models.script', "'x'", 'scripted('],
    ['effects as a list', () => new Host({ effects: any([]) }), 'effects must be an object', 'prepare'],
    ['skills as an object', () => new Host({ skills: any({ a: {} }) }), 'skills must be a list', 'skills: [a]'],
    [
      'standardSystems without the call',
      () => new World({ systems: any(standardSystems) }),
      'systems must be a list',
      'systems: standardSystems()',
    ],
    [
      'a list among systems',
      () => new World({ systems: [any(standardSystems())] }),
      'systems[0]',
      '...standardSystems()',
    ],
    [
      'a system without a run',
      () => new World({ systems: [any({ name: 'x', priority: 1 })] }),
      'systems[0]',
      'run(world)',
    ],
    [
      'a name for a list of inputs',
      () => new World({ systems: [{ name: 'x', priority: 1, run: () => {}, inputs: any('mine') }] }),
      "system 'x': inputs must be a list of names",
      "inputs: ['mine']",
    ],
    ['no listener', () => new Runner(new World()).on('turn-ended', any(undefined)), 'a function', '(event) =>'],
    ['an agent that is not spread', () => new World().spawn(any(agent({ model: 'script/x' }))), '...agent({'],
    ['nothing to spawn of', () => new World().spawn(any(undefined)), 'undefined', 'Name(value)'],
    ['no options', () => new World(any(null)), 'options must be an object', 'null'],
    ['a number for a name', () => new World({ name: any(1) }), 'name must be a text', 'got 1'],
    [
      'a missing import among components',
      () => new World({ components: [any(undefined)] }),
      'components[0]',
      'undefined',
    ],
    ['two components at once', () => new World().add(1, Note({ about: 1 }), any(Note)), 'one component, got 2', 'each'],
    ['a component that is not there', () => new World().get(1, any(undefined)), 'Expected a component', 'undefined'],
    ['a query of nothing', () => new World().query(any(undefined)), 'A query takes components', 'undefined'],
    [
      'a log as a value',
      () => new World().set(1, any(Conversation), any([])),
      'a value',
      'Conversation, which is a log',
    ],
    ['holes in a log', () => new World().rewrite(1, Conversation, Array(2)), 'Conversation', 'undefined'],
    ['a component without a schema', () => defineComponent('X', any(undefined)), 'Component X', 'zod 4, got undefined'],
    [
      'a misspelt option of a component',
      () => defineComponent('X', z.any(), any({ migrates: 1 })),
      'migrates',
      'migrate',
    ],
    ['a key that is no text', () => anthropic({ apiKey: any(1) }), 'anthropic(): apiKey must be a text, got 1'],
    ['a header that is no text', () => openai({ headers: any({ x: 1 }) }), 'headers', 'a text'],
    ['a fetch that is none', () => openai({ fetch: any('fetch') }), "fetch must be a function, got 'fetch'"],
    ['an address that is none', () => anthropic({ baseURL: 'here' }), 'baseURL must be a URL', "'here'"],
    ['a clock that is none', () => new Host({ clock: any({}) }), 'clock must be a clock, { now, date, at }'],
    [
      'a retry that is none',
      () => new Host({ models: { x: { ...model, retry: any({}) } } }),
      'models.x: retry',
      'maxAttempts',
    ],
    [
      'a store that is none',
      () => new Runner(new World(), { store: any({}) }),
      'store must be a store',
      'sqliteStore(',
    ],
  ])('%s is told with what to write instead', ([, make, ...parts]) => {
    expect(make).toThrow(EntiaError)
    for (const part of parts) expect(make).toThrow(part)
  })

  it('leaves nothing behind: a spawn that is refused has taken no number', () => {
    const world = new World()
    expect(() => world.spawn(any(agent({ model: 'script/x' })))).toThrow(EntiaError)
    expect([world.entities(), world.spawn()]).toEqual([[], 1])
  })

  it('is no write of a value that lacks what has a default: that is filled in, as where it is made', async () => {
    const world = new World({ systems: standardSystems() })
    const speaker = world.spawn(...agent({ model: 'script/x', messages: [user('Hello')] }))
    world.set(speaker, Context, any({}))
    expect(world.get(speaker, Context)).toEqual(Context(any({})).initial)
    await run(world, { models: { script: model } })
  })

  it('is no saved value that lacks what has a default by now: that is filled in at the restore', () => {
    const Before = defineComponent('Note', z.strictObject({ about: z.string() }))
    const Now = defineComponent('Note', z.strictObject({ about: z.string(), size: z.int().default(3) }))
    const world = new World()
    const entity = world.spawn(Before({ about: 'x' }))
    const restored = World.restore(world.snapshot(), { components: [Now] })
    expect(restored.get(entity, Now)).toEqual({ about: 'x', size: 3 })
  })

  it('of a Runner whose World has no systems is told at the start', async () => {
    const world = new World()
    world.spawn(...agent({ model: 'script/x', messages: [user('Hello')] }))
    await expect(run(world, { models: { script: model } })).rejects.toThrow('systems: standardSystems()')
    await expect(new Runner(world).start()).rejects.toMatchObject({ code: 'invalid-argument' })
  })

  it('of a schema that has changed without a version is told at the restore', () => {
    const world = new World()
    world.spawn(Note({ about: 1 }))
    const Changed = defineComponent('Note', z.strictObject({ about: z.string() }))
    const restore = (): World => World.restore(world.snapshot(), { components: [Changed] })
    expect(restore).toThrow('entity 1, component Note at about')
    expect(restore).toThrow('define it with { version: 2, migrate }')
  })
})
