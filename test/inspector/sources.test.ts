import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { agent, memoryStore, Runner, scripted, sqliteStore, standardSystems, World } from '../../src/index.ts'
import { openSnapshot } from '../../src/engine/loop/stored-ticks.ts'
import { FreshHistory } from '../../src/inspector/fresh-history.ts'
import { LivingSource, RunSource, StoreSource } from '../../src/inspector/index.ts'
import { rawComponents } from '../../src/inspector/reading/raw-view.ts'
import type { News, Source } from '../../src/inspector/source.ts'
import { Summaries } from '../../src/inspector/summaries-of.ts'
import { marksIn, maxRowsPerReply, ticksOf } from '../../src/inspector/ticks.ts'
import type { StoredWorld } from '../../src/stores/port.ts'
import { type Component, defineComponent } from '../../src/world/component.ts'
import { RawWorld } from '../../src/world/raw-world.ts'

const endings: (() => unknown)[] = []
afterEach(async () => {
  for (const end of endings.splice(0).toReversed()) await end()
})

async function folder(): Promise<string> {
  const made = await mkdtemp(join(tmpdir(), 'entia-inspected-'))
  endings.push(() => rm(made, { recursive: true, force: true }))
  return made
}

/** A process that drives the world `held`. */
async function driver(at: string) {
  const program = join(import.meta.dirname, '../programs/inspected-run.ts')
  const child = spawn(process.execPath, [program, at], { stdio: ['pipe', 'pipe', 'inherit'] })
  endings.push(() => child.kill('SIGKILL'))
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const said = async (): Promise<string> => (await lines.next()).value as string
  expect(await said()).toBe('ready')
  return {
    child,
    said,
    send: async (text: string): Promise<{ readonly tick: number; readonly hash: string }> => {
      child.stdin.write(`${text}\n`)
      const [tick = '', hash = ''] = (await said()).split(' ')
      return { tick: Number(tick), hash }
    },
  }
}

function sourceOf(at: string): StoreSource {
  const source = new StoreSource({ store: sqliteStore({ folder: at }), title: at })
  endings.push(() => source.close())
  return source
}

/** The world as what was read of it gives it. */
function rawOf(source: Source, { rows, snapshot }: StoredWorld): RawWorld {
  const { codec, lines } = openSnapshot({ snapshot, rows })
  const world = RawWorld.restore(lines, rawComponents(source.components))
  for (const { line } of rows) world.forward(codec.decode(line, 'a row').delta)
  return world
}

async function rawAt(source: Source, world: string, tick?: number): Promise<RawWorld> {
  const stored = await source.read(world, tick === undefined ? {} : { from: tick, to: tick })
  return rawOf(source, stored as StoredWorld)
}

/** The first news of this kind for which this holds. */
function heard<Type extends News['type']>(source: Source, type: Type, fits: (news: News & { type: Type }) => boolean) {
  return new Promise<News & { type: Type }>((resolve) => {
    const end = source.watch((news) => {
      if (news.type !== type || !fits(news as News & { type: Type })) return
      end()
      resolve(news as News & { type: Type })
    })
  })
}

function talking(name: string, components: Iterable<Component> = []) {
  const world = new World({ name, seed: 3, systems: standardSystems(), components })
  const talker = world.spawn(...agent({ model: 'script/x' }))
  return { world, talker }
}

const models = { script: scripted(({ messages }) => `Answer ${messages.length}.`) }

