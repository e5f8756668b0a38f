import { World } from 'entia'
import type { PostgresStore, PostgresStoreOptions, SqlClient } from 'entia/postgres'
import type { SharedJournal } from 'entia/stores'
import { describe, expect, inject, it, onTestFinished, vi } from 'vitest'
import { PostgresBoard } from '../../../src/doors/postgres/postgres-board.ts'
import { lockClassOf } from '../../../src/stores/postgres/place.ts'
import { Proxy } from './proxy.ts'
import { PostgresServer } from './server.ts'
import { newSchema, storeIn } from './stores.ts'

const atWork = { snapshot: { tick: 0, lines: ['{}'] }, isBusy: true }
const leaseMs = 1_000
const asking = { room: 10, hasSuspect: false }
const patience = { timeout: 20_000, interval: 10 }

/** A worker whose network can be cut. */
interface Remote {
  readonly proxy: Proxy
  readonly store: PostgresStore
  readonly worker: number
}

async function remote(schema: string, options: Partial<PostgresStoreOptions> = {}): Promise<Remote> {
  const proxy = await Proxy.start(options.database ?? inject('postgres'))
  onTestFinished(() => proxy.close())
  const store = storeIn(schema, { leaseMs, ...options, database: proxy.url })
  onTestFinished(() => proxy.mend())
  return { proxy, store, worker: await store.enter() }
}

/** A cut is noticed by the server after a moment. */
async function swept(store: PostgresStore, worker: number): Promise<void> {
  await vi.waitFor(async () => expect(await store.sweep()).toEqual([worker]), patience)
}

/** Five workers, each of which has held a world when it was cut off and was thought dead. */
async function robbed(store: PostgresStore, schema: string, world: string, root = world): Promise<readonly Remote[]> {
  const all: Remote[] = []
  for (let count = 0; count < 5; count++) {
    const one = await remote(schema)
    const journal = await one.store.open(world, { root })
    if ((await journal.load()) === undefined) await journal.commit(atWork)
    one.proxy.cut()
    await swept(store, one.worker)
    all.push(one)
  }
  return all
}

async function strikesOf(store: PostgresStore, schema: string, world: string): Promise<number> {
  const { rows } = await store.transaction((client) =>
    client.query(`SELECT cardinality(strikes) AS strikes FROM ${schema}.worlds WHERE name = $1`, [world]),
  )
  return Number(rows[0]?.['strikes'])
}

async function quarantineOf(store: PostgresStore, root: string): Promise<readonly (string | undefined)[]> {
  return (await store.list({ root })).map(({ quarantine }) => quarantine)
}

function boardOf(store: PostgresStore): { readonly board: PostgresBoard; readonly quarantined: string[] } {
  const quarantined: string[] = []
  const board = new PostgresBoard({
    store,
    dispatcher: store.line,
    kinds: ['desk'],
    maxSessions: 10,
    maxSessionsPerTenant: 10,
    tenantOf: (root) => root,
    quarantined: (world) => void quarantined.push(world),
  })
  return { board, quarantined }
}

describe('a restart of Postgres', { timeout: 60_000 }, () => {
  it('frees all locks, and yet no worker is dead for others that are back first, until its lease is over', async () => {
    const server = await PostgresServer.start()
    onTestFinished(() => server.stop())
    const [schema, database] = [newSchema(), server.url()]
    const { proxy, store } = await remote(schema, { database, leaseMs: 20_000 })
    const judge = storeIn(schema, { database })
    const journal = await store.open('a')
    await journal.commit(atWork)
    proxy.cut()
    await server.kill()
    await server.begin()
    expect(await judge.sweep()).toEqual([])
    expect(await judge.due(10)).toEqual([])
    await expect(judge.open('a')).rejects.toMatchObject({ code: 'world-locked' })
    expect(await strikesOf(judge, schema, 'a')).toBe(0)
    proxy.mend()
    await journal.commit({ rows: [{ tick: 1, line: 'on' }] })
  })

  it('lets a worker be dead that does not come back', async () => {
    const server = await PostgresServer.start()
    onTestFinished(() => server.stop())
    const [schema, database] = [newSchema(), server.url()]
    const { proxy, store, worker } = await remote(schema, { database })
    const judge = storeIn(schema, { database })
    await (await store.open('a')).commit(atWork)
    proxy.cut()
    await server.kill()
    await server.begin()
    await swept(judge, worker)
    expect(await judge.due(10)).toMatchObject([{ name: 'a', strikes: 1 }])
  })
})

