import { PostgresServer } from '../test/parts/postgres/server.ts'
import { fleetOf, jobsPerQuestion } from './fleet-load.ts'
import { median } from './measure.ts'
import { readable, type Row } from './row.ts'

const questions = 20
/** Sessions that the other tenant has in line all the while. */
const floodDesks = 30
const maxSessions = 10

/** How long one tenant's questions take while another one floods the line, and without. Each has ten sessions of 0.2 s. */
export async function measure(): Promise<Row[]> {
  const server = await PostgresServer.start()
  const fleet = fleetOf({ database: server.url(), schema: 'tenants', maxSessions })
  try {
    await fleet.work({ sessions: maxSessions, worlds: 500 })
    await timed('warm', 3)
    const alone = await timed('alone', questions)
    const over = new AbortController()
    const flood = Array.from({ length: floodDesks }, async (_, desk) => {
      while (!over.signal.aborted) await fleet.agent(`desk/flood/slow${desk}`).ask(`${jobsPerQuestion}`)
    })
    // The line is full, by far.
    while ((await fleet.status()).sessions.length < 10 * maxSessions)
      await new Promise((resolve) => setImmediate(resolve))
    const flooded = await timed('flooded', questions)
    const waiting = (await fleet.status()).sessions.length
    over.abort()
    await Promise.all(flood)
    return [
      {
        name: `fleet: a tenant's question with one session, while another has ${waiting} sessions in line, over one alone`,
        value: median(flooded) / median(alone),
        unit: '×',
        against: `alone ${readable(median(alone))} ms; flooded ${readable(median(flooded))} ms; a slot is free each ${200 / maxSessions} ms`,
      },
    ]
  } finally {
    await fleet.close()
    await server.stop()
  }

  async function timed(tenant: string, count: number): Promise<number[]> {
    const tookMs: number[] = []
    for (let question = 0; question < count; question++) {
      const before = performance.now()
      await fleet.agent(`desk/${tenant}/slow`).ask('1')
      tookMs.push(performance.now() - before)
    }
    return tookMs
  }
}
