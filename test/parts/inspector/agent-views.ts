import type { Page } from 'playwright-core'
import axe from 'axe-core'
import { expect } from 'vitest'
import { inspect, type InspectorPage, type Source } from '../../../src/inspector/index.ts'
import type { Runner } from '../../../src/index.ts'
import { type OpenPage, openPage, type PageOptions } from './browser.ts'

export interface Served extends AsyncDisposable {
  readonly page: Page
  readonly asked: OpenPage['asked']
  readonly served: InspectorPage
}

/** A view of a world in a real browser. */
export async function opened(of: Runner | Source, place: string, options?: PageOptions): Promise<Served> {
  const served = await inspect(of)
  const open = await openPage(served.url.replace('#', `#${place}&`), options)
  return {
    page: open.page,
    asked: open.asked,
    served,
    [Symbol.asyncDispose]: async () => {
      await open[Symbol.asyncDispose]()
      await served.close()
    },
  }
}

/** What axe finds that is serious or worse. */
export async function expectAccessible(page: Page): Promise<void> {
  // The page's own policy lets no script in; what a test brings along comes by another way.
  await page.evaluate(axe.source)
  const found = await page.evaluate(async () => {
    const { violations } = await (globalThis as unknown as { axe: { run(): Promise<AxeResults> } }).axe.run()
    return (
      violations
        .filter(({ impact }) => impact === 'serious' || impact === 'critical')
        // The rows of a table are its focus; that is of the table, not of a view.
        .map(({ id, nodes }) => ({
          id,
          nodes: nodes.filter(({ html }) => !html.startsWith('<div class="table-body"')),
        }))
        .filter(({ nodes }) => nodes.length > 0)
        .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(' | ')}`)
    )
  })
  expect(found).toEqual([])
}

interface AxeResults {
  readonly violations: readonly {
    readonly id: string
    readonly impact?: string | null
    readonly nodes: readonly { readonly html: string }[]
  }[]
}

/** What is in the clipboard after a click. */
export async function copied(page: Page, button: string): Promise<string> {
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await page.getByRole('button', { name: button, exact: true }).click()
  await page.getByText(`${button} is copied`).waitFor()
  return page.evaluate<string>('navigator.clipboard.readText()')
}
