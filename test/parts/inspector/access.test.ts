import { createRequire } from 'node:module'
import { readFile } from 'node:fs/promises'
import type { Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { inspect, type InspectorPage } from '../../../src/inspector/index.ts'
import { closeBrowser, openPage, viewsOf } from './browser.ts'
import { type MainJob, mainJob } from './main-job.ts'
import { expectText } from './shown.ts'

let job: MainJob
let served: InspectorPage
let views: readonly string[]
beforeAll(async () => {
  job = await mainJob()
  for (const place of ['first call', 'some words', 'more words'] as const) job.goOn(place)
  await job.runner.start()
  await job.runner.idle()
  served = await inspect(job.runner, { actions: true })
  views = await viewsOf(served.url)
}, 60_000)
afterAll(async () => {
  await served.close()
  await job.runner.stop()
  await closeBrowser()
})

const axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

interface Finding {
  readonly id: string
  readonly impact: string
  readonly where: readonly string[]
}

/** What axe finds that keeps people out. */
async function findings(page: Page): Promise<readonly Finding[]> {
  // Beside the page's policy, which takes no script but its own.
  const session = await page.context().newCDPSession(page)
  await session.send('Runtime.evaluate', { expression: axe })
  return page.evaluate(async () => {
    const { axe: look } = globalThis as unknown as {
      axe: { run(): Promise<{ violations: { id: string; impact: string; nodes: { target: unknown }[] }[] }> }
    }
    const { violations } = await look.run()
    return violations
      .filter(({ impact }) => impact === 'serious' || impact === 'critical')
      .map(({ id, impact, nodes }) => ({
        id,
        impact,
        where: nodes.map(({ target }) => JSON.stringify(target)).slice(0, 5),
      }))
  })
}

async function shown(page: Page): Promise<void> {
  await page.locator('main .view, main .notice:not(.is-loading)').first().waitFor()
  await expect.poll(() => page.locator('.page').getAttribute('data-busy')).toBe('false')
}

describe('every view', { timeout: 120_000 }, () => {
  it.each([
    ['light and wide', { width: 1280, isDark: false }],
    ['dark and wide', { width: 1280, isDark: true }],
    ['light and narrow', { width: 400, isDark: false }],
    ['dark and narrow', { width: 400, isDark: true }],
  ])('%s can be read by all: axe finds nothing serious, and nothing is wider than the page', async (_, size) => {
    expect(views.length).toBeGreaterThan(1)
    await using opened = await openPage(served.url, size)
    const { page } = opened
    for (const view of views) {
      // The other views show the agent that is entity 1 either way.
      for (const entity of view === 'world' ? [undefined, 1] : [undefined]) {
        const at = new URLSearchParams({ view, ...(entity !== undefined && { entity: String(entity) }) })
        await page.goto(served.url.replace('#', `#${at.toString()}&`))
        await shown(page)
        expect({ view, entity, found: await findings(page) }).toEqual({ view, entity, found: [] })
        const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
        expect({ view, entity, over }).toEqual({ view, entity, over: 0 })
      }
    }
  })

  it.each([['light and wide', { width: 1280, isDark: false }]])(
    '%s has the worlds, the menu and the dialogs above it in sight, and axe finds nothing in them',
    async (_, size) => {
      await using opened = await openPage(served.url.replace('#', '#view=world&'), { ...size, height: 800 })
      const { page } = opened
      await shown(page)
      const above = async (what: Locator, name: string): Promise<void> => {
        await what.waitFor()
        expect({ name, found: await findings(page) }).toEqual({ name, found: [] })
        const { height = Infinity, width = Infinity, x = -1, y = -1 } = (await what.boundingBox()) ?? {}
        expect({ name, isInSight: x >= 0 && y >= 0 && x + width <= size.width && y + height <= 800 }).toEqual({
          name,
          isInSight: true,
        })
      }
      await page.getByRole('button', { name: 'ask-1' }).click()
      await page.getByRole('dialog', { name: 'Worlds' }).getByText('researcher').first().waitFor()
      await above(page.getByRole('dialog', { name: 'Worlds' }), 'worlds')
      await page.keyboard.press('Escape')
      for (const item of ['Fork from tick', 'Post a message', 'Reset a ceiling', 'Cancel an agent']) {
        await page.getByRole('button', { name: 'Act' }).click()
        await above(page.getByRole('menu', { name: 'Act' }), 'menu')
        await page.getByRole('menuitem', { name: item }).click()
        await above(page.getByRole('dialog'), item)
        await page.keyboard.press('Escape')
        await page.getByRole('dialog').waitFor({ state: 'detached' })
      }
    },
  )

  it('has its name in sight on a narrow page that opens with it', async () => {
    await using opened = await openPage(served.url.replace('#', '#view=laws&'), { width: 400, height: 800 })
    const current = opened.page.getByRole('navigation', { name: 'Views' }).locator('[aria-current]')
    await expect
      .poll(async () => {
        const { width, x } = (await current.boundingBox()) ?? { width: 0, x: Infinity }
        return x + width
      })
      .toBeLessThanOrEqual(400)
  })

  it('has the columns that there is room for: what a session does on a tablet, and not on a phone', async () => {
    for (const [width, isThere] of [
      [1_280, true],
      [800, true],
      [400, false],
    ] as const) {
      await using opened = await openPage(served.url, { width })
      const { page } = opened
      await page.getByRole('row', { name: /ask-1.*done/ }).waitFor()
      expect({ width, isThere: await page.getByText('has answered').first().isVisible() }).toEqual({ width, isThere })
      // What a column says is not by its colour alone.
      await expectText(page.locator('.counts'), /^1 done\s+\d+ succeeded$/)
    }
  })

  it('goes nowhere by what is no tick: in the field of ticks, and in an address written by hand', async () => {
    const { tick } = job.runner.world
    await using opened = await openPage(served.url.replace('#', '#view=world&tick=&entity=&'))
    const { page } = opened
    await page.getByRole('heading', { name: `Tick ${tick}`, exact: true }).waitFor()
    const field = page.getByRole('textbox', { name: 'Tick' })
    for (const text of ['abc', '-3', '1e1', '', '2.5 or so']) {
      await field.fill(text)
      await field.press('Enter')
      expect(await field.inputValue()).toBe(String(tick))
    }
    await field.fill('1,0')
    await field.press('Enter')
    await page.getByRole('heading', { name: 'Tick 10', exact: true }).waitFor()
    for (const wrong of ['-1', '1e2', 'x', '99999999999999999999']) {
      await page.goto(served.url.replace('#', `#view=world&tick=${wrong}&entity=${wrong}&`))
      await page.getByRole('heading', { name: `Tick ${tick}`, exact: true }).waitFor()
    }
  })

  it('is reached by its key, and what it has by the keyboard alone', async () => {
    await using opened = await openPage(served.url)
    const { page } = opened
    const links = page.getByRole('navigation', { name: 'Views' }).getByRole('link')
    await links.first().waitFor()
    for (const [index, view] of views.entries()) {
      const key = /\((.)\)$/.exec((await links.nth(index).getAttribute('title')) ?? '')?.[1] ?? ''
      await page.keyboard.press(key)
      await expect.poll(() => new URLSearchParams(new URL(page.url()).hash.slice(1)).get('view')).toBe(view)
      await shown(page)
      expect({ view, unreached: await unreached(page) }).toEqual({ view, unreached: [] })
      await page.keyboard.press('Escape')
      await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur())
    }
  })

  it('goes to ticks and worlds by the keyboard', async () => {
    await using opened = await openPage(served.url.replace('#', '#view=world&'))
    const { page } = opened
    const { tick } = job.runner.world
    const atTick = (wanted: number) => page.getByRole('heading', { name: `Tick ${wanted}`, exact: true }).waitFor()
    await atTick(tick)
    await page.keyboard.press('ArrowLeft')
    await atTick(tick - 1)
    await page.keyboard.press('Shift+ArrowLeft')
    await atTick(0)
    await page.keyboard.press('ArrowRight')
    await atTick(1)
    await page.keyboard.press('l')
    await atTick(tick)
    await page.keyboard.press('/')
    await page.keyboard.type('Llm')
    await page.keyboard.press('Escape')
    await page.getByRole('grid', { name: 'Entities' }).focus()
    await page.keyboard.press('Home')
    await page.getByRole('heading', { name: /^Entity/ }).waitFor()
    await page.getByRole('button', { name: 'ask-1' }).focus()
    await page.keyboard.press('Enter')
    await page.getByRole('searchbox', { name: 'Find a world' }).waitFor()
    await page.keyboard.type('session')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: /^researcher / }).waitFor()
    expect(new URL(page.url()).hash).toContain('world=session-')
  })
})

