import { afterAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import {
  agent,
  assistant,
  defineTool,
  type Message,
  memoryStore,
  Runner,
  scripted,
  standardSystems,
  user,
  World,
} from '../../../src/index.ts'
import type { ModelProvider } from '../../../src/models/port.ts'
import { configured, readConfig } from '../../../src/doors/context.ts'
import { archiving, looking } from '../../behaviour/context/archiving.ts'
import { expectAccessible, opened } from './agent-views.ts'
import { closeBrowser } from './browser.ts'

afterAll(closeBrowser)

const megabytes = 5

/** What a tool or a model might say to do harm, or to be unreadable. */
const harmful: Record<string, string> = {
  markup: `<img src=x onerror="globalThis.harmed = 1"></script><script>globalThis.harmed = 1</script>`,
  link: '[click me](javascript:globalThis.harmed=1) ![pixel](https://tracker.example/x.png) <a href="javascript:globalThis.harmed=1">raw</a>',
  colours: '\u001b[31mred words\u001b[0m and \u001b]0;title\u0007 more',
  half: 'before \ud83d after, \u202eturned around\u202c',
  long: `start of it\n${'The quick brown fox jumps over the lazy dog.\n'.repeat((megabytes * 1_048_576) / 45)}end of it`,
}

const look = defineTool({
  name: 'look',
  description: 'Looks.',
  input: z.object({ at: z.string() }),
  restart: 'pure',
  maxResultChars: 10_000_000,
  run: ({ at }) => harmful[at] ?? `Seen: ${at}`,
})

async function talking(model: ModelProvider, messages: string | readonly Message[], name = 'talk') {
  const world = new World({ name, seed: 3, systems: standardSystems() })
  const speaker = world.spawn(...agent({ model: 'script/x', tools: [look], messages }))
  const runner = new Runner(world, { models: { script: model }, tools: [look], store: memoryStore(), record: true })
  await runner.start()
  return { runner, speaker, world }
}

const looksAtAll = scripted(
  ({ messages }) =>
    messages.at(-1)?.role === 'user'
      ? {
          thinking: 'I look at all of it.',
          toolCalls: Object.keys(harmful).map((at) => ({ name: 'look', arguments: { at } })),
        }
      : `${harmful['link']}\n\n${harmful['markup']}\n\n${harmful['half']}`,
  { usage: { input: 100, cacheRead: 300, output: 20 } },
)

describe('the conversation', () => {
  it(
    'shows what harms or is unreadable as text that can be read, and stays quick with five megabytes',
    { timeout: 90_000 },
    async () => {
      const { runner } = await talking(looksAtAll, 'Look at **everything**.')
      await runner.idle()
      await using view = await opened(runner, 'view=conversation')
      const { page } = view
      await page.getByText('raw</a>').first().waitFor()
      await page.evaluate(`globalThis.longTasks = []; new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) longTasks.push(duration)
    }).observe({ type: 'longtask' })`)
      // Every tool call is opened.
      for (const call of await page.locator('.tool-call > summary').all()) await call.click()
      await page.getByText('</script><script>').first().waitFor()
      expect(await page.locator('.ansi-31').textContent()).toBe('red words')
      const text = (await page.locator('.list').textContent()) ?? ''
      expect(text).toContain('before \ufffd after')
      expect(text).toContain('⟨U+202E⟩')
      expect(text).not.toContain('\u001b')
      expect(text).toContain('javascript:globalThis.harmed=1')
      expect(text.length).toBeLessThan(40_000)
      // Links and images that would do something are text.
      const harmfulParts = await page
        .locator('.list')
        .evaluate((list) => list.querySelectorAll('script, iframe, [onerror], a[href^="javascript"], img').length)
      expect(harmfulParts).toBe(0)
      await page.getByRole('button', { name: /Open all 5\.\d MB/ }).click()
      const lines = page.getByRole('region', { name: /whole/ })
      await lines.getByText('start of it').waitFor()
      await lines.evaluate((element) => (element.scrollTop = element.scrollHeight))
      await lines.getByText('end of it').waitFor()
      expect(await lines.locator('.line').count()).toBeLessThan(100)
      expect(await page.evaluate(() => (globalThis as { harmed?: number }).harmed)).toBeUndefined()
      const slow = await page.evaluate(() =>
        Math.max(0, ...(globalThis as unknown as { longTasks: number[] }).longTasks),
      )
      expect(slow, 'the longest task, in milliseconds').toBeLessThan(1_000)
      await runner.stop()
    },
  )

  it('says of each message its tick, its tokens and its step, and a click on the tick goes there', async () => {
    const { runner, world } = await talking(looksAtAll, 'Look at **everything**.')
    await runner.idle()
    await using view = await opened(runner, 'view=conversation')
    const { page } = view
    const answer = page.getByRole('article').last()
    await answer.getByText('400 in').waitFor()
    expect(await answer.locator('header').textContent()).toMatch(/step 2.*400 in.*75 % cached.*20 out/)
    await page
      .getByRole('article')
      .first()
      .getByText(/\d+ tokens/)
      .waitFor()
    const called = page.getByRole('article').nth(1)
    const tick = Number((await called.locator('header .tick-link').textContent())?.replaceAll(/\D/g, ''))
    expect(tick).toBeLessThan(world.tick)
    await called.locator('header .tick-link').click()
    await page.waitForFunction(`location.hash.includes('tick=${tick}')`)
    // At that tick, the calls had no result yet.
    await page.getByText('is to be run').first().or(page.getByText('runs').first()).waitFor()
    await runner.stop()
  })

  it('grows while its model writes, and stands as it is once the message is there', async () => {
    const open = Promise.withResolvers<(text: string) => void>()
    const done = Promise.withResolvers<void>()
    let said = ''
    const writing: ModelProvider = {
      call: async (_, { onDelta }) => {
        open.resolve((text) => {
          said += text
          onDelta({ type: 'text', text })
        })
        await done.promise
        return {
          ok: true,
          value: { message: { role: 'assistant', content: [{ type: 'text', text: said }] }, stop: 'end', usage: {} },
        }
      },
    }
    const { runner, speaker } = await talking(writing, [])
    await using view = await opened(runner, 'view=conversation')
    const { page } = view
    await page.getByText('Nothing was said yet').waitFor()
    await runner.message(speaker, 'Tell me.')
    await page.getByText('its model is asked').waitFor()
    const write = await open.promise
    write('It begins **boldly**')
    const streamed = page.locator('.is-streaming')
    await streamed.getByText('It begins boldly').waitFor()
    write(', and goes on')
    await streamed.getByText('It begins boldly, and goes on').waitFor()
    done.resolve()
    await streamed.waitFor({ state: 'detached' })
    const last = page.getByRole('article').last()
    await last.getByText('It begins boldly, and goes on').waitFor()
    expect(await last.locator('.is-streaming').count()).toBe(0)
    await runner.idle()
    await runner.stop()
  })

  it(
    'marks what is archived and what is compacted, and opens both from the transcript',
    { timeout: 60_000 },
    async () => {
      const store = memoryStore()
      const made = archiving({
        runner: { store, record: true },
        parts: configured(readConfig({})),
        // Without tools it is asked for a summary.
        work: (request, context) => (request.tools.length === 0 ? 'It was looked at.' : looking(5)(request, context)),
      })
      await made.runner.start()
      await made.say('Look at the first thing.')
      await made.say('Look at the second thing.')
      await using view = await opened(made.runner, 'view=conversation')
      const { page } = view
      const archived = page.locator('.mark[data-kind=archived]')
      await archived
        .first()
        .getByText(/\d+ messages of this turn are archived/)
        .waitFor()
      expect(await archived.count()).toBe(2)
      await archived.first().getByText('In the transcript').click()
      await archived.first().getByText('Seen: place 3').waitFor()
      await made.runner.compact(made.agent)
      await made.runner.idle()
      const compacted = page.locator('.mark[data-kind=compacted]')
      await compacted.getByText(/messages above are replaced by a summary/).waitFor()
      await page.getByText('not sent any more').first().waitFor()
      await compacted.getByText('In the transcript').click()
      await compacted.getByText('Look at the second thing.').first().waitFor()
      await made.runner.stop()
    },
  )

  it('of eight thousand messages has few of them in the page, ends at its newest, and scrolls to its first', async () => {
    const before = Array.from({ length: 4_000 }, (_, index) => [
      user(`Question ${index}`),
      assistant(`Answer ${index}. ${'More of it. '.repeat(index % 40)}`),
    ])
    const { runner } = await talking(
      scripted(() => 'The very last answer.'),
      [...before.flat(), user('And now?')],
    )
    await runner.idle()
    await using view = await opened(runner, 'view=conversation')
    const { page } = view
    await page.getByText('The very last answer.').waitFor()
    const list = page.getByRole('feed', { name: 'Messages' })
    const below = await list.evaluate(
      ({ clientHeight, scrollHeight, scrollTop }) => scrollHeight - clientHeight - scrollTop,
    )
    expect(below).toBeLessThan(2)
    const answer = await page.getByText('The very last answer.').boundingBox()
    expect((answer?.y ?? Infinity) + (answer?.height ?? 0)).toBeLessThan(800)
    expect(await page.getByRole('article').count()).toBeLessThan(80)
    await list.focus()
    await page.keyboard.press('Home')
    await page.getByText('Question 0', { exact: true }).waitFor()
    await page.getByRole('searchbox', { name: 'Find in this conversation' }).fill('question 2718')
    await page.getByText('1 found').waitFor()
    await page.getByText('Question 2718').waitFor()
    await runner.stop()
  })

  it('has nothing serious for axe, in light and dark, wide and narrow', { timeout: 60_000 }, async () => {
    const { runner } = await talking(looksAtAll, 'Look at **everything**.')
    await runner.idle()
    for (const options of [{ width: 1_400 }, { width: 400, isDark: true }]) {
      await using view = await opened(runner, 'view=conversation', options)
      await view.page.getByText('raw</a>').first().waitFor()
      for (const call of await view.page.locator('.tool-call > summary').all()) await call.click()
      await expectAccessible(view.page)
    }
    await runner.stop()
  })
})