describe('a worker that was thought dead', { timeout: 60_000 }, () => {
  it('takes the strike of its world back once it is heard of again', async () => {
    const schema = newSchema()
    const judge = storeIn(schema)
    const { proxy, store, worker } = await remote(schema)
    const journal = await store.open('a')
    await journal.commit(atWork)
    proxy.cut()
    await swept(judge, worker)
    expect(await strikesOf(judge, schema, 'a')).toBe(1)
    proxy.mend()
    await vi.waitFor(async () => expect(await strikesOf(judge, schema, 'a')).toBe(0), patience)
    await journal.commit({ rows: [{ tick: 1, line: 'nobody has it meanwhile' }] })
  })

  it('takes it back too where another has the world by then, and not those of others', async () => {
    const schema = newSchema()
    const judge = storeIn(schema)
    const [first, second] = [await remote(schema), await remote(schema)]
    for (const { proxy, store, worker } of [first, second]) {
      const journal = await store.open('a')
      if ((await journal.load()) === undefined) await journal.commit(atWork)
      proxy.cut()
      await swept(judge, worker)
    }
    await judge.open('a')
    expect(await strikesOf(judge, schema, 'a')).toBe(2)
    first.proxy.mend()
    await vi.waitFor(async () => expect(await strikesOf(judge, schema, 'a')).toBe(1), patience)
    expect((await judge.workers()).map(({ id }) => id)).not.toContain(second.worker)
  })

  it('tries soon again to get its lock where somebody asks for it at that moment', async () => {
    const schema = newSchema()
    const judge = storeIn(schema)
    const { proxy, worker } = await remote(schema, { leaseMs: 60_000 })
    const isAlive = async () => (await judge.workers()).find(({ id }) => id === worker)?.isAlive
    await judge.transaction(async (client) => {
      const seen = async () =>
        (await client.query(`SELECT seen::text FROM ${schema}.workers WHERE id = $1`, [worker])).rows[0]?.['seen']
      const before = await seen()
      const lockClass = lockClassOf(schema)
      proxy.cut()
      await vi.waitFor(async () => expect(await isAsked(client, lockClass, worker)).toBe(true), patience)
      proxy.mend()
      await vi.waitFor(async () => expect(await seen()).not.toBe(before), patience)
    })
    // Its next beat would be after 12 s.
    await vi.waitFor(async () => expect(await isAlive()).toBe(true), { timeout: 6_000, interval: 10 })
  })
})

async function isAsked(client: SqlClient, lockClass: number, worker: number): Promise<boolean> {
  const { rows } = await client.query('SELECT pg_try_advisory_xact_lock_shared($1, $2) AS has', [lockClass, worker])
  return rows[0]?.['has'] === true
}

describe('a root world that five workers were cut off from', { timeout: 120_000 }, () => {
  it('is driven by nobody until it is certain that they are dead, and then it is in quarantine', async () => {
    const schema = newSchema()
    const judge = storeIn(schema, { leaseMs: 60_000 })
    await robbed(judge, schema, 'desk')
    const early = boardOf(judge)
    expect(await early.board.due(asking, [])).toEqual([])
    expect(early.quarantined).toEqual([])
    const late = boardOf(storeIn(schema, { leaseMs }))
    await vi.waitFor(async () => {
      expect(await late.board.due(asking, [])).toEqual([])
      expect(late.quarantined).toEqual(['desk'])
    }, patience)
    expect(await quarantineOf(judge, 'desk')).toEqual(['5 workers in a row have died while they held it'])
  })

  it('is driven again once one of them is back', async () => {
    const schema = newSchema()
    const judge = storeIn(schema, { leaseMs: 60_000 })
    const [first] = await robbed(judge, schema, 'desk')
    const { board, quarantined } = boardOf(judge)
    expect(await board.due(asking, [])).toEqual([])
    first?.proxy.mend()
    await vi.waitFor(async () => expect(await board.due(asking, [])).toMatchObject([{ name: 'desk' }]), patience)
    expect(quarantined).toEqual([])
  })

  it('is in no quarantine where another drives it and closes it in order at the same moment', async () => {
    const schema = newSchema()
    const judge = storeIn(schema, { leaseMs })
    await robbed(judge, schema, 'desk')
    const stale = await vi.waitFor(async () => {
      const due = await judge.due(10)
      expect(due).toMatchObject([{ name: 'desk', strikes: 5 }])
      return due
    }, patience)
    const other = storeIn(schema)
    let journal: SharedJournal | undefined
    const { board, quarantined } = boardOf(judge)
    // What the board reads is over by the time that it acts on it: another has opened the world, then closed it.
    vi.spyOn(judge, 'due').mockImplementation(async () => {
      if (journal === undefined) journal = await other.open('desk')
      else await journal.close()
      return stale
    })
    for (let count = 0; count < 2; count++) {
      expect(await board.due(asking, [])).toEqual([])
      expect(quarantined).toEqual([])
      expect(await quarantineOf(judge, 'desk')).toEqual([undefined])
    }
    expect(await strikesOf(judge, schema, 'desk')).toBe(0)
  })
})

