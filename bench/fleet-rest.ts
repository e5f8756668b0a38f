import { setTimeout } from 'node:timers/promises'
import { Client } from 'pg'
import { PostgresServer } from '../test/parts/postgres/server.ts'
import { fleetOf, runSessions } from './fleet-load.ts'
import { readable, type Row } from './row.ts'

const workers = 4
const forMs = 20_000

/** What workers ask of Postgres while there is nothing to do. */
export async function measure(): Promise<Row[]> {
  const server = await PostgresServer.start()
  const fleets = Array.from({ length: workers }, () =>
    fleetOf({ database: server.url(), schema: 'rest', maxSessions: 50 }),
  )
  const client = new Client(server.url('template1'))
  try {
    await client.connect()
    const [first] = fleets as [(typeof fleets)[0]]
    for (const fleet of fleets) await fleet.work()
    await runSessions((name) => first.agent(name), ['desk/1', 'desk/2'])
    while ((await first.store.list()).some(({ heldBy }) => heldBy !== undefined)) await setTimeout(100)
    // The one that asked says no more.
    await setTimeout(3_000)
    const before = await transactions(client)
    const beganAt = performance.now()
    await setTimeout(forMs)
    const rate = ((await transactions(client)) - before) / ((performance.now() - beganAt) / 1_000)
    return [
      {
        name: `fleet: transactions a second of a worker at rest, of ${workers}`,
        value: rate / workers,
        unit: '/s',
        limit: 1,
        against: `all of them ${readable(rate)}/s`,
      },
    ]
  } finally {
    await client.end()
    await Promise.all(fleets.map((fleet) => fleet.close()))
    await server.stop()
  }
}

async function transactions(client: Client): Promise<number> {
  const { rows } = await client.query<{ readonly count: string }>(
    `SELECT xact_commit + xact_rollback AS count FROM pg_stat_database WHERE datname = 'postgres'`,
  )
  return Number(rows[0]?.count)
}
