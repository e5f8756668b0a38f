import chromium from '@sparticuz/chromium'
import { type Browser, chromium as engine, type Page } from 'playwright-core'

/** A real browser without a screen. */
export async function launch(): Promise<Browser> {
  const args = ['--disable-background-networking', '--disable-component-update', '--no-first-run', '--no-sandbox']
  return engine.launch({ executablePath: await chromium.executablePath(), headless: true, args })
}

/** Megabytes of the page's own heap, once what nobody holds is gone. */
export async function heapMegabytes(page: Page): Promise<number> {
  const session = await page.context().newCDPSession(page)
  await session.send('HeapProfiler.collectGarbage')
  const { usedSize, embedderHeapUsedSize = 0 } = (await session.send('Runtime.getHeapUsage')) as {
    usedSize: number
    embedderHeapUsedSize?: number
  }
  return (usedSize + embedderHeapUsedSize) / 1e6
}

interface TraceEvent {
  readonly name: string
  readonly ph: string
  readonly pid: number
  readonly tid: number
  /** Of a task: microseconds by the clock, and of its own thread's computing. */
  readonly dur?: number
  readonly tdur?: number
  readonly args?: { readonly name?: string }
}

/**
 * The longest task of the page's main thread while something is done, in milliseconds, by the browser's own trace: by the clock,
 * and of computing, which a busy machine does not make longer.
 */
export async function longestTask<T>(
  browser: Browser,
  page: Page,
  act: () => Promise<T>,
): Promise<{ readonly wallMs: number; readonly cpuMs: number; readonly tasks: number; readonly done: T }> {
  await browser.startTracing(page, { categories: ['toplevel', 'devtools.timeline', '__metadata'] })
  const done = await act()
  const { traceEvents } = JSON.parse((await browser.stopTracing()).toString()) as {
    readonly traceEvents: readonly TraceEvent[]
  }
  const main = new Set(
    traceEvents
      .filter(({ args, name }) => name === 'thread_name' && args?.name === 'CrRendererMain')
      .map(({ pid, tid }) => `${pid}/${tid}`),
  )
  const tasks = traceEvents.filter(
    ({ dur, name, ph, pid, tid }) =>
      name.endsWith('RunTask') && ph === 'X' && dur !== undefined && main.has(`${pid}/${tid}`),
  )
  return {
    wallMs: Math.max(0, ...tasks.map(({ dur = 0 }) => dur)) / 1_000,
    cpuMs: Math.max(0, ...tasks.map(({ tdur = 0 }) => tdur)) / 1_000,
    tasks: tasks.length,
    done,
  }
}

/** Turns the wheel over what has this selector. Resolves with the milliseconds between the frames of the page, ascending. */
export async function scroll(page: Page, selector: string, turns: number): Promise<readonly number[]> {
  await page.locator(selector).first().hover()
  const frames = page.evaluate<readonly number[]>(`new Promise((resolve) => {
    const times = []
    const note = (ms) => times.push(ms) > ${turns} ? resolve(times) : requestAnimationFrame(note)
    requestAnimationFrame(note)
  })`)
  for (let turn = 0; turn < turns; turn++) {
    await page.mouse.wheel(0, turn % 10 === 9 ? 20_000 : 400)
    await page.evaluate('new Promise((resolve) => requestAnimationFrame(resolve))')
  }
  const times = await frames
  return times
    .flatMap((ms, index) => ms - (times[index - 1] ?? ms))
    .slice(1)
    .toSorted((one, other) => one - other)
}
