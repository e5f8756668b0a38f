import { World } from 'entia'
import type { SessionClaim, PostgresStore } from 'entia/postgres'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { PostgresBoard } from '../../../src/doors/postgres/postgres-board.ts'
import { encodeName } from '../../../src/stores/file-name.ts'
import { newSchema, storeIn } from './stores.ts'

const names = (claims: readonly { readonly world: string }[]): readonly string[] => claims.map(({ world }) => world)

async function enter(store: PostgresStore, sessions: readonly { readonly world: string; readonly tenant?: string }[]) {
  for (const { tenant = '', world } of sessions)
    await store.line.launch({ world, root: 'desk', tick: 0, lines: ['{}'], tenant, job: '{}' })
}

const numbered = (count: number) => Array.from({ length: count }, (_, number) => ({ world: `s${number}` }))

describe('a line of sessions', { timeout: 60_000 }, () => {
  it('gives a worker as many at once as it has room for and slots are free, first come first', async () => {
    const store = storeIn(newSchema())
    await enter(store, numbered(9))
    expect(names(await store.line.next({ cap: 6, room: 4 })).toSorted()).toEqual(['s0', 's1', 's2', 's3'])
    expect(names(await store.line.next({ cap: 6, room: 0 }))).toEqual([])
    expect(names(await store.line.next({ cap: 6, room: 4 })).toSorted()).toEqual(['s4', 's5'])
    expect(names(await store.line.next({ cap: 6, room: 4 }))).toEqual([])
  })

  it('gives a worker its share alone where another one drives sessions, too', async () => {
    const schema = newSchema()
    const [one, two] = [storeIn(schema), storeIn(schema)]
    await Promise.all([one.enter('{}'), two.enter('{}')])
    await enter(one, numbered(10))
    expect(names(await one.line.next({ cap: 50, room: 20 }))).toHaveLength(5)
    expect(names(await two.line.next({ cap: 50, room: 20 }))).toHaveLength(3)
    expect(names(await two.line.next({ cap: 50, room: 20 }))).toHaveLength(1)
    expect(names(await one.line.next({ cap: 50, room: 20 }))).toHaveLength(1)
  })

  it('gives sessions that only wait besides, without slots and where there is no room', async () => {
    const store = storeIn(newSchema())
    await enter(store, numbered(5))
    const claims = await store.line.next({ cap: 5, room: 3 })
    for (const claim of claims) {
      await store.line.giveBack(claim)
      await store.line.putBack(claim)
    }
    const waiting = await store.line.next({ cap: 5, room: 0 })
    expect(names(waiting).toSorted()).toEqual(['s0', 's1', 's2'])
    expect(waiting.some(({ hasSlot }) => hasSlot)).toBe(false)
    expect(names(await store.line.next({ cap: 1, room: 3 }))).toEqual(['s3'])
  })

  it('gives the same sessions at once as it gives one after the other, over tenants and those that come back', async () => {
    const line = fc.record({
      sessions: fc.array(fc.record({ tenant: fc.constantFrom('a', 'b', 'c'), isBack: fc.boolean() }), {
        maxLength: 14,
      }),
      cap: fc.integer({ min: 1, max: 10 }),
      tenantCap: fc.integer({ min: 1, max: 5 }),
      held: fc.integer({ min: 0, max: 4 }),
      room: fc.integer({ min: 1, max: 12 }),
    })
    const schema = newSchema()
    const store = storeIn(schema)
    await store.enter()
    await fc.assert(
      fc.asyncProperty(line, async ({ cap, held, room, sessions, tenantCap }) => {
        await store.transaction((client) => client.query(`TRUNCATE ${schema}.line, ${schema}.worlds`))
        await enter(
          store,
          sessions.map(({ tenant }, at) => ({ world: `s${at}`, tenant })),
        )
        const all = await store.line.next({ cap: 100, room: 100 })
        for (const claim of all)
          if (sessions[Number(claim.world.slice(1))]?.isBack === true) await store.line.putBack(claim)
        // The others have never had a slot.
        await store.transaction((client) =>
          client.query(`UPDATE ${schema}.line SET worker = NULL, slot = false, wants = true WHERE worker IS NOT NULL`),
        )
        await store.line.next({ cap, tenantCap, room: held })
        const before = await stateOf(store, schema)
        const single: SessionClaim[] = []
        while (single.length < room) {
          const [claim] = await store.line.next({ cap, tenantCap, room: 1 })
          if (claim === undefined) break
          single.push(claim)
        }
        await setState(store, schema, before)
        expect(names(await store.line.next({ cap, tenantCap, room })).toSorted()).toEqual(names(single).toSorted())
      }),
      { numRuns: 50 },
    )
  })

  it('gives none to a worker that is thought dead, until it is heard of again', async () => {
    const schema = newSchema()
    const [store, other] = [storeIn(schema, { leaseMs: 60_000 }), storeIn(schema)]
    const worker = await store.enter()
    await enter(store, numbered(2))
    const hasLease = (leaseMs: number) =>
      other.transaction((client) =>
        client.query(`UPDATE ${schema}.workers SET lease_ms = $1 WHERE id = $2`, [leaseMs, worker]),
      )
    await hasLease(0)
    expect(await store.line.next({ cap: 5, room: 1 })).toEqual([])
    await hasLease(60_000)
    expect(await store.line.next({ cap: 5, room: 1 })).toHaveLength(1)
    await other.transaction((client) => client.query(`DELETE FROM ${schema}.workers WHERE id = $1`, [worker]))
    expect(await store.line.next({ cap: 5, room: 1 })).toEqual([])
    // What it had is in line again once another has swept.
    expect(names(await other.line.next({ cap: 5, room: 5 }))).toEqual(['s1'])
    await other.sweep()
    expect(names(await other.line.next({ cap: 5, room: 5 }))).toEqual(['s0'])
  })
})

