import { memoryStore, type Store } from 'entia'
import { describe, expect, it } from 'vitest'
import { Chance } from '../../src/sim/chance.ts'
import type { Fault, FaultName, FaultRates } from '../../src/sim/fault.ts'
import { FaultPlan } from '../../src/sim/fault-plan.ts'
import { FaultyStore } from '../../src/sim/faulty-store.ts'
import type { ProcessState } from '../../src/sim/process-clock.ts'
import { turns } from '../behaviour/turns/driving.ts'

const key = 'agents/subagent-1/sessions/1.jsonl'
const line = (index: number) => ({ text: `{"line":${index}}`, searchable: `line number${index}` })
const lines = (from: number, count: number) => Array.from({ length: count }, (_, index) => line(from + index))

/** What outlives a process: the store's contents, the faults that have struck, and the time. */
async function outside(faults: FaultRates | readonly Fault[], seed = 1) {
  const plan = new FaultPlan(new Chance(seed), faults)
  const inner = memoryStore()
  // Its code is loaded by then.
  await inner.list()
  return { inner, plan, disk: { fullUntilMs: 0 }, nowMs: 0 }
}

/** A process with its store; it dies as its faults say. */
function born(world: Awaited<ReturnType<typeof outside>>) {
  const life: { state: ProcessState; parked: number } = { state: 'alive', parked: 0 }
  const store: Store = new FaultyStore(world.inner, {
    plan: world.plan,
    state: () => life.state,
    now: () => world.nowMs,
    disk: world.disk,
    struck: () => undefined,
    crash: () => void (life.state = 'dead'),
    isDueWithin: () => false,
    after: () => () => undefined,
    waits: () => undefined,
    parked: () => void life.parked++,
    label: (name) => name,
  })
  return { store, life }
}

function at(what: FaultName, place: string, ms?: number): Fault {
  return { what, at: place, ...(ms !== undefined && { ms }) }
}

/** How an append ends: `undefined` if nobody ever hears of it. */
async function outcome(append: Promise<void>): Promise<string | undefined> {
  let ended: string | undefined
  append.then(
    () => (ended = 'done'),
    (error: Error) => (ended = error.message),
  )
  await turns()
  return ended
}

describe('a fault of the store', () => {
  it('strikes an append to a transcript at its own place, and no transaction beside it', async () => {
    const world = await outside([at('store.fails', 'store append 2')])
    const { store } = born(world)
    const appends = [0, 1].map((from) => store.appendTranscript('root', key, [line(from)], { from }))
    const put = store.putText('root', 'key', 'text')
    expect(await Promise.all(appends.map(outcome))).toEqual(['done', 'A transaction was refused: I/O error.'])
    await put
    expect(world.plan.struck).toEqual([at('store.fails', 'store append 2')])
    expect(await store.transcript('root', key)).toEqual([line(0).text])
    await store.appendTranscript('root', key, [line(1)], { from: 1 })
    expect(await store.transcript('root', key)).toEqual([line(0).text, line(1).text])
  })

  it('that fills the disk refuses appends and transactions until there is room', async () => {
    const world = await outside([at('store.full', 'store append 1', 100)])
    const { store } = born(world)
    const refused = { code: 'store-failed', message: expect.stringContaining('disk full') as string }
    await expect(store.appendTranscript('root', key, [line(0)], { from: 0 })).rejects.toMatchObject(refused)
    await expect(store.putText('root', 'key', 'text')).rejects.toMatchObject(refused)
    world.nowMs = 99
    await expect(store.appendTranscript('root', key, [line(0)], { from: 0 })).rejects.toMatchObject(refused)
    expect(await store.transcript('root', key)).toBeUndefined()
    world.nowMs = 100
    await store.appendTranscript('root', key, [line(0)], { from: 0 })
    expect(await store.transcript('root', key)).toEqual([line(0).text])
  })

  it.each([
    ['store.torn', 3, undefined],
    ['crash.beforeCommit', 0, undefined],
    ['crash.afterCommit', 5, 'done'],
  ] as const)('that kills the process at an append, %s, leaves %i of five lines', async (what, count, heard) => {
    const world = await outside([at(what, 'store append 1')])
    const { store, life } = born(world)
    const append = outcome(store.appendTranscript('root', key, lines(0, 5), { from: 0 }))
    expect(await append).toBe(heard)
    expect(life.state).toBe('dead')
    const next = born(world).store
    expect((await next.transcript('root', key)) ?? []).toEqual(lines(0, count).map(({ text }) => text))
    await next.appendTranscript('root', key, lines(0, 5), { from: 0 })
    expect(await next.transcript('root', key)).toHaveLength(5)
    expect(await next.searchTranscript('root', [key], 'line', { limit: 9 })).toHaveLength(5)
  })

  it('finds nobody who waits for a dead process: it appends and deletes nothing any more', async () => {
    const world = await outside([])
    const { store, life } = born(world)
    await store.appendTranscript('root', key, lines(0, 2), { from: 0 })
    life.state = 'dead'
    expect(await outcome(store.appendTranscript('root', key, lines(2, 2), { from: 2 }))).toBeUndefined()
    expect(await outcome(store.deleteTranscript('root', key))).toBeUndefined()
    expect(life.parked).toBe(2)
    expect(await born(world).store.transcript('root', key)).toHaveLength(2)
  })

  it('loses no line that was acknowledged, and doubles none, over many seeds', async () => {
    const faults: FaultRates = { store: { fails: 0.1, full: 0.05, torn: 0.1 }, crash: { perTick: 0.1 } }
    const kinds = new Set<string>()
    for (let seed = 1; seed <= 100; seed++) {
      const world = await outside(faults, seed)
      let { store, life } = born(world)
      for (let [from, tries] = [0, 0]; from < 30 && tries < 1000; tries++) {
        const count = 1 + (from % 4)
        world.nowMs += 500
        const ended = await outcome(store.appendTranscript('root', key, lines(from, count), { from }))
        if (ended === 'done') from += count
        if (life.state !== 'alive') ({ store, life } = born(world))
        const there = (await store.transcript('root', key)) ?? []
        expect(there.length, `seed ${seed}`).toBeGreaterThanOrEqual(from)
        expect(there, `seed ${seed}`).toEqual(lines(0, there.length).map(({ text }) => text))
        const hits = await store.searchTranscript('root', [key], 'line', { limit: 100 })
        expect(hits.map(({ text }) => text).sort(), `seed ${seed}`).toEqual([...there].sort())
      }
      for (const { what } of world.plan.struck) kinds.add(what)
    }
    expect([...kinds].sort()).toEqual([
      'crash.afterCommit',
      'crash.afterEffects',
      'crash.beforeCommit',
      'store.fails',
      'store.full',
      'store.torn',
    ])
  })
})
