import { afterAll, describe, expect, it } from 'vitest'
import { agent, memoryStore, Runner, scripted, standardSystems, World } from '../../../src/index.ts'
import { inspect } from '../../../src/inspector/index.ts'
import { closeBrowser, openPage, shownHash } from './browser.ts'
import { cuttable } from './cuttable.ts'
import { mainJob } from './main-job.ts'

afterAll(closeBrowser)

describe('the page of the main job', { timeout: 30_000 }, () => {
  it('shows lead and sessions as they come and go and what a model streams, and changes nothing of the run', async () => {
    const job = await mainJob()
    const served = await inspect(job.runner)
    await job.runner.start()
    {
      await using opened = await openPage(served.url)
      const { page } = opened
      await page.evaluate(() => Object.assign(globalThis, { isSamePage: true }))
      await job.reached('first call')
      const lead = page.getByRole('row', { name: /ask-1/ })
      await page.getByRole('row', { name: /ask-1.*thinking.*asks its model/ }).waitFor()
      expect(await page.getByRole('treegrid', { name: 'Worlds' }).getByRole('row').count()).toBe(2)
      job.goOn('first call')

      await job.reached('some words')
      const some = textSoFar(job.runner)
      await lead.getByText(some.slice(-40)).waitFor()
      await page
        .getByRole('row', { name: /researcher/ })
        .first()
        .waitFor()
      job.goOn('some words')
      await job.reached('more words')
      const more = textSoFar(job.runner)
      await lead.getByText(more.slice(-40)).waitFor()
      expect(more.length).toBeGreaterThan(some.length)
      job.goOn('more words')
      await job.runner.idle()
      await page.getByRole('row', { name: /ask-1.*done.*has answered/ }).waitFor()
      for (const session of await page.getByRole('row', { name: /researcher/ }).all())
        expect(await session.textContent()).toMatch(/succeeded/)
      expect(await page.evaluate(() => (globalThis as { isSamePage?: boolean }).isSamePage)).toBe(true)
      const hash = job.runner.world.hash()
      await expect.poll(() => shownHash(page)).toBe(hash)
    }
    const hash = job.runner.world.hash()
    await served.close()
    await job.runner.stop()

    const alone = await mainJob()
    for (const place of ['first call', 'some words', 'more words'] as const) alone.goOn(place)
    await alone.runner.start()
    await alone.runner.idle()
    expect(hash).toBe(alone.runner.world.hash())
    await alone.runner.stop()
  })

  it('that is opened in the midst of an answer has its beginning too', async () => {
    const job = await mainJob()
    await job.runner.start()
    job.goOn('first call')
    await job.reached('some words')
    const served = await inspect(job.runner)
    {
      await using opened = await openPage(served.url)
      const so = textSoFar(job.runner)
      expect(so.split(/\s+/).length).toBeGreaterThan(8)
      await opened.page.getByRole('row', { name: /ask-1/ }).getByText(so.slice(-40)).waitFor()
    }
    for (const place of ['some words', 'more words'] as const) job.goOn(place)
    await job.runner.idle()
    await served.close()
    await job.runner.stop()
  })
})

function textSoFar(runner: Runner): string {
  const [lead] = runner.world.entities().flatMap((entity) => runner.textSoFar(entity) ?? [])
  return lead?.text ?? ''
}

describe('a page whose connection is cut', { timeout: 30_000 }, () => {
  it('says so, keeps what it shows, catches up by itself and misses no tick', async () => {
    const world = new World({ name: 'steady', seed: 2, systems: standardSystems() })
    const talker = world.spawn(...agent({ model: 'script/x' }))
    const models = { script: scripted(({ messages }) => `Answer ${messages.length}.`) }
    const runner = new Runner(world, { models, store: memoryStore(), record: true })
    const hashes = new Map<number, string>()
    const talk = async (): Promise<void> => {
      await runner.message(talker, `message ${world.tick}`)
      await runner.idle()
      hashes.set(world.tick, world.hash())
    }
    await runner.start()
    await talk()
    const served = await inspect(runner)
    {
      await using line = await cuttable(served.url)
      await using opened = await openPage(line.url.replace('#', '#view=world&'), { maySayOfCuts: true })
      const { asked, page } = opened
      await page.getByRole('heading', { name: `Tick ${world.tick}` }).waitFor()
      await page.getByRole('button', { name: 'live' }).waitFor()
      const typed = page.getByRole('textbox', { name: 'Tick' })
      await typed.fill('2')
      await talk()
      await page.getByRole('heading', { name: `Tick ${world.tick}` }).waitFor()
      expect(await typed.inputValue(), 'what is typed stays while ticks come').toBe('2')
      await typed.press('Escape')
      const cutAt = world.tick
      line.cut()
      await page.getByText('The connection is cut').waitFor()
      await page.getByRole('button', { name: 'cut' }).waitFor()
      await page.getByRole('heading', { name: `Tick ${cutAt}` }).waitFor()
      for (let index = 0; index < 30; index++) await talk()
      line.mend()
      await page.getByRole('heading', { name: `Tick ${world.tick}` }).waitFor()
      await page.getByRole('button', { name: 'live' }).waitFor()
      expect(await page.getByText('The connection is cut').count()).toBe(0)
      const before = asked.length
      for (const tick of [...hashes.keys()].filter((each) => each >= cutAt).toReversed()) {
        await page.getByRole('textbox', { name: 'Tick' }).fill(String(tick))
        await page.getByRole('textbox', { name: 'Tick' }).press('Enter')
        await page.getByRole('heading', { name: `Tick ${tick}`, exact: true }).waitFor()
        expect(await shownHash(page), `tick ${tick}`).toBe(hashes.get(tick))
      }
      expect(asked.slice(before).filter((each) => each.startsWith('ticks'))).toEqual([])
    }
    await served.close()
    await runner.stop()
  })
})
