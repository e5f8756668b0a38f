import chromium from '@sparticuz/chromium'
import { type Browser, chromium as engine, type Page } from 'playwright-core'
import { expect } from 'vitest'

let launched: Promise<Browser> | undefined

/** A real browser without a screen, one for all pages of a file. */
async function browser(): Promise<Browser> {
  return (launched ??= (async () => {
    const executablePath = await chromium.executablePath()
    const quiet = ['--disable-background-networking', '--disable-component-update', '--no-first-run', '--no-sandbox']
    return engine.launch({ executablePath, headless: true, args: quiet })
  })())
}

/** Starts it, for who measures how long a page takes. */
export async function startBrowser(): Promise<void> {
  await browser()
}

export async function closeBrowser(): Promise<void> {
  await (await launched)?.close()
  launched = undefined
}

export interface PageOptions {
  readonly width?: number
  readonly height?: number
  readonly isDark?: boolean
  /** The browser may write of requests that failed: the test cuts the connection. */
  readonly maySayOfCuts?: boolean
  /** Requests are refused: the browser notes each in its console. */
  readonly isRefused?: boolean
}

export interface OpenPage extends AsyncDisposable {
  readonly page: Page
  /** Requests for data that it has made, in order: `ticks?world=…`. */
  readonly asked: readonly string[]
}

/** What a page in a file has asked for: itself. */
function withoutFragment(url: string): string {
  const end = url.indexOf('#')
  return end === -1 ? url : url.slice(0, end)
}

/** A page at an address. At its end: nothing was written to its console, and nothing was asked of another place. */
export async function openPage(
  url: string,
  { height = 800, isDark = false, isRefused = false, maySayOfCuts = false, width = 1280 }: PageOptions = {},
): Promise<OpenPage> {
  const context = await (
    await browser()
  ).newContext({
    viewport: { width, height },
    colorScheme: isDark ? 'dark' : 'light',
    reducedMotion: 'reduce',
  })
  const page = await context.newPage()
  const { origin } = new URL(url)
  const complaints: string[] = []
  const asked: string[] = []
  page.on('console', (message) => {
    if (maySayOfCuts && message.text().includes('net::ERR_')) return
    if (isRefused && message.text().startsWith('Failed to load resource')) return
    complaints.push(`${message.type()}: ${message.text()} (${message.location().url})`)
  })
  page.on('pageerror', (error) => complaints.push(`thrown: ${error.message}`))
  page.on('request', (request) => {
    const at = request.url()
    if (at.startsWith(`${origin}/api/`)) asked.push(at.slice(origin.length + 5))
    else if (!at.startsWith(`${origin}/`) && !/^(data|blob):/.test(at) && at !== withoutFragment(url))
      complaints.push(`asked elsewhere: ${at}`)
  })
  await page.goto(url)
  return {
    page,
    asked,
    [Symbol.asyncDispose]: async () => {
      await context.close()
      expect(complaints, 'the page is silent, and asks nothing of other places').toEqual([])
    },
  }
}

/** The hash of the world that the page shows, computed there. */
export function shownHash(page: Page): Promise<string | undefined> {
  return page.evaluate(() => (globalThis as { readonly entia?: { hash(): string | undefined } }).entia?.hash())
}

/** The ids of all views that the page offers, in order. */
export async function viewsOf(url: string): Promise<readonly string[]> {
  await using opened = await openPage(url)
  const links = opened.page.getByRole('navigation', { name: 'Views' }).getByRole('link')
  await links.first().waitFor()
  const addresses = await links.evaluateAll((all) => all.map((link) => (link as HTMLAnchorElement).hash))
  return addresses.map((hash) => new URLSearchParams(hash.slice(1)).get('view') ?? '')
}
