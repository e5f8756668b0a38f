import { afterAll, describe, expect, it } from 'vitest'
import { inspect, StoreSource } from '../../../src/inspector/index.ts'
import { World, agent, defineTool, memoryStore, Runner, scripted, standardSystems } from '../../../src/index.ts'
import * as components from '../../../components/index.ts'
import { openSnapshot } from '../../../src/engine/loop/stored-ticks.ts'
import { z } from 'zod'
import { closeBrowser, openPage } from './browser.ts'
import { expectAddress, expectShown } from './shown.ts'

afterAll(closeBrowser)

const look = defineTool({
  name: 'look',
  description: 'Looks.',
  input: z.object({ at: z.string() }),
  restart: 'pure',
  run: ({ at }) => `${at} is there`,
})

/** An agent that calls a tool in each step, so many times. */
function worker(name: string, steps: number): World {
  const world = new World({ name, seed: 3, systems: standardSystems() })
  world.spawn(
    ...agent({
      model: 'script/x',
      tools: [look],
      messages: 'Look around.',
      maxSteps: steps + 2,
      maxToolCalls: steps + 2,
    }),
  )
  return world
}

const script = (steps: number) =>
  scripted((request) => {
    const seen = request.messages.length
    return seen >= 2 * steps ? 'All seen.' : { toolCalls: [{ name: 'look', arguments: { at: `place ${seen}` } }] }
  })

describe('the inspector', () => {
  it('shows the worlds of a living Runner and what they do', { timeout: 60_000 }, async () => {
    const runner = new Runner(worker('scout', 3), {
      models: { script: script(3) },
      tools: [look],
      store: memoryStore(),
      record: true,
    })
    await runner.start()
    await runner.idle()
    const served = await inspect(runner)
    {
      await using opened = await openPage(served.url)
      const { page } = opened
      const row = page.getByRole('row', { name: /scout.*done.*has answered/ })
      await row.waitFor()
      expect(await page.getByRole('treegrid', { name: 'Worlds' }).getByRole('row').count()).toBe(2)
    }
    await served.close()
    await runner.stop()
  })

  it('of no world says so in every view, and opens the first that appears', async () => {
    const store = memoryStore()
    const served = await inspect(new StoreSource({ store, title: 'the desk' }))
    {
      await using opened = await openPage(served.url)
      const { page } = opened
      const links = page.getByRole('navigation', { name: 'Views' }).getByRole('link')
      await links.first().waitFor()
      for (const view of await links.all()) {
        await view.click()
        await expectShown(page.locator('main .notice strong'))
        expect(await page.locator('main .spinner').count(), await view.innerText()).toBe(0)
      }
      await links.first().click()
      const runner = new Runner(worker('scout', 3), { models: { script: script(3) }, tools: [look], store })
      await runner.start()
      await runner.idle()
      await page.getByRole('row', { name: /scout.*done/ }).waitFor()
      await expectAddress(page, 'world=scout')
      await runner.stop()
    }
    await served.close()
  })

  it('of a world that is not there says so, and waits for nothing', async () => {
    const served = await inspect(new Runner(worker('scout', 3), { models: { script: script(3) }, tools: [look] }))
    {
      await using opened = await openPage(served.url.replace('#', '#world=gone&view=money&'), { isRefused: true })
      await expectShown(opened.page.getByText("There is no world 'gone' in scout."))
      expect(await opened.page.locator('main .spinner').count()).toBe(0)
    }
    await served.close()
  })

  it('goes to a tick of a recorded run as World.restore does, and back by one delta', { timeout: 60_000 }, async () => {
    const store = memoryStore()
    const runner = new Runner(worker('long', 1_000), {
      models: { script: script(1_000) },
      tools: [look],
      store,
      record: true,
    })
    await runner.start()
    await runner.idle()
    expect(runner.world.tick).toBeGreaterThan(2_000)
    const served = await inspect(runner)
    {
      await using opened = await openPage(served.url.replace('#', '#world=long&tick=1234&view=world&'))
      const { asked, page } = opened
      await page.getByRole('heading', { name: 'Tick 1234' }).waitFor()
      const before = asked.length
      for (const tick of [1_234, 1_233, 1_234, 1_500, 1_000]) {
        await page.getByRole('textbox', { name: 'Tick' }).fill(String(tick))
        await page.getByRole('textbox', { name: 'Tick' }).press('Enter')
        await page.getByRole('heading', { name: `Tick ${tick}` }).waitFor()
        const hash = await page.evaluate(() => (globalThis as { entia?: { hash(): string } }).entia?.hash())
        expect(hash, `tick ${tick}`).toBe(await hashAt(tick))
      }
      expect(asked.slice(before).filter((each) => each.startsWith('ticks'))).toEqual([])
    }
    await served.close()
    await runner.stop()

    async function hashAt(tick: number): Promise<string> {
      const stored = await store.read('long', { to: tick, from: tick })
      const { codec, lines } = openSnapshot(stored!)
      const deltas = stored!.rows.map((row) => codec.decode(row.line, 'row').delta)
      return World.restore(lines, { components, deltas }).hash()
    }
  })
})
