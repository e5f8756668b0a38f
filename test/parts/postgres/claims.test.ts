import type { SessionClaim, PostgresStore, SqlRow } from 'entia/postgres'
import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { PostgresBoard } from '../../../src/doors/postgres/postgres-board.ts'
import { newSchema, storeIn } from './stores.ts'

const able = JSON.stringify({ worlds: ['desk'], tools: [], providers: [] })
const patience = { timeout: 20_000, interval: 10 }

async function enter(store: PostgresStore, world: string, tenant = ''): Promise<void> {
  await store.line.launch({ world, root: 'desk', tick: 0, lines: ['{}'], tenant, job: '{}' })
}

async function asked(store: PostgresStore, ...texts: readonly string[]): Promise<readonly SqlRow[]> {
  return store.transaction(async (client) => {
    let rows: readonly SqlRow[] = []
    for (const text of texts) rows = (await client.query(text)).rows
    return rows
  })
}

/** Calls listeners at what each of these hears of the line, once all of them listen. */
async function listening(stores: readonly PostgresStore[], hear: (at: number) => void): Promise<void> {
  let isReady = false
  const heard = new Set<number>()
  for (const [at, store] of stores.entries()) store.line.on(() => (isReady ? hear(at) : heard.add(at)))
  const [first] = stores as [PostgresStore]
  // News come in order: with the newest of these all before it have come.
  await vi.waitFor(async () => {
    heard.clear()
    await first.transaction((client) => first.sessions.tell(client))
    await vi.waitFor(() => expect(heard.size).toBe(stores.length), { timeout: 1_000, interval: 10 })
  }, patience)
  isReady = true
}

/** What the counts say, and what they should. */
async function counts(store: PostgresStore, schema: string) {
  // Brings them up to date.
  await store.line.next({ cap: 0, room: 0 })
  const [kept] = await asked(
    store,
    `SELECT slots, waiting, (SELECT json_object_agg(encode(tenant, 'escape'), ARRAY[slots, waiting])
      FROM ${schema}.tenants WHERE slots > 0 OR waiting > 0) AS tenants FROM ${schema}.line_totals`,
  )
  const waits = 'count(*) FILTER (WHERE wants AND worker IS NULL)::integer'
  const slots = 'count(*) FILTER (WHERE slot)::integer'
  const [there] = await asked(
    store,
    `SELECT ${slots} AS slots, ${waits} AS waiting, (SELECT json_object_agg(encode(tenant, 'escape'), of) FROM (
        SELECT tenant, ARRAY[${slots}, ${waits}] AS of FROM ${schema}.line GROUP BY tenant
        HAVING ${slots} > 0 OR ${waits} > 0) AS each) AS tenants FROM ${schema}.line`,
  )
  return { kept, there }
}