describe('a source of a store', () => {
  it('reads and follows a world that another process holds, and what it last committed once that is killed', async () => {
    const at = await folder()
    const { child, said, send } = await driver(at)
    const first = await send('one')
    const source = sourceOf(at)
    const [entry] = await source.worlds()
    expect(entry).toMatchObject({
      name: 'held',
      tick: first.tick,
      heldBy: expect.stringContaining(`(process ${child.pid})`),
    })
    expect((await rawAt(source, 'held')).hash()).toBe(first.hash)

    const moved = heard(source, 'moved', (news) => news.entry.tick > first.tick)
    const second = await send('two')
    // That others read the list meanwhile takes no news away.
    expect(await source.worlds()).toMatchObject([{ tick: second.tick }])
    expect((await moved).entry.name).toBe('held')
    const rows = await source.rows('held', first.tick)
    expect(rows?.map(({ tick }) => tick)).toEqual(ticks(first.tick + 1, second.tick))
    expect((await rawAt(source, 'held', first.tick)).hash()).toBe(first.hash)

    await send('hang')
    expect(await said()).toBe('hangs')
    const letGo = heard(source, 'moved', ({ entry: { heldBy, isBusy } }) => heldBy === undefined && isBusy === true)
    child.kill('SIGKILL')
    await once(child, 'close')
    expect((await letGo).entry.name).toBe('held')
    const later = sourceOf(at)
    const [left] = await later.worlds()
    expect(left).toMatchObject({ name: 'held', isBusy: true, heldBy: undefined })
    const raw = await rawAt(later, 'held')
    expect(raw.tick).toBe(left?.tick)
    expect(raw.entitiesWith('ToolCall')).toHaveLength(1)
    const { held } = await new Summaries(later).of(['held'])
    expect(held).toMatchObject({ tick: left?.tick, agents: [{ state: 'tool', doing: 'runs hang' }] })
  }, 60_000)

  it('says that a world is gone once its file is', async () => {
    const at = await folder()
    const store = sqliteStore({ folder: at })
    for (const name of ['stays', 'goes']) {
      const { world } = talking(name)
      const runner = new Runner(world, { models, store })
      await runner.start()
      await runner.stop()
    }
    await store.close()
    const source = sourceOf(at)
    expect((await source.worlds()).map(({ name }) => name)).toEqual(['goes', 'stays'])
    const gone = heard(source, 'gone', () => true)
    await rm(join(at, 'goes.sqlite'))
    expect(await gone).toEqual({ type: 'gone', world: 'goes' })
    expect((await source.worlds()).map(({ name }) => name)).toEqual(['stays'])
    await expect(ticksOf(source, { world: 'goes' })).rejects.toMatchObject({ code: 'no-such-world' })
  }, 60_000)

  it('shows a component of a program that is not here', async () => {
    const Mood = defineComponent('Mood', z.object({ like: z.number() }), { ref: 'like' })
    const at = await folder()
    const store = sqliteStore({ folder: at })
    const { world, talker } = talking('moody', [Mood])
    world.add(talker, Mood({ like: talker }))
    const runner = new Runner(world, { models, store })
    await runner.start()
    await runner.message(talker, 'Hello')
    await runner.idle()
    await runner.stop()
    await store.close()
    const raw = await rawAt(sourceOf(at), 'moody')
    expect(raw.value(talker, 'Mood')).toEqual({ like: talker })
    expect(raw.hash()).toBe(world.hash())
  })

  it('lists roots by name with their sessions behind them, and says of a damaged one what is wrong', async () => {
    const at = await folder()
    const store = sqliteStore({ folder: at })
    const begin = { snapshot: { tick: 0, lines: ['{}', '{}'] } }
    for (const [name, root] of [['b'], ['a'], ['s2', 'b'], ['s1', 'b'], ['s3', 'a']] as const) {
      const journal = await store.open(name, { root })
      await journal.commit(begin)
      await journal.close()
    }
    await store.close()
    const source = sourceOf(at)
    expect((await source.worlds()).map(({ name }) => name)).toEqual(['a', 's3', 'b', 's1', 's2'])
    const { b, none } = await new Summaries(source).of(['b', 'none'])
    expect(none).toMatchObject({ problem: { code: 'no-such-world' } })
    expect(b).toMatchObject({ problem: { code: 'corrupt-snapshot' } })
  })

  it('says of a tick that is gone, and of one that is not there yet, which there are', async () => {
    const at = await folder()
    const { send } = await driver(at)
    const { tick } = await send('one')
    const source = sourceOf(at)
    await expect(ticksOf(source, { world: 'held', from: tick + 1, snapshot: true })).rejects.toMatchObject({
      code: 'invalid-argument',
      message: expect.stringContaining(`its newest is ${tick}`),
    })
    await expect(ticksOf(source, { world: 'none' })).rejects.toMatchObject({ code: 'no-such-world' })
  }, 60_000)
})

