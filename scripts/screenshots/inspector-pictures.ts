import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { inspect } from '../../src/inspector/index.ts'
import { launch } from '../../test/parts/inspector/page-watch.ts'
import { mainJob } from '../../test/parts/inspector/main-job.ts'

const size = { width: 1_100, height: 640 }

/** Each view of the inspector's page of a run of the main job, in light and dark, as files in a folder. */
export async function inspectorPictures(folder: string): Promise<void> {
  const job = await mainJob()
  job.goOn('first call')
  await job.runner.start()
  await job.reached('some words')
  const served = await inspect(job.runner)
  const browser = await launch()
  try {
    for (const colorScheme of ['light', 'dark'] as const) {
      const context = await browser.newContext({ viewport: size, colorScheme, reducedMotion: 'reduce' })
      const page = await context.newPage()
      await page.goto(served.url)
      const links = page.getByRole('navigation', { name: 'Views' }).getByRole('link')
      await links.first().waitFor()
      for (let index = 0; index < (await links.count()); index++) {
        await links.nth(index).click()
        await page.locator('main .view').first().waitFor()
        await page.waitForLoadState('networkidle', { timeout: 2_000 }).catch(() => undefined)
        const view = new URLSearchParams(new URL(page.url()).hash.slice(1)).get('view') ?? ''
        await writeFile(join(folder, `inspector-${view}-${colorScheme}.png`), await page.screenshot())
      }
      await context.close()
    }
  } finally {
    await browser.close()
    await served.close()
    for (const place of ['some words', 'more words'] as const) job.goOn(place)
    await job.runner.stop()
  }
}
