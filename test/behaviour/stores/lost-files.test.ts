import { Runner, type RunnerOptions, sqliteStore, standardSystems, type Store, VirtualClock } from 'entia'
import * as components from 'entia/components'
import { copyFileSync, renameSync, rmSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { tempFolder } from '../../tools/temp-folder.ts'
import { behaving, driven, gate, rejection, reopened, worldWith } from '../turns/driving.ts'
import { tool } from '../turns/tools.ts'

async function storeIn(folder: string): Promise<Store> {
  const store = sqliteStore({ folder, synchronous: 'normal' })
  onTestFinished(() => store.close())
  return store
}

/** Talks for so many turns with a Runner, and lets go of the store. */
async function talked(folder: string, store: Store, rounds: number, options: RunnerOptions): Promise<void> {
  const { world, agent } = worldWith()
  const runner = await Runner.open({
    clock: new VirtualClock(),
    ...options,
    store,
    name: 'world',
    systems: standardSystems(),
    components,
    create: () => world,
  })
  await runner.start()
  for (let round = 0; round < rounds; round++) {
    await runner.message(agent, `Round ${round}`)
    await runner.idle()
  }
  await runner.stop()
}

describe('a Runner whose database goes under it', () => {
  it.each([
    ['removed', (path: string) => rmSync(path), 'was removed or replaced'],
    ['cut', (path: string) => truncateSync(`${path}-wal`, 100), 'was cut while this process had it open'],
  ])('fails with store-failed and begins nothing more: %s', async (_, harm, message) => {
    const folder = await tempFolder()
    const started: string[] = []
    const asked = gate()
    const tools = [tool('send', ({ key }) => void started.push(key), { restart: 'keyed' })]
    const { world } = worldWith({ tools })
    const answer = gate<string>()
    const { models } = behaving(async () => {
      asked.resolve()
      await answer.promise
      return { toolCalls: [{ name: 'send' }] }
    })
    const { runner, told } = driven(world, { models, tools, store: await storeIn(folder) })
    await runner.start()
    await asked.promise
    harm(join(folder, 'world.sqlite'))
    answer.resolve('')
    const reason = await rejection(runner.idle())
    expect(reason).toMatchObject({ code: 'store-failed' })
    expect(String(reason)).toContain(message)
    expect(started).toEqual([])
    expect(told('tool-called')).toEqual([])
  })
})

describe('a world whose store is behind', () => {
  async function behind(): Promise<{ store: Store; options: RunnerOptions }> {
    const folder = await tempFolder()
    const { models } = behaving(() => 'Well.')
    const first = await storeIn(folder)
    await talked(folder, first, 1, { models })
    await first.close()
    copyFileSync(join(folder, 'world.sqlite'), join(folder, 'backup'))
    const second = await storeIn(folder)
    await talked(folder, second, 3, { models })
    await second.close()
    renameSync(join(folder, 'backup'), join(folder, 'world.sqlite'))
    return { store: await storeIn(folder), options: { models } }
  }

  it('is taken up from what is there, and listeners are told of what is lost', async () => {
    const { store, options } = await behind()
    const { runner, told, world } = await reopened(store, options)
    const foundTick = world.tick
    await runner.start()
    await runner.idle()
    const [event, ...more] = told('ticks-lost')
    expect(event).toMatchObject({ world: 'world', foundTick, message: expect.stringContaining('backup') as string })
    expect(event?.newestTick).toBeGreaterThan(foundTick)
    expect(more).toEqual([])
    await runner.stop()
    const again = await reopened(store, options)
    await again.runner.start()
    expect(again.told('ticks-lost')).toEqual([])
  })

  it('is told of by a process warning where no one listens', async () => {
    const { store, options } = await behind()
    const warn = vi.spyOn(process, 'emitWarning').mockReturnValue(undefined)
    onTestFinished(() => warn.mockRestore())
    const again = { store, name: 'world', systems: standardSystems(), components }
    const runner = await Runner.open({ clock: new VirtualClock(), ...options, ...again })
    await runner.start()
    await runner.stop()
    expect(warn.mock.calls).toEqual([
      [expect.stringContaining("store of world 'world' has lost commits"), 'EntiaWarning'],
    ])
  })
})

describe('a list of worlds', () => {
  it('says which of them go on when they are taken up', async () => {
    const store = await storeIn(await tempFolder())
    const asked = gate()
    const { models } = behaving(async ({ messages }) => {
      if (messages.length > 1) return 'Well.'
      asked.resolve()
      return await new Promise<string>(() => undefined)
    })
    const isBusy = async () => (await store.list()).map((info) => info.isBusy)
    const first = driven(worldWith().world, { models, store })
    await first.runner.start()
    expect(await isBusy()).toEqual([true])
    await asked.promise
    await first.runner.stop()
    expect(await isBusy()).toEqual([true])
    const again = await reopened(store, { models: behaving(() => 'Well.').models })
    await again.runner.start()
    await again.runner.idle()
    expect(await isBusy()).toEqual([false])
  })
})