describe('a recorded world', () => {
  it('is saved whole every so many ticks, so that each tick is read from a snapshot near it', async () => {
    const store = memoryStore()
    const { world, talker } = talking('long')
    const runner = new Runner(world, { models, store, record: true, ticksPerSnapshot: 20 })
    const hashes = new Map<number, string>()
    await runner.start()
    for (let index = 0; index < 40; index++) {
      await runner.message(talker, 'x'.repeat(200))
      await runner.idle()
      hashes.set(world.tick, world.hash())
    }
    await runner.stop()
    const source = new StoreSource({ store, title: 'memory' })
    const snapshots = new Set<number>()
    let widest = 0
    for (const [tick, hash] of hashes) {
      const stored = (await source.read('long', { from: tick, to: tick })) as StoredWorld
      expect(rawOf(source, stored).hash(), `tick ${tick}`).toBe(hash)
      widest = Math.max(widest, tick - stored.snapshot.tick)
      snapshots.add(stored.snapshot.tick)
    }
    expect(snapshots.size).toBeGreaterThan(3)
    // As long as the rows since a snapshot are shorter than half of it, another one would cost more than it spares.
    expect(widest).toBeLessThan(60)
    const recorded = await (await store.open('long', { record: true })).recording()
    expect(recorded).toMatchObject({ snapshot: { tick: 0 } })
    expect(recorded?.rows.map(({ tick }) => tick)).toEqual(ticks(1, world.tick))
  })
})

describe('a source of a saved run', () => {
  async function saved(): Promise<{ readonly source: RunSource; readonly tick: number; readonly hash: string }> {
    const store = memoryStore()
    const { world, talker } = talking('run')
    const runner = new Runner(world, { models, store, record: true })
    await runner.start()
    for (const text of ['Hello', 'And again']) {
      await runner.message(talker, text)
      await runner.idle()
    }
    await runner.stop()
    const recording = await (await store.open('run', { record: true })).recording()
    const worlds = [{ name: 'run', ...(recording as StoredWorld) }]
    return {
      source: new RunSource({ title: 'a run', worlds, texts: { note: 'kept' } }),
      tick: world.tick,
      hash: world.hash(),
    }
  }

  it('gives each tick, as a store would', async () => {
    const { hash, source, tick } = await saved()
    expect(await source.worlds()).toEqual([{ name: 'run', tick }])
    expect((await rawAt(source, 'run')).hash()).toBe(hash)
    expect((await rawAt(source, 'run', 2)).tick).toBe(2)
    expect((await source.rows('run', 1, 3))?.map((row) => row.tick)).toEqual([2, 3])
    expect(await source.rows('none', 0)).toBeUndefined()
    expect(await source.entry('none')).toBeUndefined()
    expect([await source.text('run', 'note'), await source.text('run', 'toString')]).toEqual(['kept', undefined])
  })

  it('of a million rows gives what is asked for, and looks at no other', async () => {
    const { source } = await saved()
    const { rows, snapshot } = (await source.read('run')) as StoredWorld
    const looked = new Set<number>()
    const [{ line: text }] = rows as [StoredWorld['rows'][0]]
    class Row {
      readonly tick: number
      constructor(tick: number) {
        this.tick = tick
      }
      get line(): string {
        looked.add(this.tick)
        return text
      }
    }
    const many = Array.from({ length: 1_000_000 }, (_, index) => new Row(index + 1))
    const long = new RunSource({ title: 'long', worlds: [{ name: 'run', snapshot, rows: many }] })
    const reply = await ticksOf(long, { world: 'run', from: 900_001, to: 900_010 })
    expect(reply).toMatchObject({ newest: 1_000_000, isCut: false })
    expect(reply.rows.map(({ tick }) => tick)).toEqual(ticks(900_001, 900_010))
    expect(looked.size).toBe(10)
    expect((await ticksOf(long, { world: 'run', from: 500_000 })).rows).toHaveLength(maxRowsPerReply)
    looked.clear()
    await marksIn(long, 'run', 999_000, 1_000_000)
    expect(looked.size).toBe(1_001)
  })

  it('refuses a tick before its beginning', async () => {
    const { source } = await saved()
    const stored = (await source.read('run', {})) as StoredWorld
    const late = new RunSource({
      title: 'late',
      worlds: [{ name: 'run', snapshot: { ...stored.snapshot, tick: 3 }, rows: stored.rows.slice(3) }],
    })
    await expect(late.read('run', { from: 2 })).rejects.toMatchObject({
      code: 'invalid-argument',
      message: expect.stringContaining('begins at tick 3'),
    })
    expect(await late.rows('run', 2)).toBeUndefined()
  })
})

