import { afterAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import {
  agent,
  defineTool,
  lastText,
  memoryStore,
  Runner,
  scripted,
  standardSystems,
  type Store,
  SubagentRegistry,
  textOf,
  World,
} from '../../../src/index.ts'
import * as components from '../../../components/index.ts'
import { inspect } from '../../../src/inspector/index.ts'
import type { ForkEdit, WorldEntry } from '../../../src/inspector/reading/wire.ts'
import { closeBrowser, openPage } from './browser.ts'
import { client, finishedRun, looked } from './copied-runs.ts'

afterAll(closeBrowser)

const south: ForkEdit = {
  entity: 1,
  component: 'Conversation',
  index: 0,
  value: { role: 'user', content: [{ type: 'text', text: 'south' }] },
}

async function allOf(store: Store, name: string): Promise<string> {
  return JSON.stringify(await store.read(name, { from: 0 }))
}

/** A world of a store as it lies there. */
async function stored(store: Store, name: string): Promise<World> {
  const runner = await Runner.open({ store, name, systems: standardSystems(), components })
  await runner.stop()
  return runner.world
}

async function until<T>(look: () => Promise<T | undefined>): Promise<T> {
  for (;;) {
    const found = await look()
    if (found !== undefined) return found
    await new Promise((resolve) => setImmediate(resolve))
  }
}

/** The entry of a copy once it has come to rest, or asks. */
function rested(worlds: () => Promise<readonly WorldEntry[]>, name: string): Promise<WorldEntry> {
  return until(async () => {
    const entry = (await worlds()).find((one) => one.name === name)
    return entry?.stopped !== undefined || (entry?.asks ?? []).length > 0 || entry?.isBusy === false ? entry : undefined
  })
}

describe('a copy of a world as of a tick', { timeout: 60_000 }, () => {
  it('with another user message goes another way, leaves the original byte for byte, and is compared with it', async () => {
    const store = memoryStore()
    const runner = await finishedRun('walk', 20, store)
    const before = await allOf(store, 'walk')
    const served = await inspect(runner, { actions: true })
    {
      await using opened = await openPage(served.url.replace('#', '#world=walk&tick=40&view=world&'))
      const { page } = opened
      await page.getByRole('heading', { name: 'Tick 40' }).waitFor()
      await page.getByRole('button', { name: 'Act' }).click()
      await page.getByRole('menuitem', { name: /Fork from tick 40/ }).click()
      await page.getByLabel('Change first').selectOption('1/Conversation/0')
      await page.getByLabel('Its text').fill('south')
      await page.getByRole('button', { name: 'Fork from tick 40' }).click()
      await page.getByRole('status').filter({ hasText: 'A copy of walk at tick 40' }).waitFor()
      await page.getByText('of 42', { exact: true }).waitFor()
      await page.getByRole('button', { name: 'Compare with the original' }).click()
      const difference = page.getByRole('region', { name: 'First difference' })
      await difference.getByText(/They first differ at tick 40\.$/).waitFor()
      const text = await difference.innerText()
      expect(text).toMatch(/walk\s+Go to tick 40\s+walk-fork-1\s+Go to tick 40/)
      expect(text).toMatch(/#1 · Conversation item 0.*north.*south/s)
    }
    await served.close()
    expect(lastText(await stored(store, 'walk-fork-1'), 1)).toBe('All seen. I was asked: south')
    expect(lastText(runner.world, 1)).toBe('All seen. I was asked: north')
    expect(await allOf(store, 'walk')).toBe(before)
    await runner.stop()
  })

  it('is driven by the recorded answers to the same end, and calls no model and no tool', async () => {
    const store = memoryStore()
    const runner = await finishedRun('walk', 10, store)
    const served = await inspect(runner, { actions: true })
    const { act, worlds } = client(served.url)
    const [ran] = [looked.length]
    expect(await act({ do: 'fork', world: 'walk', tick: 7, driver: 'recording' })).toMatchObject({
      world: 'walk-fork-1',
    })
    const { stopped } = await rested(worlds, 'walk-fork-1')
    expect(stopped).toBe('The recording has no more for walk-fork-1: it went as far as the run did.')
    await served.close()
    const copy = await stored(store, 'walk-fork-1')
    expect(copy.read(1, components.Conversation)).toEqual(runner.world.read(1, components.Conversation))
    expect(looked.length).toBe(ran)
    await runner.stop()
  })

  it('that is driven by the recorded answers stands at the first request that was never made', async () => {
    const store = memoryStore()
    const runner = await finishedRun('walk', 10, store)
    const served = await inspect(runner, { actions: true })
    const { act, worlds } = client(served.url)
    await act({ do: 'fork', world: 'walk', tick: 7, driver: 'recording', edits: [south] })
    const { stopped, tick } = await rested(worlds, 'walk-fork-1')
    expect(stopped).toMatch(/the model call of agent 1 is one that the run never made. The copy stands there./)
    expect(tick).toBeLessThanOrEqual(9)
    await served.close()
    await runner.stop()
  })

  it('runs no tool by itself: a person gives what it gives, lets it run, or refuses', async () => {
    const store = memoryStore()
    const runner = await finishedRun('walk', 4, store)
    const served = await inspect(runner, { actions: true })
    const { act, worlds } = client(served.url)
    const ran = looked.length
    {
      await using opened = await openPage(served.url.replace('#', '#world=walk&tick=1&'))
      const { page } = opened
      await page.getByText('of 10').waitFor()
      await act({ do: 'fork', world: 'walk', tick: 1, driver: 'host', edits: [south] })
      await page.goto(served.url.replace('#', '#world=walk-fork-1&'))
      const asked = page.getByRole('form', { name: 'The copy asks about look' })
      await asked.getByText('south 1').waitFor()
      expect(looked.length).toBe(ran)
      await asked.getByLabel('What it gives').fill('a wall')
      await asked.getByRole('button', { name: 'Give this' }).click()
      await asked.getByText('south 3').waitFor()
      await asked.getByRole('button', { name: 'Run it' }).click()
      await asked.getByText('south 5').waitFor()
      await asked.getByRole('button', { name: 'Refuse' }).click()
      await asked.getByText('south 7').waitFor()
    }
    expect(looked.slice(ran)).toEqual(['south 3'])
    const { asks = [] } = (await worlds()).find(({ name }) => name === 'walk-fork-1') ?? {}
    await act({ do: 'reply', world: 'walk-fork-1', question: asks[0]?.id ?? '', how: 'give', text: 'the sea' })
    await rested(worlds, 'walk-fork-1')
    await served.close()
    const results = (await stored(store, 'walk-fork-1'))
      .read(1, components.Conversation)
      .filter(({ role }) => role === 'tool')
    expect(results.map(textOf)).toEqual([
      'a wall',
      'south 3 is there',
      expect.stringContaining('It does not run here.'),
      'the sea',
    ])
    await runner.stop()
  })

  it('counts a call that may have happened as interrupted, and has idempotency keys of its own', async () => {
    const keys: string[] = []
    const pay = defineTool({
      name: 'pay',
      description: 'Pays.',
      input: z.object({ after: z.string() }),
      restart: 'keyed',
      run: (_, { key }) => {
        keys.push(key)
        return 'paid'
      },
    })
    const payer = scripted(({ messages }) => {
      const paid = messages.filter(({ role }) => role === 'tool')
      const after = textOf(paid.at(-1)).slice(0, 13)
      return paid.length < 2 ? { toolCalls: [{ name: 'pay', arguments: { after } }] } : 'All paid.'
    })
    const world = new World({ name: 'till', seed: 1, systems: standardSystems() })
    world.spawn(...agent({ model: 'script/x', tools: [pay], messages: 'Pay twice.' }))
    const store = memoryStore()
    const runner = new Runner(world, { models: { script: payer }, tools: [pay], store, record: true })
    await runner.start()
    await runner.idle()
    const served = await inspect(runner, { actions: true })
    const { act, worlds } = client(served.url)
    // At tick 2 the first payment is on its way.
    await act({ do: 'fork', world: 'till', tick: 2, driver: 'host' })
    const { asks = [] } = await rested(worlds, 'till-fork-1')
    expect(asks).toMatchObject([{ tool: 'pay', arguments: { after: '[interrupted]' } }])
    await act({ do: 'reply', world: 'till-fork-1', question: asks[0]?.id ?? '', how: 'run' })
    await until(async () => (keys.length === 3 ? true : undefined))
    await rested(worlds, 'till-fork-1')
    await served.close()
    const copy = await stored(store, 'till-fork-1')
    const result = copy.read(1, components.Conversation).find(({ role }) => role === 'tool')
    expect(textOf(result)).toContain('[interrupted]')
    expect(new Set(keys).size).toBe(3)
    expect(keys[2]).toMatch(/^till-fork-1\//)
    await runner.stop()
  })

  it('has copies of the worlds below it, under ids of their own', async () => {
    const lead = scripted(({ messages, system }) => {
      if (!system.includes('lead')) return `Done: ${textOf(messages[0])}`
      const last = messages.at(-1)
      if (last?.role === 'tool') return `It said ${textOf(last)}`
      return { toolCalls: [{ name: 'subagent', arguments: { category: 'scout', prompt: 'Look.' } }] }
    })
    const world = new World({ name: 'team', seed: 5, systems: standardSystems() })
    world.spawn(
      ...agent({ model: 'script/x', system: 'You lead: lead.', messages: 'Go.' }),
      SubagentRegistry({ subagents: { scout: { name: 'scout', systemPrompt: 'You look.' } } }),
    )
    const store = memoryStore()
    const runner = new Runner(world, { models: { script: lead }, store, record: true })
    await runner.start()
    await runner.idle()
    const served = await inspect(runner, { actions: true })
    const { act, worlds } = client(served.url)
    await act({ do: 'fork', world: 'team', tick: world.tick, driver: 'none' })
    const entries = await worlds()
    const [child, copied] = ['team', 'team-fork-1'].map((root) => entries.find((one) => one.root === root)?.name ?? '')
    expect(copied).toMatch(/^session-[0-9a-f]{16}$/)
    expect(copied).not.toBe(child)
    const text = JSON.stringify(await store.read('team-fork-1'))
    expect(text).toContain(copied)
    expect(text).not.toContain(child)
    expect(await store.read(copied ?? '', { root: 'team-fork-1' })).toBeDefined()
    await served.close()
    await runner.stop()
  })

  it('launches the sessions of the run again, with tools of their own, which answer as recorded', async () => {
    const lead = scripted(({ messages }) => {
      const last = messages.at(-1)
      if (last?.role === 'tool') return `It said ${textOf(last)}`
      return { toolCalls: [{ name: 'subagent', arguments: { category: 'scout', prompt: 'Look.' } }] }
    })
    const scout = scripted(({ messages }) => {
      const last = messages.at(-1)
      return last?.role === 'tool' ? textOf(last) : { toolCalls: [{ name: 'peer', arguments: {} }] }
    })
    let ran = 0
    const peer = defineTool({
      name: 'peer',
      description: 'Peers.',
      input: z.object({}),
      restart: 'pure',
      run: () => `fog, ${++ran}`,
    })
    const world = new World({ name: 'team', seed: 5, systems: standardSystems() })
    const subagents = { scout: { name: 'scout', model: 'scout/x', tools: ['peer'] } }
    world.spawn(...agent({ model: 'lead/x', messages: 'Go.' }), SubagentRegistry({ subagents }))
    const store = memoryStore()
    const runner = new Runner(world, { models: { lead, scout }, tools: [peer], store, record: true })
    await runner.start()
    await runner.idle()
    const served = await inspect(runner, { actions: true })
    const { act, worlds } = client(served.url)
    await act({ do: 'fork', world: 'team', tick: 1, driver: 'recording' })
    const { stopped } = await rested(worlds, 'team-fork-1')
    expect(stopped).toBe('The recording has no more for team-fork-1: it went as far as the run did.')
    await served.close()
    expect(lastText(await stored(store, 'team-fork-1'), 1)).toBe('It said fog, 1')
    expect(ran).toBe(1)
    await runner.stop()
  })

  it('is not made of a value that does not fit, an unknown component or entity, or a tick that is not there', async () => {
    const store = memoryStore()
    const runner = await finishedRun('walk', 2, store)
    const served = await inspect(runner, { actions: true })
    const { act } = client(served.url)
    const refused = async (edit: Partial<ForkEdit>, tick = 3) =>
      (await act({ do: 'fork', world: 'walk', tick, driver: 'none', edits: [{ ...south, ...edit }] })) as unknown
    expect(await refused({ value: { role: 'nobody' } })).toMatchObject({
      code: 'invalid-value',
      message: expect.stringContaining('entity 1, component Conversation, item 0') as string,
    })
    expect(await refused({ index: 99 })).toMatchObject({
      message: expect.stringContaining('there is no item 99') as string,
    })
    expect(await refused({ component: 'Mood' })).toMatchObject({ code: 'unknown-component' })
    expect(await refused({ entity: 77 })).toMatchObject({ code: 'unknown-entity' })
    expect(await refused({}, 999)).toMatchObject({ message: expect.stringContaining('has no tick 999') as string })
    expect((await store.list()).map(({ name }) => name)).toEqual(['walk'])
    await served.close()
    await runner.stop()
  })
})