describe('the counts of a line', { timeout: 60_000 }, () => {
  it('are what is there, whatever happens to its sessions', async () => {
    const schema = newSchema()
    const [store, dying] = [storeIn(schema), storeIn(schema)]
    await store.enter()
    await dying.enter()
    const act = fc.record({
      what: fc.constantFrom('enter', 'next', 'give back', 'want', 'put back', 'rest', 'finish', 'withdraw', 'remove'),
      which: fc.nat(),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(act, { maxLength: 25 }), async (acts) => {
        await asked(store, `TRUNCATE ${schema}.line, ${schema}.worlds`)
        const claims: SessionClaim[] = []
        let entered = 0
        for (const { what, which } of acts) {
          const claim = claims[which % Math.max(1, claims.length)]
          if (what === 'enter') await enter(store, `s${entered++}`, ['a', 'b', 'c'][which % 3])
          else if (what === 'next')
            claims.push(...(await store.line.next({ cap: 4, tenantCap: 2, room: 1 + (which % 3) })))
          else if (what === 'withdraw') await store.line.withdraw(`s${which % Math.max(1, entered)}`, 'desk')
          else if (what === 'remove') await store.line.remove([`s${which % Math.max(1, entered)}`], 'desk')
          else if (claim !== undefined && what === 'give back') await store.line.giveBack(claim)
          else if (claim !== undefined && what === 'want') await store.line.wantSlot(claim)
          else if (claim !== undefined && what === 'put back') await store.line.putBack(claim)
          else if (claim !== undefined && what === 'rest') await store.line.rest(claim)
          else if (claim !== undefined && what === 'finish') await store.line.finish(claim)
        }
        const { kept, there } = await counts(store, schema)
        expect(kept).toEqual(there)
      }),
      { numRuns: 30 },
    )
  })

  it('go down with a worker that dies, and its tenants are forgotten once they have nothing', async () => {
    const schema = newSchema()
    const [store, dying] = [storeIn(schema), storeIn(schema)]
    await store.enter()
    for (const tenant of ['a', 'b']) await enter(store, `of ${tenant}`, tenant)
    expect(await dying.line.next({ cap: 5, room: 5 })).toHaveLength(2)
    await dying.close()
    await vi.waitFor(async () => expect(await store.sweep()).toHaveLength(1), patience)
    const { kept, there } = await counts(store, schema)
    expect(kept).toEqual(there)
    expect(kept).toMatchObject({ slots: 0, waiting: 2 })
    for (const claim of await store.line.next({ cap: 5, room: 5 })) await store.line.finish(claim)
    await counts(store, schema)
    await store.sweep()
    expect(await asked(store, `SELECT FROM ${schema}.tenants`)).toEqual([])
  })

  it('never let more sessions have a slot than the cap, nor of one tenant, however many ask at once', async () => {
    const schema = newSchema()
    const stores = Array.from({ length: 6 }, () => storeIn(schema))
    const [first] = stores as [PostgresStore]
    for (let each = 0; each < 30; each++) await enter(first, `s${each}`, each < 20 ? 'many' : 'few')
    const asking = { cap: 8, tenantCap: 5, room: 3 }
    const given = await Promise.all(stores.map((store) => store.line.next(asking)))
    const claims = given.flat()
    expect(claims).toHaveLength(8)
    expect(claims.filter(({ world }) => Number(world.slice(1)) < 20).length).toBeLessThanOrEqual(5)
    expect(new Set(claims.map(({ world }) => world)).size).toBe(8)
  })
})

describe('a claim', { timeout: 60_000 }, () => {
  it('reads what it gives, and not all that is held, in line, or alive', async () => {
    const schema = newSchema()
    // One connection does all, so that what it has read before can be taken off its count.
    const store = storeIn(schema, { maxConnections: 1 })
    const me = await store.enter(able)
    const rows = (from: number, to: number, of: string) =>
      `INSERT INTO ${schema}.line (place, root, name, tenant, job, worker, slot, wants)
       SELECT gen_random_uuid(), 'desk', 's' || n, convert_to('t' || n % 50, 'UTF8'), '{}', ${of} FROM generate_series(${from}, ${to}) AS n`
    await asked(
      store,
      `INSERT INTO ${schema}.workers (lease_ms, pid, host, note, can)
       SELECT 3600000, 0, '', '', '{}' FROM generate_series(1, 200)`,
      rows(1, 2_000, '1000 + n % 200, true, false'),
      rows(2_001, 4_000, 'NULL, false, true'),
    )
    // Counts what was entered.
    await store.line.next({ cap: 5_000, room: 0 })
    await asked(store, 'SELECT pg_stat_force_next_flush()')
    const [read] = await asked(
      store,
      `SELECT count(*) FROM ${schema}.next_sessions(${me}, 5000, 5000, 8, 0, 0, 1, 'nobody')`,
      `SELECT sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::integer AS rows FROM pg_stat_xact_user_tables
       WHERE schemaname = '${schema}'`,
    )
    expect(await asked(store, `SELECT FROM ${schema}.line WHERE worker = ${me}`)).toHaveLength(8)
    expect(Number(read?.['rows'])).toBeLessThan(400)
  })

  it('is asked for by one worker a place: one that waits is woken, and the others sleep on', async () => {
    const schema = newSchema()
    const workers = Array.from({ length: 4 }, () => storeIn(schema))
    const [launching] = workers as [PostgresStore]
    const heard: number[] = []
    for (const store of workers) await store.enter(able)
    await listening(workers, (at) => heard.push(at))
    // All have room, and find nothing.
    for (const store of workers) expect(await store.line.next({ cap: 9, room: 5 })).toEqual([])
    await enter(launching, 'one')
    await vi.waitFor(() => expect(heard).toHaveLength(1), patience)
    await enter(launching, 'two')
    await vi.waitFor(() => expect(new Set(heard).size).toBe(2), patience)
    // A notification more would have come by now: they come in order.
    await enter(launching, 'three')
    await vi.waitFor(() => expect(new Set(heard).size).toBe(3), patience)
    expect(heard).toHaveLength(3)
  })

  it('is asked for by the worker whose session gets its slot again', async () => {
    const schema = newSchema()
    const [one, two] = [storeIn(schema), storeIn(schema)]
    for (const world of ['s1', 's2']) await enter(one, world)
    const [first] = await one.line.next({ cap: 1, room: 1 })
    if (first === undefined) throw new Error('It was given none.')
    await one.line.giveBack(first)
    const [second] = await two.line.next({ cap: 1, room: 1 })
    if (second === undefined) throw new Error('It was given none.')
    const heard: number[] = []
    await listening([one, two], (at) => heard.push(at))
    await one.line.wantSlot(first)
    // What it has changed itself it hears at once.
    heard.splice(0)
    await two.line.finish(second)
    await two.line.next({ cap: 1, room: 1 })
    await vi.waitFor(() => expect(heard).toContain(0), patience)
    expect(await one.line.hasSlot(first)).toBe(true)
  })
})

