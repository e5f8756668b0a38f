import axe from 'axe-core'
import { afterAll, describe, expect, it } from 'vitest'
import { memoryStore } from '../../../src/index.ts'
import { inspect } from '../../../src/inspector/index.ts'
import type { Page } from 'playwright-core'
import { closeBrowser, openPage } from './browser.ts'
import { deepTeam } from './deep-team.ts'
import { brokenRun } from './saved-runs.ts'

afterAll(closeBrowser)

interface Found {
  readonly id: string
  readonly impact: string
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[]
}

/** What axe finds serious in a view, once something stands in it. */
async function problemsOf(page: Page, view: string, text: RegExp): Promise<readonly string[]> {
  const { hash } = new URL(page.url())
  await page.goto(
    page.url().replace(hash, hash.replace(/(?<=[#&])(?:view|q)=[^&]*&/g, '').replace('#', `#view=${view}&`)),
  )
  await page.getByRole('main').getByText(text).first().waitFor()
  // Its text runs in the page's world without being a script of the page.
  await page.evaluate(axe.source)
  const { violations } = await page.evaluate<{ readonly violations: readonly Found[] }>('axe.run()')
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) =>
      nodes.map(({ failureSummary, html }) => `${view}: ${id}: ${html.slice(0, 160)} ${failureSummary}`),
    )
}

describe('the views of many worlds', () => {
  it(
    'have nothing in them that axe finds serious, in light and dark, wide and narrow',
    { timeout: 120_000 },
    async () => {
      const team = await deepTeam({ store: memoryStore() })
      const living = await inspect(team.runner, { actions: true })
      const saved = await inspect(await brokenRun())
      const found: string[] = []
      for (const isDark of [false, true]) {
        const options = { isDark, width: isDark ? 400 : 1280 }
        await using ofLiving = await openPage(living.url, options)
        found.push(...(await problemsOf(ofLiving.page, 'timeline', /Deploy, builder/)))
        found.push(...(await problemsOf(ofLiving.page, 'inbox', /production 1/)))
        found.push(...(await problemsOf(ofLiving.page, 'waits', /a person, about deploy/)))
        await using ofSaved = await openPage(saved.url, options)
        found.push(...(await problemsOf(ofSaved.page, 'laws', /has 2 results/)))
        found.push(...(await problemsOf(ofSaved.page, 'laws&q=compare', /Nothing is compared yet/)))
      }
      expect(found).toEqual([])
      await living.close()
      await saved.close()
      await team.runner.stop()
    },
  )
})
