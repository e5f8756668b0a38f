import { memoryStore, recordingOf, replay, Runner, sqliteStore, standardSystems, type Store, World } from 'entia'
import * as components from 'entia/components'
import { loadRecording, saveRecording, simulate } from 'entia/sim'
import { copyFileSync, readFileSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { tick } from '../../../src/world/tick.ts'
import { officeModels, officeTools, officeWorld, recordOffice } from '../../sim/recorded-office.ts'
import { tempFolder } from '../../tools/temp-folder.ts'
import { type Archiving, archiving, type ArchivingOptions } from '../../behaviour/context/archiving.ts'
import { reopened } from '../../behaviour/turns/driving.ts'
import { mortalStore, watchedStore } from '../../behaviour/stores/watched-store.ts'

const idOf = (made: Archiving, index = 0): string => made.archive()[index]?.subagentId ?? ''

/** A turn that is archived into a session with an id of its own. */
async function archived(store: Store | undefined, options: ArchivingOptions = {}): Promise<Archiving> {
  const made = archiving({ ...options, runner: { ...(store && { store }), record: true } })
  await made.runner.start()
  await made.say('first')
  expect(made.archive()).toMatchObject([{ status: 'archived' }])
  await made.runner.stop()
  return made
}

describe('an id of a world that was given no seed', () => {
  it('is another one in each store, so that archives in one folder never meet', async () => {
    const folder = await tempFolder()
    const made: Archiving[] = []
    for (const name of ['one', 'two']) {
      const store = sqliteStore({
        folder: join(folder, name),
        synchronous: 'normal',
        transcripts: join(folder, 'transcripts'),
      })
      onTestFinished(() => store.close())
      made.push(await archived(store))
    }
    const ids = made.map((each) => idOf(each))
    expect(new Set(ids).size).toBe(2)
    for (const id of ids) {
      const file = join(folder, `transcripts/world.files/agents/subagent-${id}/sessions/${id}.jsonl`)
      expect(readFileSync(file, 'utf8')).toContain('first')
    }
  })

  it('is the same in each run without a store, as one from an explicit seed is in each store', async () => {
    const runs: readonly (readonly [Store | undefined, ArchivingOptions])[] = [
      [undefined, {}],
      [undefined, {}],
      [memoryStore(), { seed: 1 }],
      [memoryStore(), { seed: 1 }],
    ]
    const ids: string[] = []
    for (const [store, options] of runs) ids.push(idOf(await archived(store, options)))
    expect(new Set(ids).size).toBe(1)
  })

  it('is the same again when its recording is replayed', async () => {
    const store = memoryStore()
    const { world } = await archived(store)
    const recording = await recordingOf(store, 'world')
    const result = replay(recording, { systems: standardSystems(), components })
    expect(result.difference).toBeUndefined()
    expect(result.hash).toBe(world.hash())
  })

  it('is the same again in a simulation that is answered out of its recording', async () => {
    const store = memoryStore()
    const { world } = await recordOffice(store, { world: officeWorld({ isSeedless: true }) })
    const file = join(await tempFolder(), 'office.entia')
    await saveRecording(store, 'office', file)
    const result = await simulate({
      recording: await loadRecording(file),
      world: (seed) => officeWorld({ seed }),
      models: officeModels(),
      tools: officeTools(),
    })
    expect([result.violation, result.missed]).toEqual([undefined, []])
    expect(result.hash).toBe(world.hash())
  })

  it('goes on after a restart as it would have gone on', async () => {
    const store = memoryStore()
    const made = await archived(store)
    const copy = World.restore(made.world.snapshot(), { systems: standardSystems(), components })
    const next = made.world.newId('session')
    expect(copy.newId('session')).toBe(next)
    const again = await reopened(store, made.options)
    await again.runner.start()
    expect(await again.runner.change((world) => world.newId('session'))).toBe(next)
  })

  it('has its run id from the input that starts it, which bare ticks take as well', async () => {
    const store = memoryStore()
    let started: object | undefined
    const watched = watchedStore(store, { after: ([first]) => void (started ??= first?.inputs[0]) })
    const { world } = await archived(watched)
    expect(started).toMatchObject({ kind: 'started', run: world.core.run })
    const ticked = new World({ name: 'world' })
    tick(ticked, [started as never])
    expect(ticked.core.run).toBe(world.core.run)
    for (let id = 0; id < world.core.ids; id++) ticked.newId('session')
    expect(ticked.newId('session')).toBe(world.newId('session'))
  })

  it('keeps its run id where the start was cut off before the first tick', async () => {
    const kept = memoryStore()
    const { store, die } = mortalStore(kept)
    const made = archiving({ isMortal: true, runner: { store: watchedStore(store, { after: die }) } })
    await made.runner.start()
    const again = await reopened(kept, made.options)
    const { run } = again.world.core
    expect([again.world.tick, run]).toEqual([0, made.world.core.run])
    expect(run).toMatch(/./)
    await again.runner.start()
    await again.runner.idle()
    expect(again.world.core.run).toBe(run)
  })

  it('has no run id after a start that a store has refused', async () => {
    const store = memoryStore()
    await archived(store)
    const world = new World({ name: 'world', systems: standardSystems() })
    await expect(new Runner(world, { store }).start()).rejects.toMatchObject({ code: 'world-exists' })
    expect(world.core.run).toBeUndefined()
  })
})

describe('a backup that is restored beside newer files', () => {
  it('gives ids that its later life has not given, and its archives stay', async () => {
    const folder = await tempFolder()
    const database = join(folder, 'world.sqlite')
    const open = (): Store => {
      const store = sqliteStore({ folder, synchronous: 'normal', transcripts: join(folder, 'transcripts') })
      onTestFinished(() => store.close())
      return store
    }
    const first = open()
    const { agent, options } = await archived(first)
    await first.close()
    copyFileSync(database, join(folder, 'backup'))
    let run: string | undefined
    const talkOn = async (store: Store): Promise<string> => {
      const { runner, world } = await reopened(store, { ...options, store })
      await runner.start()
      await runner.message(agent, 'second')
      await runner.idle()
      const last = world.read(agent, components.Archive).at(-1)
      expect(last).toMatchObject({ status: 'archived' })
      await runner.stop()
      await store.close()
      run = world.core.run
      return last?.subagentId ?? ''
    }
    const newer = await talkOn(open())
    const file = join(folder, `transcripts/world.files/agents/subagent-${newer}/sessions/${newer}.jsonl`)
    const before = readFileSync(file, 'utf8')
    renameSync(join(folder, 'backup'), database)
    const other = await talkOn(open())
    expect(other).not.toBe(newer)
    expect(readFileSync(file, 'utf8')).toBe(before)
    const again = await reopened(open(), options)
    expect(again.world.core.run).toBe(run)
  })
})
