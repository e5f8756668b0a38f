import {
  type Agent,
  createAgent,
  type CreateAgentOptions,
  defineTag,
  Limits,
  Llm,
  memoryStore,
  type OwnAgent,
  scripted,
  sqliteStore,
  SystemPrompt,
  textOf,
} from 'entia'
import { ToolRegistry } from 'entia/components'
import { defineWorldTool } from 'entia/systems'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { tool } from '../../behaviour/turns/tools.ts'

/** Answers with the system prompt and what was said so far; `call x` calls the tool `x`. */
const shop = scripted(({ messages, system }) => {
  const said = messages.filter(({ role }) => role === 'user').map(textOf)
  const last = messages.at(-1)
  if (last?.role === 'tool') return `It said: ${textOf(last)}`
  const [, name] = /^call (\w+)$/.exec(said.at(-1) ?? '') ?? []
  return name === undefined ? `${system ?? ''}${said.join(', ')}` : { toolCalls: [{ name }] }
})

const models = { shop }
const model = 'shop/clerk'

async function created(options: Partial<CreateAgentOptions> = {}): Promise<OwnAgent> {
  const agent = await createAgent({ model, models, ...options })
  onTestFinished(() => agent.close())
  return agent
}

const refusal = (options: object): Promise<unknown> =>
  createAgent(options as CreateAgentOptions).catch((error: unknown) => error)

describe('an agent', () => {
  it('answers, with tools that are named once', async () => {
    const agent = await created({ tools: [tool('look', () => 'Not here.')] })
    expect((await agent.ask('hello')).text).toBe('hello')
    expect((await agent.ask('call look')).text).toBe('It said: Not here.')
  })

  it('calls a tool that changes its world', async () => {
    const Happy = defineTag('Happy')
    const cheer = defineWorldTool({
      name: 'cheer',
      description: 'Cheers.',
      input: z.object({}),
      run(world, _, { agent }) {
        world.add(agent, Happy)
        return 'Hooray.'
      },
    })
    const agent = await created({ tools: [cheer] })
    expect((await agent.ask('call cheer')).text).toBe('It said: Hooray.')
    expect(agent.world.has(agent.entity, Happy)).toBe(true)
  })

  it('has its world and its Runner beside it, for what the world alone can say', async () => {
    const agent = await created({ maxSteps: 3, name: 'desk' })
    expect(agent.name).toBe('desk')
    expect(agent.world.name).toBe('desk')
    expect(agent.world.read(agent.entity, Limits)).toEqual({ maxSteps: 3 })
    expect(agent.runner.world).toBe(agent.world)
  })

  it('that is closed says what to do, and its events have ended', async () => {
    const agent: Agent & { close(): Promise<void> } = await created()
    const events = agent.events()
    await agent.close()
    await agent.close()
    for await (const { type } of events) expect(type).not.toBe('turn-started')
    expect(await agent.events().next()).toEqual({ done: true, value: undefined })
    for (const asked of [agent.ask('hello'), agent.message('hello'), agent.history(), agent.state(), agent.cancel()])
      await expect(asked).rejects.toMatchObject({
        code: 'world-driven',
        message:
          "The agent 'agent' is closed. Make it anew with createAgent({ … }), under the same name and store to go on.",
      })
  })
})

