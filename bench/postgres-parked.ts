import { agent, type Message, standardSystems, World } from 'entia'
import { defineFleet, type Fleet } from 'entia/postgres'
import { PostgresServer } from '../test/parts/postgres/server.ts'
import { fakeModel, provider } from './bare-loop.ts'
import { median } from './measure.ts'
import { readable, type Row } from './row.ts'

/** How many worlds are parked. `PARKED_WORLDS=1000000` fills 2.5 GB. */
const parked = Number(process.env['PARKED_WORLDS'] ?? 100_000)
const woken = 200
const warmUp = 20
/** What five turns leave that call a tool each. */
const messages = 20
const wordsPerMessage = 30

/** Worlds that wait in Postgres: what each takes, and how soon one answers. */
export async function measure(): Promise<Row[]> {
  const server = await PostgresServer.start()
  const fleet = defineFleet({
    database: server.url(),
    worlds: { desk },
    models: { fake: provider(fakeModel(0)) },
    idleMs: 1_000,
  })
  try {
    const perWorld = await fill(fleet)
    await fleet.work()
    const tookMs: number[] = []
    for (let index = 0; index < woken + warmUp; index++) {
      const before = performance.now()
      await fleet.agent(`desk/${index}`).ask('Where is my parcel?')
      if (index >= warmUp) tookMs.push(performance.now() - before)
    }
    tookMs.sort((a, b) => a - b)
    const p99 = tookMs[Math.floor(woken * 0.99)] ?? 0
    const count = parked.toLocaleString('en')
    return [
      {
        name: `postgres: a parked world of ${messages} messages, one of ${count}`,
        value: perWorld.stored,
        unit: 'B',
        limit: 3_000,
        against: `its snapshot: ${readable(perWorld.snapshot)} B`,
      },
      {
        name: `postgres: an answer of a parked world, one of ${count}, half of them within`,
        value: median(tookMs),
        unit: 'ms',
        limit: 25,
        against: `its slowest: ${readable(tookMs.at(-1) ?? 0)} ms`,
      },
      { name: 'postgres: the same, 99 of 100 within', value: p99, unit: 'ms', limit: 150 },
    ]
  } finally {
    await fleet.close()
    await server.stop()
  }
}

function desk(name: string): World {
  const world = new World({ name, systems: standardSystems() })
  const said: Message[] = Array.from({ length: messages }, (_, index) => ({
    role: index % 2 === 0 ? 'user' : 'assistant',
    content: [{ type: 'text', text: sentence() }],
  }))
  world.spawn(...agent({ model: 'fake/model', messages: said }))
  return world
}

let dice = 1

/** Of words as rare as those of a language, so that it does not pack better than what people write. */
function sentence(): string {
  return Array.from({ length: wordsPerMessage }, word).join(' ')
}

function word(): string {
  dice = (dice * 48_271) % 2_147_483_647
  const rank = Math.floor(5_000 ** (dice / 2_147_483_647))
  return ((rank * 7_919) % 456_976).toString(26).replaceAll(/\d/g, (digit) => 'qrstuvwxyz'[Number(digit)] ?? '')
}

/** Those that are woken are made as any other; the rest are their copies under other names. */
async function fill(fleet: Fleet): Promise<{ readonly snapshot: number; readonly stored: number }> {
  for (let index = 0; index < woken + warmUp; index++) await fleet.agent(`desk/${index}`).sessions()
  const copies = Math.max(0, parked - woken - warmUp)
  const sizes = await fleet.store.transaction(async (client) => {
    await client.query(
      `WITH made AS (
        INSERT INTO entia.worlds (place, root, name, tick, oldest, newest, busy)
        SELECT gen_random_uuid(), name, name, 0, 0, 0, false
        FROM generate_series(1, $1::int) AS n CROSS JOIN LATERAL (SELECT 'copy%002f' || n AS name) AS named
        RETURNING id
      ) INSERT INTO entia.snapshots (world, tick, lines, bytes, body)
        SELECT made.id, 0, s.lines, s.bytes, s.body FROM made JOIN LATERAL (
          SELECT lines, bytes, body FROM entia.snapshots ORDER BY world LIMIT 1
        ) AS s ON true`,
      [copies],
    )
    const { rows } = await client.query(
      `SELECT sum(pg_total_relation_size(c.oid)) AS stored, (SELECT avg(bytes) FROM entia.snapshots) AS snapshot
       FROM pg_class AS c WHERE c.relnamespace = 'entia'::regnamespace AND c.relkind = 'r'`,
    )
    return rows[0]
  })
  await fleet.store.transaction((client) => client.query('ANALYZE'))
  return { snapshot: Number(sizes?.['snapshot']), stored: Number(sizes?.['stored']) / (copies + woken + warmUp) }
}