interface Kept {
  readonly place: unknown
  readonly worker: unknown
  readonly slot: unknown
  readonly wants: unknown
}

async function stateOf(store: PostgresStore, schema: string): Promise<readonly Kept[]> {
  const { rows } = await store.transaction((client) =>
    client.query(`SELECT place, worker, slot, wants FROM ${schema}.line`),
  )
  return rows as unknown as readonly Kept[]
}

async function setState(store: PostgresStore, schema: string, rows: readonly Kept[]): Promise<void> {
  await store.transaction(async (client) => {
    for (const { place, slot, wants, worker } of rows)
      await client.query(`UPDATE ${schema}.line SET worker = $2, slot = $3, wants = $4 WHERE place = $1`, [
        place,
        worker,
        slot,
        wants,
      ])
  })
}

/** So many workers have died while they held a world, the last one an hour ago. */
async function diedWith(store: PostgresStore, schema: string, name: string, count: number): Promise<void> {
  const dead = Array.from({ length: count }, (_, each) => 1_000 + each)
  await store.transaction((client) =>
    client.query(
      `UPDATE ${schema}.worlds SET strikes = $2, since = clock_timestamp() - interval '1 hour' WHERE name = $1`,
      [encodeName(name), dead],
    ),
  )
}

function boardOver(store: PostgresStore): PostgresBoard {
  return new PostgresBoard({
    store,
    dispatcher: store.line,
    kinds: ['desk'],
    maxSessions: 10,
    maxSessionsPerTenant: 10,
    tenantOf: () => '',
    quarantined: () => undefined,
  })
}

async function launch(board: PostgresBoard, store: PostgresStore, sessionId: string): Promise<void> {
  const parent = await store.open('desk')
  const order = { root: 'desk', sessionId, parent: 'desk', path: [sessionId] }
  await board.launch(order, new World({ name: sessionId }), parent.epoch)
  await parent.close()
}

/** The board of a worker, and sessions and worlds that so many workers in a row have died with. */
async function boardWith(strikes: Readonly<Record<string, number>>) {
  const schema = newSchema()
  const store = storeIn(schema)
  const board = boardOver(store)
  for (const [name, count] of Object.entries(strikes)) {
    if (name.startsWith('desk')) {
      const journal = await store.open(name)
      await journal.commit({ snapshot: { tick: 0, lines: ['{}'] }, isBusy: true })
      await journal.close({ wakeAtMs: 0 })
    } else {
      await launch(board, store, name)
    }
    await diedWith(store, schema, name, count)
  }
  const sessions = async (hasSuspect: boolean): Promise<readonly string[]> =>
    (await board.next({ room: 10, hasSuspect })).map(
      ({ isSuspect, order }) => `${order.sessionId}${isSuspect === true ? '!' : ''}`,
    )
  const due = async (hasSuspect: boolean): Promise<readonly string[]> =>
    (await board.due({ room: 10, hasSuspect }, [])).map(
      ({ isSuspect, name }) => `${name}${isSuspect === true ? '!' : ''}`,
    )
  return { sessions, due }
}