describe('a session that five workers were cut off from', { timeout: 120_000 }, () => {
  it('has not failed for its parent, and is given to a worker once they are back', async () => {
    const schema = newSchema()
    const judge = storeIn(schema, { leaseMs: 60_000 })
    const { board, quarantined } = boardOf(judge)
    const order = { root: 'desk', sessionId: 'one', parent: 'desk', path: ['one'] }
    const parent = await judge.open('desk')
    await board.launch(order, new World({ name: 'one' }), parent.epoch)
    await parent.close()
    const all = await robbed(judge, schema, 'one', 'desk')
    expect(await board.next(asking)).toEqual([])
    expect(quarantined).toEqual([])
    for (const { proxy } of all) proxy.mend()
    await vi.waitFor(async () => expect(await strikesOf(judge, schema, 'one')).toBe(0), patience)
    const claim = await vi.waitFor(async () => {
      const [next] = await board.next(asking)
      expect(next).toBeDefined()
      return next
    }, patience)
    expect(claim).toMatchObject({ order: { sessionId: 'one' }, isRecovered: false })
    expect(await (await judge.open('desk')).letters()).toEqual([])
  })
})

describe('a session that five workers have died of', { timeout: 120_000 }, () => {
  it('is given up with all below it, which would wait for it, and whoever has these launches none', async () => {
    const schema = newSchema()
    const judge = storeIn(schema, { leaseMs })
    const { board, quarantined } = boardOf(judge)
    const epochs: Record<string, number> = {}
    for (const path of [['one'], ['other'], ['one', 'two']]) {
      const [parent = 'desk', sessionId = parent] = path
      const [above, place] = path.length === 1 ? ['desk', { root: 'desk' }] : [parent, { root: 'desk', seize: true }]
      const held = await judge.open(above, place)
      epochs[above] = held.epoch
      await board.launch({ root: 'desk', sessionId, parent: above, path }, new World({ name: sessionId }), held.epoch)
      await held.close()
    }
    const two = await judge.open('two', { root: 'desk' })
    await robbed(judge, schema, 'one', 'desk')
    await vi.waitFor(async () => {
      await board.next(asking)
      expect(quarantined).toEqual(['one'])
    }, patience)
    expect((await judge.line.list()).map(({ world }) => world)).toEqual(['other'])
    expect(await (await judge.open('desk')).letters()).toHaveLength(1)
    const below = { root: 'desk', sessionId: 'three', parent: 'two', path: ['one', 'two', 'three'] }
    await expect(board.launch(below, new World({ name: 'three' }), two.epoch)).rejects.toMatchObject({
      code: 'world-fenced',
    })
  })
})

describe('a session', () => {
  const order = { root: 'desk', sessionId: 'one', parent: 'desk', path: ['one'] }
  const one = () => new World({ name: 'one' })

  it('is not launched by a process that its parent was taken from, also where it was withdrawn meanwhile', async () => {
    const schema = newSchema()
    const [first, second] = [boardOf(storeIn(schema)), boardOf(storeIn(schema))]
    const [slow, quick] = [storeIn(schema), storeIn(schema)]
    const before = await slow.open('desk')
    await first.board.launch(order, one(), before.epoch)
    const after = await quick.open('desk', { seize: true })
    await second.board.launch(order, one(), after.epoch)
    expect(await second.board.withdraw(order)).toBe(true)
    await expect(first.board.launch(order, one(), before.epoch)).rejects.toMatchObject({
      code: 'world-fenced',
      details: { world: 'desk', epoch: before.epoch },
    })
    expect(await quick.line.list()).toEqual([])
    expect(await quick.read('one', { root: 'desk' })).toBeUndefined()
  })

  it('that is being launched keeps its parent from being taken until it is there', async () => {
    const schema = newSchema()
    const [slow, quick] = [storeIn(schema), storeIn(schema)]
    const { epoch } = await slow.open('desk')
    const waits = `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%${schema}%'`
    const taken = await slow.transaction(async (client) => {
      await slow.place({ world: 'one', root: 'desk', tick: 0, lines: ['{}'] }, client, { world: 'desk', epoch })
      const taking = quick.open('desk', { seize: true })
      await vi.waitFor(async () => {
        const { rows } = await quick.transaction((other) => other.query(waits))
        expect(rows).toHaveLength(1)
      }, patience)
      return { taking }
    })
    expect((await taken.taking).epoch).toBe(epoch + 1)
  })
})

describe('a world of a dead worker', { timeout: 60_000 }, () => {
  it('that is locked while the worker is swept is freed by a later sweep', async () => {
    const schema = newSchema()
    const [judge, other] = [storeIn(schema), storeIn(schema)]
    const { proxy, store, worker } = await remote(schema)
    await (await store.open('a')).commit(atWork)
    proxy.cut()
    await other.transaction(async (client) => {
      await client.query(`SELECT FROM ${schema}.worlds WHERE name = 'a' FOR UPDATE`)
      const isAlive = async () => (await judge.workers()).find(({ id }) => id === worker)?.isAlive
      await vi.waitFor(async () => expect(await isAlive()).toBe(false), patience)
      // It stays in the list, and so the next sweep finds what it holds.
      expect(await judge.sweep()).toEqual([])
    })
    expect(await judge.sweep()).toEqual([worker])
    expect(await judge.due(10)).toMatchObject([{ name: 'a', strikes: 1 }])
  })
})
