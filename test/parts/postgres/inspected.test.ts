import { lastText, Runner, sqliteStore, standardSystems } from 'entia'
import { CopyingSource, inspect, StoreSource } from '../../../src/inspector/index.ts'
import { describe, expect, inject, it, onTestFinished } from 'vitest'
import * as components from 'entia/components'
import { tempFolder } from '../../tools/temp-folder.ts'
import { client } from '../inspector/copied-runs.ts'
import { clerks } from './clerks.ts'
import { newSchema, storeIn } from './stores.ts'

describe('the inspector of a fleet', () => {
  it('shows its worlds while a worker has them, and copies one with its sessions to a place of its own', async () => {
    const schema = newSchema()
    let calls = 0
    const fleet = clerks({ database: inject('postgres'), schema, steps: 1, workMs: 1, record: true }, ({ what }) => {
      if (what === 'model' || what === 'tool') calls++
    })
    onTestFinished(() => fleet.close())
    const worker = await fleet.work()
    const { text } = await fleet.agent('desk/1').ask('Jobs: ant bee')
    expect(text).toContain('bee done')
    const original = storeIn(schema)
    const all = async () => {
      const worlds = await original.list({ root: 'desk/1' })
      return Promise.all(worlds.map(({ name, root }) => original.read(name, { from: 0, root })))
    }
    const before = await all()
    expect(before).toHaveLength(3)
    const ran = calls

    const copies = sqliteStore({ folder: await tempFolder() })
    const source = new StoreSource({ store: storeIn(schema), title: 'the fleet' })
    const page = await inspect(new CopyingSource(source, copies), { actions: true })
    onTestFinished(() => page.close())
    const { act, worlds } = client(page.url)
    const entries = await worlds()
    expect(entries).toHaveLength(3)
    expect(entries[0]).toMatchObject({ name: 'desk/1', heldBy: expect.stringContaining('process') as string })
    const newest = entries[0]?.tick ?? 0
    expect(await act({ do: 'fork', world: 'desk/1', tick: newest, driver: 'none' })).toMatchObject({ ok: true })
    const early = await act({ do: 'fork', world: 'desk/1', tick: 2, driver: 'recording' })
    expect(early).toMatchObject({ ok: true, world: 'desk/1-fork-2' })
    const copied = async () => (await worlds()).find(({ name }) => name === 'desk/1-fork-2')
    await expect
      .poll(async () => (await copied())?.stopped, { timeout: 20_000 })
      .toMatch(/it went as far as the run did/)
    expect((await worlds()).filter(({ name, root }) => [name, root].includes('desk/1-fork-1'))).toHaveLength(3)
    await page.close()

    // The answers of the run are enough: no model was called, no tool ran, and the fleet has no tick more.
    expect(calls).toBe(ran)
    expect(await all()).toEqual(before)
    for (const name of ['desk/1-fork-1', 'desk/1-fork-2']) {
      const store = copies
      const runner = await Runner.open({ store, name, systems: standardSystems(), components })
      expect(lastText(runner.world, 1), name).toContain('bee done')
      await runner.stop()
    }
    await copies.close()
    await worker.stop()
  })
})
