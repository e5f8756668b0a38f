import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { memoryStore, sqliteStore } from '../../../src/index.ts'
import { inspect, RunSource, StoreSource } from '../../../src/inspector/index.ts'
import { closeBrowser, openPage } from './browser.ts'
import { finishedRun } from './copied-runs.ts'
import { savedRun } from './saved-runs.ts'
import { expectShown } from './shown.ts'

afterAll(closeBrowser)

async function folder(): Promise<string> {
  const made = await mkdtemp(join(tmpdir(), 'entia-lost-'))
  onTestFinished(() => rm(made, { recursive: true, force: true }))
  return made
}

describe('a page', { timeout: 60_000 }, () => {
  it('with a wrong token, or none, says that its link is not the right one, and shows nothing', async () => {
    const runner = await finishedRun('walk', 2, memoryStore())
    const served = await inspect(runner)
    for (const hash of ['#token=wrong', '#', '#world=walk&tick=3&view=world']) {
      await using opened = await openPage(served.url.replace(/#.*/, hash), { isRefused: true })
      const alert = opened.page.getByRole('alert')
      await alert.waitFor()
      expect(await alert.innerText()).toMatch(/^The link is not the right one/)
      expect(await opened.page.getByText('walk').count()).toBe(0)
    }
    await served.close()
    await runner.stop()
  })

  it('whose program has ended keeps what it shows, and says so of another one at its place', async () => {
    const runner = await finishedRun('walk', 2, memoryStore())
    const served = await inspect(runner)
    const { port } = new URL(served.url)
    {
      await using opened = await openPage(served.url, { isRefused: true, maySayOfCuts: true })
      const { page } = opened
      await page.getByRole('row', { name: /walk.*has answered/ }).waitFor()
      await served.close()
      await expectShown(page.getByText('The connection is cut'))
      await expectShown(page.getByRole('row', { name: /walk.*has answered/ }))
      const other = await inspect(runner, { port: Number(port) })
      await page.getByRole('alert').getByText('The link is not the right one').waitFor()
      await expectShown(page.getByRole('row', { name: /walk.*has answered/ }))
      await other.close()
    }
    await runner.stop()
  })

  it('of a store that is deleted says that its world is gone', async () => {
    const at = await folder()
    const store = sqliteStore({ folder: at })
    await (await finishedRun('walk', 2, store)).stop()
    await (await finishedRun('other', 2, store)).stop()
    await store.close()
    const served = await inspect(new StoreSource({ store: sqliteStore({ folder: at }), title: 'shop' }))
    {
      await using opened = await openPage(served.url.replace('#', '#world=walk&'), { isRefused: true })
      const { page } = opened
      await page.getByRole('row', { name: /walk.*has answered/ }).waitFor()
      await page.getByRole('row', { name: /other.*has answered/ }).waitFor()
      await rm(at, { recursive: true })
      await expectShown(page.getByRole('alert').getByText("World 'walk' is not there any more."))
      await page.getByRole('treegrid', { name: 'Worlds' }).getByText('No world yet').waitFor()
      await page.goto(page.url().replace('world=walk', 'world=other'))
      await page.getByRole('alert').getByText("There is no world 'other' in shop.").waitFor()
    }
    await served.close()
  })

  it('that follows a store says what is unknown once its writer is killed', async () => {
    const at = await folder()
    const program = join(import.meta.dirname, '../../programs/inspected-run.ts')
    const child = spawn(process.execPath, [program, at], { stdio: ['pipe', 'pipe', 'inherit'] })
    onTestFinished(() => void child.kill('SIGKILL'))
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
    expect((await lines.next()).value).toBe('ready')
    const served = await inspect(new StoreSource({ store: sqliteStore({ folder: at }), title: 'shop' }))
    {
      await using opened = await openPage(served.url)
      const { page } = opened
      await page.getByRole('row', { name: /held/ }).waitFor()
      child.stdin.write('hang\n')
      await page.getByRole('row', { name: /held.*runs hang/ }).waitFor()
      expect(await page.getByText('unknown since the program ended').count()).toBe(0)
      child.kill('SIGKILL')
      await once(child, 'close')
      await page.getByRole('row', { name: /held.*unknown since the program ended: runs hang/ }).waitFor()
      await expectShown(page.getByText('whether this has happened is unknown'))
    }
    await served.close()
  })

  it('of more worlds than one reply takes lists them all', async () => {
    const [root, first] = await savedRun({ sessions: 1 })
    const copies = Array.from({ length: 20_004 }, (_, index) => ({ ...first!, name: `copy-${index}` }))
    const served = await inspect(new RunSource({ title: 'many', worlds: [root!, ...copies] }))
    {
      await using opened = await openPage(served.url)
      const { asked, page } = opened
      await expectShown(page.getByText('20,005 worlds'))
      expect(asked.filter((each) => each.startsWith('worlds'))).toEqual(['worlds', 'worlds?offset=20000'])
    }
    await served.close()
  })
})
