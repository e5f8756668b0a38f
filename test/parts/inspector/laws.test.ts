import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { inspect } from '../../../src/inspector/index.ts'
import { RunSource } from '../../../src/inspector/run-source.ts'
import { closeBrowser, openPage } from './browser.ts'
import { expectAddress, expectShown } from './shown.ts'
import { brokenRun, savedRun } from './saved-runs.ts'

afterAll(closeBrowser)

const at = (url: string, more = '') => url.replace('#', `#view=laws&${more}`)

describe('the laws of a saved run', () => {
  it('show the one that broke, its tick, how often each was checked, and the faults', async () => {
    const source = await brokenRun()
    const served = await inspect(source)
    {
      await using opened = await openPage(at(served.url))
      const { page } = opened
      await expectShown(page.getByRole('row', { name: /^calls-answered-once broke at 4 31$/ }))
      await expectShown(page.getByRole('row', { name: /^effects-settle-once held 212$/ }))
      await expectShown(page.getByRole('row', { name: /^once-ran-once never looked 0$/ }))
      await expectShown(page.getByText('Call call-3-0 has 2 results.'))
      const faults = page.getByRole('region', { name: 'Faults' }).getByRole('listitem')
      expect(await faults.allInnerTexts()).toEqual([
        expect.stringMatching(/^812 ms\s+model\.rateLimited\s+scout model 1, ms 400\s+tick 2$/),
        expect.stringMatching(/^31\.8 s\s+crash\.afterCommit\s+search commit 9\s+tick 3$/),
      ])
      await page.getByRole('link', { name: 'Go to tick 4' }).click()
      await expectShown(page.getByRole('heading', { name: 'Tick 4' }))
      await expectAddress(page, `world=${source.run?.violation?.world}&`)
    }
    await served.close()
  })

  it('show what the world did at that tick, and not what became of it', async () => {
    const served = await inspect(await brokenRun())
    {
      await using opened = await openPage(served.url)
      await expectAddress(opened.page, 'tick=4')
      await expectShown(opened.page.getByRole('row', { name: /^scout.* tool runs look/ }))
      await expectShown(opened.page.getByRole('row', { name: /^scout.* succeeded has answered/ }))
    }
    await served.close()
  })

  it('give the test to paste', async () => {
    const source = await brokenRun()
    const served = await inspect(source)
    {
      await using opened = await openPage(at(served.url))
      const { page } = opened
      await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
      await page.getByRole('button', { name: 'Copy test' }).click()
      await expectShown(page.getByText('copied', { exact: true }))
      expect(await page.evaluate('navigator.clipboard.readText()')).toBe(source.run?.test)
    }
    await served.close()
  })
})

describe('two runs', () => {
  /** Whatever is looked at is there, but in one run a place is not. */
  async function twoRuns(file?: string) {
    const one = await savedRun({ sessions: 1, steps: 6 })
    const other = await savedRun({
      sessions: 1,
      steps: 6,
      ...(file !== undefined && { file }),
      found: (place) => (place === 'place 4' ? 'Nothing.' : `${place} is there`),
    })
    const [, session] = one
    const first = other[1]!.rows.findIndex(({ line }) => line.includes('Nothing.'))
    return { one, other, name: session!.name, tick: other[1]!.rows[first]!.tick }
  }

  it('stand side by side at their first difference', async () => {
    const { name, one, other, tick } = await twoRuns()
    const worlds = [...one, ...other.map((world) => ({ ...world, name: `${world.name}-again` }))]
    const served = await inspect(new RunSource({ title: 'both', worlds }))
    {
      await using opened = await openPage(at(served.url, `world=${name}&`))
      const { page } = opened
      await page.getByRole('combobox', { name: 'Another world' }).selectOption(`${name}-again`)
      await expectShown(page.getByText(`They first differ at tick ${tick}.`))
      const difference = page.getByRole('region', { name: 'First difference' })
      await expectShown(difference.getByRole('group', { name, exact: true }).getByText('place 4 is there').first())
      await expectShown(
        difference
          .getByRole('group', { name: `${name}-again` })
          .getByText('Nothing.')
          .first(),
      )
    }
    await served.close()
  })

  it('are the same if nothing differs', async () => {
    const { name, one } = await twoRuns()
    const worlds = [...one, ...one.map((world) => ({ ...world, name: `${world.name}-again` }))]
    const served = await inspect(new RunSource({ title: 'both', worlds }))
    {
      await using opened = await openPage(at(served.url, `world=${name}&`))
      await opened.page.getByRole('combobox', { name: 'Another world' }).selectOption(`${name}-again`)
      await expectShown(opened.page.getByText('They are the same'))
    }
    await served.close()
  })

  it('are compared with one in a file', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'entia-laws-'))
    const file = join(folder, 'other.json')
    const { name, one, tick } = await twoRuns(file)
    const served = await inspect(new RunSource({ title: 'one', worlds: one }))
    {
      await using opened = await openPage(at(served.url, `world=${name}&`))
      const { page } = opened
      await page.getByLabel('A saved run').setInputFiles(file)
      await expectShown(page.getByText(`They first differ at tick ${tick}.`))
      await expectShown(page.getByRole('group', { name: 'other.json' }).getByText('Nothing.').first())
      await page
        .getByLabel('A saved run')
        .setInputFiles({ name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('Hello') })
      await expectShown(page.getByText('notes.txt must be a saved run or a recording.'))
    }
    await served.close()
    await rm(folder, { recursive: true })
  })
})
