import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import { law, simulate, type SimulationResult, timelinePage } from '../../../src/sim/index.ts'
import { allFaults, busyTeam } from '../../sim/busy-team.ts'
import { Approval } from '../../../components/index.ts'
import { closeBrowser, type OpenPage, openPage } from './browser.ts'
import { expectShown, expectText } from './shown.ts'

afterAll(closeBrowser)

const bad = '</script><script>document.title = "owned"</script><img src=x onerror=alert(1)>&"\''

async function savedPage(result: SimulationResult): Promise<{ readonly url: string; readonly html: string }> {
  const html = await timelinePage(result)
  const file = join(await mkdtemp(join(tmpdir(), 'entia-page-')), 'run.html')
  await writeFile(file, html)
  return { html, url: pathToFileURL(file).href }
}

async function hashIn({ page }: OpenPage): Promise<string | undefined> {
  return page.evaluate(() => (globalThis as { entia?: { hash(): string } }).entia?.hash())
}

describe('the page of a run', { timeout: 60_000 }, () => {
  it('opens from the disk, asks nothing, and has every world as the run had it', async () => {
    const result = await simulate({ ...busyTeam(), seed: 3, faults: allFaults })
    const { html, url } = await savedPage(result)
    // Besides what its script, which is in it, writes of links in messages.
    const markup = html.replaceAll(/<script\b[^>]*>.*?<\/script>/gs, '<script></script>')
    expect(markup.match(/<script><\/script>/g)?.length).toBeGreaterThan(0)
    expect(markup).not.toMatch(/\b(?:src|href)="(?!data:)/)
    await using opened = await openPage(url)
    const { page } = opened
    await page.getByText(`of ${result.world.tick.toLocaleString('en')}`).waitFor()
    expect(await hashIn(opened)).toBe(result.hash)
    const rows = page.getByRole('treegrid').or(page.getByRole('grid')).getByRole('row')
    await rows.nth(result.worlds.size).waitFor()
    expect(result.worlds.size).toBeGreaterThan(2)
    for (const { world } of result.worlds.values()) {
      await page.goto(`${url}#world=${world.name}&view=world`)
      await page.getByRole('heading', { name: `Tick ${world.tick}`, exact: true }).waitFor()
      expect(await hashIn(opened), world.name).toBe(world.hash())
    }
    expect(opened.asked).toEqual([])
  })

  it('of a run that broke a law opens at the tick where it did', async () => {
    const loud = law('nobody speaks twice', ({ world }) => world.tick < 4 || 'it spoke')
    const result = await simulate({ ...busyTeam(), seed: 1, laws: [loud] })
    expect(result.ok).toBe(false)
    const { html, url } = await savedPage(result)
    expect(html).toContain('a law was broken</title>')
    await using opened = await openPage(url)
    await opened.page.waitForURL((at) => at.hash.includes(`tick=${result.violation?.tick}`))
    const carried = await opened.page.locator('#saved').textContent()
    expect(JSON.parse(carried ?? '')).toMatchObject({
      source: {
        run: {
          violation: { law: 'nobody speaks twice', tick: 4 },
          laws: [{ name: 'nobody speaks twice', broken: true }],
        },
      },
    })
  })

  it('shows what all its worlds did, asked and waited for, and what models were called', async () => {
    const asked = law('no one asks', ({ world }) => world.entitiesWith(Approval).length === 0 || 'it asked')
    const result = await simulate({ ...busyTeam(), seed: 1, laws: [asked] })
    expect(result.violation?.law).toBe('no one asks')
    const { url } = await savedPage(result)
    await using opened = await openPage(`${url}#view=timeline`)
    const { page } = opened
    await expectShown(page.locator(`[data-read="${result.worlds.size}"]`))
    await page.getByRole('application').focus()
    await page.keyboard.press('ArrowRight')
    const bar = page.getByRole('status').filter({ hasText: 'tick' })
    await expectText(bar, /Model call .* tick 1$/)
    const views = page.getByRole('navigation', { name: 'Views' })
    await views.getByRole('link', { name: 'Inbox' }).click()
    await expectShown(page.getByText('buy').first())
    await views.getByRole('link', { name: 'Waits' }).click()
    await expectShown(page.getByRole('treegrid', { name: 'Who waits' }).getByText('a person, about buy'))
    await views.getByRole('link', { name: 'Request' }).click()
    await expectShown(page.getByText('step 2'))
    await views.getByRole('link', { name: 'Cache' }).click()
    await expectShown(page.getByText('Open the run with entia inspect.'))
    expect(await page.getByText('Comparing requests').count()).toBe(0)
    expect(opened.asked).toEqual([])
  })

  it('shows what was said as text, whatever stands in it', async () => {
    const loud = law(`never ${bad}`, ({ world }) => world.tick < 2 || bad)
    const { html, url } = await savedPage(await simulate({ ...busyTeam(), seed: 1, laws: [loud] }))
    expect(html).not.toContain('<img src=x')
    await using opened = await openPage(url)
    await opened.page.getByRole('navigation', { name: 'Views' }).waitFor()
    expect(await opened.page.title()).not.toBe('owned')
  })
})