const maxPressed = 300

/** Controls that are seen and that the tab key does not come to. Rows and what is in them are reached within their table. */
async function unreached(page: Page): Promise<readonly string[]> {
  await page.evaluate(() => {
    const controls = [
      ...document.querySelectorAll<HTMLElement>('button, a[href], input, select, textarea, summary, [tabindex]'),
    ]
    const wanted = controls.filter(
      // A table is one stop; its rows are gone to with arrows. Others that take no tab are parts of something that does.
      (each) =>
        (each.tabIndex >= 0 || each.matches('[role=grid], [role=treegrid]')) &&
        !each.matches(':disabled') &&
        each.checkVisibility() &&
        each.closest('[role=row]') === null,
    )
    for (const each of wanted) each.dataset['wanted'] = ''
  })
  // What is read meanwhile can be reached as well, and comes between.
  for (let pressed = 0, isLeft = true; isLeft && pressed < maxPressed; pressed++) {
    await page.keyboard.press('Tab')
    isLeft = await page.evaluate(() => {
      delete (document.activeElement as HTMLElement | null)?.dataset['wanted']
      return document.querySelector('[data-wanted]') !== null
    })
  }
  return page.evaluate(() =>
    [...document.querySelectorAll<HTMLElement>('[data-wanted]')].map((each) => {
      delete each.dataset['wanted']
      return each.outerHTML.slice(0, 120)
    }),
  )
}
