import { afterAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { agent, defineComponent, memoryStore, Runner, scripted, standardSystems, World } from '../../../src/index.ts'
import { inspect, StoreSource } from '../../../src/inspector/index.ts'
import { closeBrowser, openPage, viewsOf } from './browser.ts'

afterAll(closeBrowser)

/** Names that are harmful as markup, as an address, as a key of an object, or to read. */
const names = [
  '<img src=x onerror="globalThis.isHacked = 1">',
  '"><script>globalThis.isHacked = 1</script>',
  'javascript:globalThis.isHacked=1',
  '__proto__',
  'constructor',
  'toString',
  'a/b?c=d&e#f%g+h',
  '..',
  '\u202ebackwards',
  '\u001b[31mred\u001b[0m',
  `long ${'x'.repeat(400)}`,
]

const Deep = defineComponent('Deep', z.json())

/** JSON of a hundred levels, whose keys are harmful too. */
function deep(): z.infer<ReturnType<typeof z.json>> {
  let value: z.infer<ReturnType<typeof z.json>> = 'the bottom'
  for (let level = 0; level < 100; level++) value = level % 2 === 0 ? [value] : { '<b onmouseover=isHacked=1>': value }
  return value
}

describe('worlds of any name', { timeout: 120_000 }, () => {
  it('are listed, known apart and shown in every view, and none of them does anything', async () => {
    const store = memoryStore()
    const made: string[] = []
    for (const name of names) {
      let world: World
      try {
        world = new World({ name, seed: 4, systems: standardSystems(), components: [Deep] })
      } catch {
        // What is refused has no need to be shown.
        continue
      }
      world.spawn(...agent({ model: 'script/<i>model</i>', messages: `I am of ${made.length}` }), Deep(deep()))
      const runner = new Runner(world, { models: { script: scripted(() => 'Yes.') }, store, record: true })
      await runner.start()
      await runner.idle()
      await runner.stop()
      made.push(name)
    }
    expect(made.length).toBeGreaterThan(8)
    const served = await inspect(new StoreSource({ store, title: '<b>store</b>' }))
    const views = await viewsOf(served.url)
    const addressOf = (world: string, view: string) =>
      served.url.replace('#', `#${new URLSearchParams({ world, view, entity: '1' }).toString()}&`)
    {
      await using opened = await openPage(served.url)
      const { asked, page } = opened
      await expect.poll(() => page.getByText('has answered').count()).toBe(made.length)
      const counts: number[] = []
      for (const [index, name] of made.entries()) {
        await page.goto(addressOf(name, 'conversation'))
        await page.getByText(`I am of ${index}`, { exact: true }).waitFor()
        counts.push(asked.filter((each) => each === 'summaries').length)
      }
      // The first world that is opened may have them asked for once more.
      expect(new Set(counts).size, 'what is known is not asked for').toBe(1)
      for (const view of views) {
        for (const name of [made[0]!, made.at(-1)!, 'constructor', '__proto__']) {
          if (!made.includes(name)) continue
          await page.goto(addressOf(name, view))
          await page.locator('main .view, main .notice:not(.is-loading)').first().waitFor()
          const state = await page.evaluate(() => ({
            isHacked: 'isHacked' in globalThis || 'isHacked' in {},
            strange: document.querySelectorAll('main img, iframe, main script, a[href^=javascript], b[onmouseover]')
              .length,
            over: document.documentElement.scrollWidth - innerWidth,
            alerts: [...document.querySelectorAll('[role=alert]')].map(({ textContent }) => textContent),
          }))
          expect({ view, name, ...state }).toEqual({ view, name, isHacked: false, strange: 0, over: 0, alerts: [] })
        }
      }
      await page.goto(addressOf(made[0]!, 'world'))
      const closed = page.locator('section.component', { hasText: 'Deep' }).locator('details:not([open]) > summary')
      await closed.first().waitFor()
      for (let level = 0; level < 110 && (await closed.count()) > 0; level++) {
        await closed.first().evaluate((summary) => (summary as HTMLElement).click())
        await page.evaluate('new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))')
      }
      await page.getByText('the bottom').waitFor()
      expect(await page.evaluate('"isHacked" in globalThis')).toBe(false)
    }
    await served.close()
  })
})