describe('what dead workers held', { timeout: 60_000 }, () => {
  it('is looked for by the two oldest workers that live, and by the next one when one of them has died', async () => {
    const schema = newSchema()
    const swept = new Set<number>()
    const workers: { readonly store: PostgresStore; readonly board: PostgresBoard }[] = []
    for (let at = 0; at < 4; at++) {
      const store = storeIn(schema)
      await store.enter(able)
      const board = new PostgresBoard({
        store,
        dispatcher: store.line,
        kinds: ['desk'],
        maxSessions: 10,
        maxSessionsPerTenant: 10,
        tenantOf: () => '',
        quarantined: () => undefined,
      })
      workers.push({ store, board })
    }
    for (const [at, { board, store }] of workers.entries()) {
      const sweep = store.sweep.bind(store)
      vi.spyOn(store, 'sweep').mockImplementation(() => {
        swept.add(at)
        return sweep()
      })
      // Something is held, so that a worker may have died with it.
      await (await store.open(`desk/${at}`)).commit({ snapshot: { tick: 0, lines: ['{}'] } })
      await board.state()
    }
    const ends = workers.map(({ board }) => board.onWork(() => undefined))
    await vi.waitFor(() => expect(swept).toEqual(new Set([0, 1])), patience)
    ends[0]?.()
    await workers[0]?.store.close()
    await vi.waitFor(async () => {
      for (const { board } of workers.slice(1)) await board.state()
      expect(swept).toEqual(new Set([0, 1, 2]))
    }, patience)
    for (const end of ends) end()
  })

  it('is looked for once by a younger worker too, where one is gone and the oldest hang', async () => {
    const schema = newSchema()
    const [oldest, second, third, gone] = Array.from({ length: 4 }, () => storeIn(schema)) as [
      PostgresStore,
      PostgresStore,
      PostgresStore,
      PostgresStore,
    ]
    for (const store of [oldest, second, third, gone]) await store.enter(able)
    const board = new PostgresBoard({
      store: third,
      dispatcher: third.line,
      kinds: ['desk'],
      maxSessions: 10,
      maxSessionsPerTenant: 10,
      tenantOf: () => '',
      quarantined: () => undefined,
    })
    await (await gone.open('desk/1')).commit({ snapshot: { tick: 0, lines: ['{}'] }, isBusy: true })
    await board.state()
    const sweep = vi.spyOn(third, 'sweep')
    await gone.close()
    await vi.waitFor(async () => {
      await board.state()
      expect(sweep).toHaveBeenCalledOnce()
    }, patience)
  })
})