describe('an agent with a store', () => {
  it('goes on where it was, under its name', async () => {
    const store = memoryStore()
    const first = await created({ store, name: 'desk' })
    await first.ask('one')
    await first.close()
    const again = await created({ store, name: 'desk' })
    expect((await again.ask('two')).text).toBe('one, two')
    expect((await (await created({ store, name: 'other' })).ask('three')).text).toBe('three')
  })

  it('takes a message once under an id, before and behind a restart', async () => {
    const store = memoryStore()
    const first = await created({ store, name: 'desk' })
    await first.ask('one', { id: 'a' })
    await first.close()
    const again = await created({ store, name: 'desk' })
    expect((await again.ask('one', { id: 'a' })).text).toBe('one')
    expect((await again.history()).length).toBe(2)
  })

  it('has the model, prompt, limits and tools that the program says now, and keeps what it does not say', async () => {
    const store = memoryStore()
    const [look, find] = [tool('look', () => 'Not here.'), tool('find', () => 'Found.')]
    const options = { store, name: 'desk', system: 'Old: ', maxSteps: 5, tools: [look] }
    await (await created(options)).close()
    const renewed = await created({ ...options, model: 'shop/manager', system: 'New: ', tools: [look, find] })
    expect((await renewed.ask('hello')).text).toBe('New: hello')
    expect((await renewed.ask('call find')).text).toBe('It said: Found.')
    const { entity, world } = renewed
    expect(world.read(entity, Llm).model).toBe('shop/manager')
    await renewed.close()
    const { system: _, ...silent } = options
    const last = await created({ ...silent, maxSteps: 4, tools: [find] })
    expect((await last.ask('hello')).text).toBe('New: hello, call find, hello')
    expect(last.world.read(last.entity, Limits).maxSteps).toBe(4)
    expect(last.world.read(last.entity, ToolRegistry).tools.map(({ name }) => name)).toEqual(['find'])
    expect(last.world.read(last.entity, SystemPrompt).template).toBe('New: ')
  })

  it('may name another provider than the one it was saved with, which is there no more', async () => {
    const store = memoryStore()
    await (await created({ store, name: 'desk' })).close()
    const other = await createAgent({ store, name: 'desk', model: 'later/clerk', models: { later: shop } })
    onTestFinished(() => other.close())
    expect((await other.ask('hello')).text).toBe('hello')
  })

  it('is written to anew only where the program says something else', async () => {
    const store = memoryStore()
    const options = { store, name: 'desk', record: true, system: 'Old: ', maxSteps: 5, tools: [tool('look', () => '')] }
    const changes = async (more: object = {}): Promise<number> => {
      const desk = await created({ ...options, ...more })
      await desk.runner.idle()
      await desk.close()
      const rows = (await store.read('desk', { from: 0 }))?.rows ?? []
      return rows.filter((row) => JSON.stringify(row).includes('change')).length
    }
    expect([await changes(), await changes()]).toEqual([0, 0])
    expect(await changes({ system: 'New: ' })).toBe(1)
  })

  it('is driven by one process at a time', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'entia-agents-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    const store = sqliteStore({ folder })
    const first = await created({ store, name: 'desk' })
    expect(await refusal({ store, name: 'desk', model, models })).toMatchObject({ code: 'world-locked' })
    await first.close()
    await (await created({ store, name: 'desk' })).ask('hello')
  })
})

describe('options that contradict', () => {
  const look = tool('look', () => '')
  it.for<[string, object, string]>([
    ['no model', {}, "there is no model. Name one: model: 'provider/model'."],
    ['a store without a name', { model, store: memoryStore() }, "Write createAgent({ store, name: 'desk', … })."],
    ['a record without a store', { model, record: true }, 'record keeps all ticks in a store, and there is none.'],
    ['an unknown option', { model, modle: model }, 'unknown option modle'],
    ['a tool in place of a list', { model, tools: look }, 'tools must be a list'],
    ['components without values', { model, with: [Llm] }, 'with must be'],
    ['a store that is none', { model, store: {}, name: 'desk' }, 'store must be'],
  ])('are refused: %s', async ([, options, message]) => {
    const error = await refusal({ models, ...options })
    expect(error).toMatchObject({ code: 'invalid-argument' })
    expect(String(error)).toContain(message)
  })

  it('are refused: a tool that is named twice, an unknown provider', async () => {
    expect(await refusal({ model, models, tools: [look, look] })).toMatchObject({ code: expect.any(String) })
    expect(await refusal({ model: 'none/clerk', models })).toMatchObject({ code: 'unknown-provider' })
  })

  it('leave nothing behind: the name is free afterwards', async () => {
    const store = memoryStore()
    expect(await refusal({ model: 'none/clerk', models, store, name: 'desk' })).toMatchObject({
      code: 'unknown-provider',
    })
    expect((await (await created({ store, name: 'desk' })).ask('hello')).text).toBe('hello')
  })
})
