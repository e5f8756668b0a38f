import { postgresStore, type PostgresStore } from 'entia/postgres'
import { Client } from 'pg'
import { PostgresServer } from '../test/parts/postgres/server.ts'
import { readable, type Row } from './row.ts'

const workers = 1_000
const held = 20_000
const inLine = 40_000
const tenants = 200
const claimers = 20
const room = 8
const forMs = 5_000
const listed = 100_000
const schema = 'claims'
const leaseMs = 3_600_000
const able = '{"worlds":["desk"],"tools":[],"providers":[]}'
const cap = { cap: held + inLine, tenantCap: held }

/** How many sessions a fleet of many workers, which hold many already, gives away in a second, to those that ask by 20 connections. */
export async function measure(): Promise<Row[]> {
  const server = await PostgresServer.start()
  const stores = Array.from({ length: claimers }, () =>
    postgresStore({ database: server.url(), schema, maxConnections: 1, leaseMs }),
  )
  const others = new Client(server.url())
  try {
    await others.connect()
    const [first] = stores as [PostgresStore]
    await first.enter(able)
    // The lock of a worker, which it has as long as it lives, has its schema's number.
    const { rows } = await others.query<{ readonly classid: string }>(
      `SELECT classid::bigint AS classid FROM pg_locks WHERE locktype = 'advisory'`,
    )
    await Promise.all(stores.map((store) => store.enter(able)))
    await fill(others, Number(rows[0]?.classid) | 0)
    // What was written by hand is counted by the first claim.
    await first.line.next({ ...cap, room: 0 })
    const claimed = await perSecond(stores, false)
    const turned = await perSecond(stores, true)
    await park(others)
    await others.query(
      `INSERT INTO ${schema}.snapshots SELECT id, 3, 20, 4500, ''::bytea FROM ${schema}.worlds WHERE root = name`,
    )
    await others.query(`ANALYZE`)
    const took = []
    let shown = 0
    for (let round = 0; round < 5; round++) {
      const before = performance.now()
      shown = (await first.list({ limit: 201 })).length
      took.push(performance.now() - before)
    }
    if (shown !== 201) throw new Error(`The list has ${shown} worlds.`)
    return [
      {
        name: `fleet: sessions claimed a second by ${claimers} connections, at most ${room} at once; ${workers} workers hold ${held}`,
        value: claimed,
        unit: '/s',
        limit: 1_000,
        atLeast: true,
      },
      {
        name: 'fleet: the same where each session ends at once, on the same connections',
        value: turned,
        unit: '/s',
        against: `claimed alone ${readable(claimed)}/s`,
      },
      {
        name: `fleet: the first 200 of ${listed} worlds, as \`entia worlds list\` shows them`,
        value: Math.min(...took),
        unit: 'ms',
        limit: 200,
      },
    ]
  } finally {
    await others.end()
    await Promise.all(stores.map((store) => store.close()))
    await server.stop()
  }
}

const tenantOfRow = `convert_to('tenant ' || (n % ${tenants}), 'UTF8')`

/** Root worlds that nobody holds, under the keys by which the store finds them. */
async function park(client: Client): Promise<void> {
  const key = `substr(encode(sha256(convert_to(length(name) || ':' || name || length(name) || ':' || name, 'UTF8')), 'hex'), 1, 32)::uuid`
  await client.query(
    `INSERT INTO ${schema}.worlds (place, root, name, tick, oldest, newest, busy)
     SELECT ${key}, name, name, 3, 3, 3, false FROM (SELECT 'room' || n AS name FROM generate_series(1, ${listed}) AS n) AS named`,
  )
}

/** Workers that live, as far as others can tell; sessions that they hold, and sessions in line. */
async function fill(client: Client, lockClass: number): Promise<void> {
  const statements = [
    `INSERT INTO ${schema}.workers (lease_ms, pid, host, note, can)
     SELECT ${leaseMs}, 0, 'bench', '', '${able}' FROM generate_series(1, ${workers - claimers})`,
    `SELECT pg_advisory_lock(${lockClass}, id) FROM ${schema}.workers WHERE host = 'bench'`,
    `INSERT INTO ${schema}.line (place, root, name, tenant, job, worker, slot, wants)
     SELECT gen_random_uuid(), 'desk/' || n, 'session-' || n, ${tenantOfRow}, '{}', 21 + n % ${workers - claimers}, true, false
     FROM generate_series(1, ${held}) AS n`,
    `INSERT INTO ${schema}.line (place, root, name, tenant, job)
     SELECT gen_random_uuid(), 'desk/' || n, 'waiting-' || n, ${tenantOfRow}, '{}' FROM generate_series(1, ${inLine}) AS n`,
    `INSERT INTO ${schema}.worlds (place, root, name, epoch, tick, oldest, newest, busy, worker, since)
     SELECT place, root, name, 1, 1, 0, 0, true, worker, clock_timestamp() FROM ${schema}.line`,
    'ANALYZE',
  ]
  for (const statement of statements) await client.query(statement)
}

async function perSecond(stores: readonly PostgresStore[], ends: boolean): Promise<number> {
  let claimed = 0
  const before = performance.now()
  await Promise.all(
    stores.map(async (store) => {
      while (performance.now() < before + forMs) {
        const claims = await store.line.next({ ...cap, room })
        claimed += claims.length
        if (ends) for (const claim of claims) await store.line.finish(claim)
      }
    }),
  )
  return claimed / ((performance.now() - before) / 1_000)
}