describe('a world that two workers in a row have died with', { timeout: 60_000 }, () => {
  it('is given to a worker with others, but with no second one of its kind', async () => {
    const { sessions } = await boardWith({ a: 2, b: 1, c: 4, d: 0 })
    const given: string[] = []
    for (
      let next = await sessions(false);
      next.length > 0;
      next = await sessions(given.some((each) => each.endsWith('!')))
    ) {
      given.push(...next)
    }
    expect(given.toSorted()).toEqual(['a!', 'b', 'd'])
    // A worker that has none.
    expect(await sessions(false)).toEqual(['c!'])
  })

  it('is not due for a worker that holds one of its kind, and alone among them for others', async () => {
    const { due } = await boardWith({ 'desk/a': 2, 'desk/b': 0, 'desk/c': 3, 'desk/d': 1 })
    expect((await due(true)).toSorted()).toEqual(['desk/b', 'desk/d'])
    expect(await due(false)).toHaveLength(3)
    expect((await due(false)).filter((name) => name.endsWith('!'))).toHaveLength(1)
  })
})

describe('a session that is driven no more', { timeout: 60_000 }, () => {
  it('gets no letters that wait for ever: what is told to it is removed as what is told to one that has ended', async () => {
    const schema = newSchema()
    const store = storeIn(schema)
    const board = boardOver(store)
    await launch(board, store, 'a')
    await diedWith(store, schema, 'a', 5)
    await board.next({ room: 10, hasSuspect: false })
    await store.post({ world: 'a', root: 'desk', line: '{}' })
    await store.transaction((client) =>
      client.query(`UPDATE ${schema}.mail SET at = at - interval '1 hour' WHERE name = 'a'`),
    )
    await store.sweep()
    expect((await store.list()).find(({ name }) => name === 'a')).not.toHaveProperty('letters')
  })
})

describe('the Worlds of sessions, for a queue that is kept elsewhere', { timeout: 60_000 }, () => {
  it('are due with a letter or past their instant, and not while a worker holds them or where they are quarantined', async () => {
    const store = storeIn(newSchema())
    await enter(store, numbered(5))
    const due = async (): Promise<readonly string[]> =>
      names(await store.transaction((client) => store.sessions.due(client))).toSorted()
    expect(await due()).toEqual([])
    for (const world of ['s0', 's1', 's2']) await store.post({ world, root: 'desk', line: '{}' })
    await (await store.open('s3', { root: 'desk' })).close({ wakeAtMs: 0 })
    expect(await due()).toEqual(['s0', 's1', 's2', 's3'])
    const journal = await store.open('s1', { root: 'desk' })
    await store.hold('s2', { root: 'desk', reason: 'deadly' })
    expect(await due()).toEqual(['s0', 's3'])
    await journal.close()
  })

  it('keep letters that are hours old, until it is said that they have ended', async () => {
    const schema = newSchema()
    const store = storeIn(schema)
    await enter(store, numbered(2))
    for (const world of ['s0', 's1']) {
      await (await store.open(world, { root: 'desk' })).close()
      await store.post({ world, root: 'desk', line: '{}' })
    }
    await store.transaction(async (client) => {
      await client.query(`DELETE FROM ${schema}.line`)
      await client.query(`UPDATE ${schema}.mail SET at = at - interval '3 hours'`)
      await store.sessions.ended([{ world: 's0', root: 'desk' }], client)
    })
    await store.sweep({ isQueueElsewhere: true })
    expect((await store.totals()).lettersWaiting).toBe(1)
    await store.sweep()
    expect((await store.totals()).lettersWaiting).toBe(0)
  })

  it('name the workers that are alive of some, and how many drive worlds', async () => {
    const schema = newSchema()
    const [one, two] = [storeIn(schema), storeIn(schema)]
    const ids = [await one.enter('{}'), await two.enter('{}')]
    const living = () => one.transaction((client) => one.sessions.living([...ids, 4711], client))
    expect(await living()).toEqual({ ids: new Set(ids), drivers: 2 })
    await two.close()
    await expect.poll(living).toEqual({ ids: new Set([ids[0]]), drivers: 2 })
    await one.sweep()
    expect(await living()).toEqual({ ids: new Set([ids[0]]), drivers: 1 })
  })

  it('are removed with their letters unless they were opened, and tell how many workers in a row have died with them', async () => {
    const schema = newSchema()
    const store = storeIn(schema)
    await enter(store, numbered(3))
    await store.post({ world: 's0', root: 'desk', line: '{}' })
    await (await store.open('s1', { root: 'desk' })).close()
    await diedWith(store, schema, 's2', 3)
    const removed = (world: string) => store.transaction((client) => store.sessions.remove(world, 'desk', client))
    expect([await removed('s0'), await removed('s0'), await removed('s1')]).toEqual([true, false, false])
    expect((await store.list()).map(({ name }) => name)).toEqual(['s1', 's2'])
    const worlds = ['s0', 's1', 's2'].map((world) => ({ world, root: 'desk' }))
    expect(await store.transaction((client) => store.sessions.strikes(worlds, client))).toEqual([0, 0, 3])
  })
})
