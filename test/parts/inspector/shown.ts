import type { Locator, Page } from 'playwright-core'
import { expect } from 'vitest'

/** It is in the page, or appears there soon. */
export async function expectShown(locator: Locator): Promise<void> {
  await locator.waitFor()
  expect(await locator.isVisible()).toBe(true)
}

/** The address of the page has this in it, or soon does. */
export async function expectAddress(page: Page, wanted: string | RegExp): Promise<void> {
  const matching = typeof wanted === 'string' ? expect.stringContaining(wanted) : expect.stringMatching(wanted)
  await expect.poll(() => page.url(), { timeout: 15_000 }).toEqual(matching)
}

/** An element has this text, or soon does. */
export async function expectText(locator: Locator, wanted: RegExp): Promise<void> {
  await expect.poll(() => locator.innerText(), { timeout: 15_000 }).toMatch(wanted)
}