describe('a Runner that has stopped', () => {
  it('is still shown to the page that was open, with a store and without', async () => {
    for (const store of [undefined, memoryStore()]) {
      const { world } = talking('stopped')
      const runner = new Runner(world, { models, ...(store !== undefined && { store }) })
      await runner.start()
      const source = new LivingSource(runner)
      endings.push(
        () => source.close(),
        source.watch(() => undefined),
      )
      const shown = await source.read('stopped')
      expect(shown).toBeDefined()
      await runner.stop()
      expect(await source.entry('stopped')).toMatchObject({ name: 'stopped' })
      expect(await source.read('stopped')).toEqual(shown)
    }
  })
})

describe('a Runner without a store', () => {
  it('has a history from when somebody looks: each tick of it can be gone to, and none before', async () => {
    const { world, talker } = talking('fleeting')
    const runner = new Runner(world, { models })
    await runner.start()
    await runner.message(talker, 'before anyone looks')
    await runner.idle()
    const source = new LivingSource(runner)
    endings.push(() => source.close())
    const from = world.tick
    const end = source.watch(() => undefined)
    expect((await rawAt(source, 'fleeting')).hash()).toBe(world.hash())
    const hashes = new Map([[from, world.hash()]])
    for (let index = 0; index < 5; index++) {
      await runner.message(talker, `message ${index}`)
      await runner.idle()
      hashes.set(world.tick, world.hash())
    }
    for (const [tick, hash] of hashes) expect((await rawAt(source, 'fleeting', tick)).hash(), `tick ${tick}`).toBe(hash)
    expect(await source.read('fleeting', { from: from - 1, to: from - 1 })).toBeUndefined()
    expect(await source.rows('fleeting', from - 1)).toBeUndefined()
    expect((await source.rows('fleeting', from))?.map(({ tick }) => tick)).toEqual(ticks(from + 1, world.tick))

    // Without a page nothing is kept, and the next look begins anew.
    end()
    await runner.message(talker, 'unseen')
    await runner.idle()
    expect((await source.read('fleeting'))?.snapshot.tick).toBe(world.tick)
    await runner.stop()
  })

  it('keeps so much of it and no more: the oldest part goes first', async () => {
    const { world, talker } = talking('long')
    const runner = new Runner(world, { models })
    const history = new FreshHistory(world, { maxKeptChars: 400_000 })
    runner.host.onTick((driven, step) => history.add(step, driven.world))
    await runner.start()
    for (let index = 0; index < 550; index++) {
      await runner.message(talker, 'x'.repeat(100))
      await runner.idle()
    }
    const source = new LivingSource(runner)
    expect(history.read(0, 0)).toBeUndefined()
    expect(history.rows(0)).toBeUndefined()
    expect(rawOf(source, history.read() as StoredWorld).hash()).toBe(world.hash())
    const oldest = history.read(world.tick, world.tick)?.snapshot.tick ?? 0
    expect(oldest).toBeGreaterThan(0)
    expect(history.rows(oldest)).toHaveLength(world.tick - oldest)
    await runner.stop()
  })
})

function ticks(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, index) => from + index)
}
