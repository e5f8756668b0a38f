import { afterAll, describe, expect, it } from 'vitest'
import { memoryStore } from '../../../src/index.ts'
import { inspect } from '../../../src/inspector/index.ts'
import { RunSource } from '../../../src/inspector/run-source.ts'
import type { SavedWorld } from '../../../src/engine/recording/recording.ts'
import { closeBrowser, openPage } from './browser.ts'
import { expectAddress, expectShown, expectText } from './shown.ts'
import { deepTeam } from './deep-team.ts'
import { savedRun } from './saved-runs.ts'

afterAll(closeBrowser)

const at = (url: string, more = '') => url.replace('#', `#view=timeline&${more}`)

describe('the timeline', () => {
  it('goes from bar to bar by the keyboard, and to the tick of one', async () => {
    const [root, first] = (await savedRun({ sessions: 1 })) as readonly [SavedWorld, SavedWorld]
    const served = await inspect(new RunSource({ title: 'run', worlds: [root, first] }))
    {
      await using opened = await openPage(at(served.url))
      const { page } = opened
      await expectShown(page.getByText('Search area 1.'))
      const bars = page.getByRole('application', { name: /^Bars of all worlds/ })
      const status = page.getByRole('status').filter({ hasText: 'tick' })
      await bars.focus()
      await page.keyboard.press('ArrowRight')
      await expectText(status, /^search: Model call x, .* tick 1$/)
      await page.keyboard.press('ArrowDown')
      await expectText(status, /^scout: Model call x/)
      await page.keyboard.press('ArrowRight')
      await expectText(status, /^scout: Tool call look, .* tick (\d+)$/)
      await page.keyboard.press('End')
      await page.keyboard.press('Home')
      await page.keyboard.press('ArrowRight')
      await page.keyboard.press('Enter')
      const tick = Number(/tick (\d+)$/.exec(await status.innerText())?.[1])
      await expectAddress(page, `world=${first.name}&tick=${tick}&`)
      await expectShown(page.getByRole('complementary', { name: 'Chosen bar' }).getByText('Tool call of scout'))
    }
    await served.close()
  })

  it('goes to the tick of a bar, and of an empty place, that is clicked', async () => {
    const worlds = await savedRun()
    const served = await inspect(new RunSource({ title: 'run', worlds }))
    {
      await using opened = await openPage(at(served.url))
      const { page } = opened
      await expectShown(page.getByText('Search area 1.'))
      const box = await page.locator('.chart-lanes canvas').boundingBox()
      const body = await page.locator('.chart-body').boundingBox()
      // The first bar of the root is the lead's first model call, which begins with the run.
      await page.mouse.click(box!.x + box!.width * 0.022, body!.y + 14)
      await expectAddress(page, 'world=search&tick=1&')
      await page.mouse.click(box!.x + box!.width * 0.999, body!.y + 14)
      const newest = worlds[0]?.rows.at(-1)?.tick
      await expectAddress(page, `world=search&tick=${newest}&`)
    }
    await served.close()
  })

  it('zooms and pans, and a link shows the same stretch', async () => {
    const served = await inspect(new RunSource({ title: 'run', worlds: await savedRun() }))
    {
      await using opened = await openPage(at(served.url))
      const { page } = opened
      await expectShown(page.getByText('Search area 1.'))
      await page.getByRole('application').focus()
      await page.keyboard.press('+')
      await page.keyboard.press('+')
      await expectAddress(page, /&q=-?[\d.]+%7E[\d.]+/)
      const before = page.url()
      await page.keyboard.press('Shift+ArrowRight')
      await expect.poll(() => page.url()).not.toBe(before)
      const labels = await page.locator('.axis-lane').innerText()
      await using other = await openPage(page.url())
      await other.page.getByText('Search area 1.').waitFor()
      expect(await other.page.locator('.axis-lane').innerText()).toBe(labels)
      await page.getByRole('button', { name: 'Show all' }).click()
      await expect.poll(() => page.url()).not.toContain('&q=')
    }
    await served.close()
  })

  it('grows while worlds run, without a reload', async () => {
    const team = await deepTeam({ store: memoryStore() })
    const served = await inspect(team.runner, { actions: true })
    {
      await using opened = await openPage(at(served.url))
      const { page } = opened
      for (const name of ['manager', 'foreman', 'builder']) await expectShown(page.getByText(`Deploy, ${name}.`))
      const bars = page.getByRole('application')
      const status = page.getByRole('status').filter({ hasText: 'tick' })
      await bars.focus()
      for (const _ of ['manager', 'foreman', 'builder']) await page.keyboard.press('ArrowDown')
      await page.keyboard.press('End')
      await expectText(status, /^builder: Approval may deploy run\?, goes on/)
      const { questions } = await inboxOf(served.url)
      await team.runner.post({ kind: 'answer', approval: questions[0]!.approval, approved: false, reason: 'No.' })
      await team.runner.idle()
      await expectText(status, /^builder: Approval may deploy run\?, .*, failed/)
    }
    await served.close()
    await team.runner.stop()
  })

  it('of a million ticks reads those of the rows that are seen, and of others when they are scrolled to', async () => {
    const [root, first] = (await savedRun({ sessions: 1, steps: 500 })) as readonly [SavedWorld, SavedWorld]
    const copies = Array.from({ length: 999 }, (_, index) => ({ ...first, name: `session-${index}` }))
    const read = new Map<string, number>()
    class CountingSource extends RunSource {
      override async read(world: string, range?: { readonly from?: number; readonly to?: number }) {
        const stored = await super.read(world, range)
        this.#count(world, stored?.rows)
        return stored
      }

      override async rows(world: string, after: number, to?: number) {
        const rows = await super.rows(world, after, to)
        this.#count(world, rows)
        return rows
      }

      #count(world: string, rows: readonly unknown[] = []) {
        read.set(world, (read.get(world) ?? 0) + rows.length)
      }
    }
    expect(first.rows.length).toBeGreaterThan(1_000)
    const served = await inspect(new CountingSource({ title: 'many', worlds: [root, ...copies] }))
    {
      await using opened = await openPage(at(served.url))
      const { asked, page } = opened
      await expectShown(page.getByText('1,000 worlds'))
      const timeline = page.getByRole('region', { name: 'Timeline' })
      const known = async () => Number(await timeline.getAttribute('data-read'))
      const seen = await page.locator('.chart-name').count()
      expect(seen).toBeLessThan(80)
      await expect.poll(known, { timeout: 30_000 }).toBeGreaterThanOrEqual(seen)
      await page.waitForLoadState('networkidle')
      expect(await known()).toBeLessThan(100)
      const rowsRead = [...read.values()].reduce((sum, count) => sum + count, 0)
      expect(rowsRead).toBeLessThan(60_000)
      // Of the root, its bars come before all others, since they say in which order those are.
      expect(asked.filter((each) => each === 'spans').length).toBeGreaterThan(1)
      expect([...read.keys()][0]).toBe('search')
      expect(read.has('session-998')).toBe(false)
      await page.locator('.chart-body').evaluate((body) => body.scrollTo(0, 1e6))
      await expect.poll(() => read.has('session-998'), { timeout: 30_000 }).toBe(true)
    }
    await served.close()
  })

  it('stays smooth with 1,000 worlds and 100,000 bars', { timeout: 300_000 }, async () => {
    const [root, first] = (await savedRun({ sessions: 1, steps: 50 })) as readonly [SavedWorld, SavedWorld]
    const copies = Array.from({ length: 999 }, (_, index) => ({ ...first, name: `session-${index}` }))
    const served = await inspect(new RunSource({ title: 'many', worlds: [root, ...copies] }))
    {
      await using opened = await openPage(at(served.url), { width: 1_400, height: 900 })
      const { page } = opened
      await expectShown(page.getByText('1,000 worlds'))
      const read = () => page.getByRole('region', { name: 'Timeline' }).getAttribute('data-read')
      await expect.poll(read, { timeout: 240_000 }).toBe('1000')
      const browser = page.context().browser()!
      await browser.startTracing(page, { categories: ['toplevel', 'devtools.timeline'] })
      await page.mouse.move(900, 500)
      for (let step = 0; step < 80; step++) await page.mouse.wheel(0, 120)
      await page.getByRole('application').focus()
      for (const key of ['+', '+', '+', 'Shift+ArrowRight', 'Shift+ArrowRight', '-', 'Shift+ArrowLeft', '+', '-', '-'])
        await page.keyboard.press(key)
      const trace = JSON.parse((await browser.stopTracing()).toString()) as {
        readonly traceEvents: readonly TraceEvent[]
      }
      const tasks = mainThreadTasks(trace.traceEvents)
      expect(tasks.length).toBeGreaterThan(100)
      // Time on the processor: how long others kept it from that is not the page's doing.
      expect(Math.max(...tasks.map(({ tdur = 0 }) => tdur / 1_000))).toBeLessThan(50)
    }
    await served.close()
  })
})

interface TraceEvent {
  readonly name: string
  readonly pid: number
  readonly tid: number
  /** Microseconds on the processor. */
  readonly tdur?: number
  readonly args?: { readonly name?: string }
}

function mainThreadTasks(events: readonly TraceEvent[]): readonly TraceEvent[] {
  const mains = events.filter(({ args, name }) => name === 'thread_name' && args?.name === 'CrRendererMain')
  return events.filter(
    ({ name, pid, tid }) => name.endsWith('RunTask') && mains.some((main) => main.pid === pid && main.tid === tid),
  )
}

async function inboxOf(url: string): Promise<{ readonly questions: readonly { readonly approval: string }[] }> {
  const { hash, origin } = new URL(url)
  const token = new URLSearchParams(hash.slice(1)).get('token')
  const response = await fetch(`${origin}/api/inbox`, { headers: { Authorization: `Bearer ${token}` } })
  return (await response.json()) as never
}
