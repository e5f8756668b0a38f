import { afterAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import * as components from '../../../components/index.ts'
import {
  agent,
  defineTool,
  memoryStore,
  Runner,
  scripted,
  standardSystems,
  SubagentRegistry,
  textOf,
  World,
} from '../../../src/index.ts'
import { anthropic } from '../../../src/doors/models.ts'
import type { ModelProvider } from '../../../src/models/port.ts'
import { copied, expectAccessible, opened } from './agent-views.ts'
import { closeBrowser } from './browser.ts'

afterAll(closeBrowser)

const look = defineTool({
  name: 'look',
  description: 'Looks.',
  input: z.object({ at: z.string() }),
  restart: 'pure',
  run: ({ at }) => `Seen: ${at}. `.repeat(80),
})

const system = "You look around, and say what's there. ".repeat(40)
const key = 'sk-ant-0123456789-secret'

/** Scripted, and sent as Anthropic's adapter would. */
function claude(behaviour: Parameters<typeof scripted>[0]): ModelProvider {
  const usage = { input: 100, cacheRead: 1_900, cacheWrite: 50, output: 20 }
  return { ...scripted(behaviour, { usage }), wire: anthropic({ apiKey: key }).wire }
}

async function looking() {
  const world = new World({ name: 'house', seed: 3, systems: standardSystems() })
  const worker = world.spawn(
    ...agent({ model: 'anthropic/claude-sonnet-4-5', system, tools: [look], messages: 'Look around.' }),
    components.Ceilings({ maxSessionCostUsd: 0.5, maxTurnCostUsd: 0.2 }),
  )
  const model = claude(({ messages }) =>
    messages.at(-1)?.role === 'user' ? { toolCalls: [{ name: 'look', arguments: { at: 'a chair' } }] } : 'All seen.',
  )
  const runner = new Runner(world, { models: { anthropic: model }, tools: [look], store: memoryStore(), record: true })
  await runner.start()
  await runner.idle()
  return { runner, worker }
}

describe('the request', () => {
  it('shows every part with its component and tokens beside the form of its provider, and is copied without a key', async () => {
    const { runner } = await looking()
    await using view = await opened(runner, 'view=request', { width: 1_400 })
    const { page } = view
    const parts = page.getByRole('feed', { name: 'Parts of the request' })
    await parts.getByText('a chair').first().waitFor()
    const texts = await parts.getByRole('article').allTextContents()
    expect(texts.map((text) => text.match(/Llm|ToolRegistry|SystemPrompt|Conversation/)?.[0])).toEqual([
      'Llm',
      'ToolRegistry',
      'SystemPrompt',
      'Conversation',
      'Conversation',
      'Conversation',
    ])
    // Of 2,050 tokens, 1,900 came from the cache: all but what is at the end.
    const states = await parts.locator('details').evaluateAll((all) => all.map((one) => one.getAttribute('data-state')))
    expect(states.slice(0, 3)).toEqual(['whole', 'whole', 'whole'])
    expect(states.at(-1)).toBe('partly')
    const wire = page.getByRole('region', { name: "The provider's form" })
    await wire.getByText('https://api.anthropic.com/v1/messages').waitFor()
    const body = JSON.parse(await copied(page, 'JSON')) as {
      readonly model: string
      readonly messages: readonly unknown[]
    }
    expect(body).toMatchObject({ model: 'claude-sonnet-4-5', system: [{ text: system }] })
    expect(body.messages).toHaveLength(3)
    const curl = await copied(page, 'curl')
    expect(curl).toContain("curl 'https://api.anthropic.com/v1/messages'")
    expect(curl).toContain('Bearer $ANTHROPIC_API_KEY"')
    expect(curl).toContain(String.raw`what'\''s there`)
    expect(curl).not.toContain(key)
    // A click on a component leads to it.
    await parts.getByRole('link', { name: 'SystemPrompt' }).click()
    await page.getByRole('heading', { name: 'World' }).waitFor()
    await runner.stop()
  })

  it('of an earlier step is chosen in the list by keyboard, and the page goes to its tick', async () => {
    const { runner } = await looking()
    await using view = await opened(runner, 'view=request', { width: 1_400 })
    const { page } = view
    await page.getByRole('heading', { name: 'Step 2' }).waitFor()
    await page.getByRole('grid', { name: 'Calls' }).focus()
    await page.keyboard.press('ArrowUp')
    await page.getByRole('heading', { name: 'Step 1' }).waitFor()
    await page.getByRole('feed', { name: 'Parts of the request' }).getByText('Look around.').waitFor()
    expect(page.url()).toContain('tick=2')
    await runner.stop()
  })
})

describe('the cache', () => {
  it('names the component that broke it, the first byte that differs, and the tokens and money paid again', async () => {
    const { runner, worker } = await looking()
    await runner.change((world) => world.set(worker, components.SystemPrompt, { template: `Today ${system}` }))
    await runner.message(worker, 'And the garden?')
    await runner.idle()
    await using view = await opened(runner, 'view=cache', { width: 1_400 })
    const { page } = view
    const broken = page.getByRole('row', { name: /SystemPrompt/ })
    await broken.waitFor()
    await page.getByText('1 break').waitFor()
    await broken.click()
    const detail = page.getByRole('complementary', { name: 'Where it differs' })
    const facts = await detail.locator('dl.facts').innerText()
    expect(facts).toMatch(/Broken by\s+SystemPrompt/)
    expect(facts).toMatch(/First differing byte\s+[\d,]+/)
    expect(facts).toMatch(/Paid again\s+[\d,]+ tokens, \$0\.\d+/)
    await detail.locator('.piece[data-state=done] mark').getByText('Today').waitFor()
    await expectAccessible(page)
    await detail.getByRole('link', { name: 'The request' }).click()
    await page.getByRole('feed', { name: 'Parts of the request' }).getByText('And the garden?').waitFor()
    await expectAccessible(page)
    await runner.stop()
  })
})

describe('the money', () => {
  it('shows ceilings, what was spent by each model, and what was granted to, spent and given back by each session', async () => {
    const model = claude(({ messages }) => {
      const text = textOf(messages.at(0))
      if (text === 'Make a wall.') return 'A wall.'
      if (text === 'Make a roof.') return new Promise<string>(() => undefined)
      const prompt = messages.length === 1 ? 'Make a wall.' : 'Make a roof.'
      return { toolCalls: [{ name: 'subagent', arguments: { category: 'builder', prompt } }] }
    })
    const world = new World({ name: 'house', seed: 3, systems: standardSystems() })
    world.spawn(
      ...agent({ model: 'anthropic/claude-sonnet-4-5', messages: 'Make a house.' }),
      SubagentRegistry({ subagents: { builder: { name: 'builder' } } }),
      components.DelegationLimits({ costUsd: 1 }),
      components.Ceilings({ maxSessionCostUsd: 2 }),
    )
    const runner = new Runner(world, { models: { anthropic: model }, store: memoryStore(), record: true })
    const launched = new Promise<void>((resolve) => {
      runner.on('delegation-started', ({ task }) => task === 'Make a roof.' && resolve())
    })
    await runner.start()
    await launched
    await using view = await opened(runner, 'view=money', { width: 1_400 })
    const { page } = view
    await page.getByText('Session ceiling').waitFor()
    await page.getByRole('meter').first().waitFor()
    const grants = page.getByRole('treegrid', { name: 'Grants of the tree' })
    const cells = async (name: RegExp) => {
      const row = grants.getByRole('row', { name })
      // The first has ended, and given back what it had left.
      await row
        .getByText('$0.250')
        .or(row.getByText(/\$0\.2\d+/))
        .first()
        .waitFor()
      return row.getByRole('gridcell').allInnerTexts()
    }
    const [, state, granted, reserved, spent, back] = await cells(/Make a wall/)
    expect(state).toContain('succeeded')
    expect(granted).toBe('$0.250')
    expect(reserved).toBe('$0')
    expect(dollars(granted) - dollars(spent)).toBeCloseTo(dollars(back), 2)
    const [, , given, held, , nothing] = await cells(/Make a roof/)
    expect(held).toBe(given)
    expect(nothing).toBe('–')
    const row = page.getByRole('row', { name: /its own/ })
    expect(await row.innerText()).toMatch(/claude-sonnet-4-5/)
    await expectAccessible(page)
    await runner.stop()
  })

  it('counts calls without a price, which are in no sum', async () => {
    const world = new World({ name: 'local', seed: 3, systems: standardSystems() })
    world.spawn(...agent({ model: 'script/x', messages: 'Hello.' }), components.Ceilings({ maxSessionCostUsd: 2 }))
    const runner = new Runner(world, {
      models: { script: scripted(() => 'Hello.', { usage: { input: 10, output: 5 } }) },
      store: memoryStore(),
      record: true,
    })
    await runner.start()
    await runner.idle()
    await using view = await opened(runner, 'view=money')
    await view.page.getByText('calls of unknown cost are not in it').waitFor()
    expect(await view.page.locator('.figure', { hasText: 'Unpriced calls' }).locator('strong').innerText()).toBe('1')
    await runner.stop()
  })
})

function dollars(text: string | undefined): number {
  return Number(text?.replace('$', ''))
}
