import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sqliteStore, type Store } from 'entia'
import { postgresStore } from 'entia/postgres'
import { Pool } from 'pg'
import { PostgresServer } from '../test/parts/postgres/server.ts'
import { median } from './measure.ts'
import { readable, type Row } from './row.ts'

/** One row of a tick, of 1 kB. */
const line = 'x'.repeat(1_000)
const roundMs = 1_000
const rounds = 4
const crowds = [
  { worlds: 1, limit: 0.6 },
  { worlds: 10, limit: 0.6 },
  { worlds: 100, limit: 1 },
  { worlds: 1_000, limit: undefined },
] as const

/** Commits the next tick of one of the worlds. */
type Commit = (world: number) => Promise<unknown>

/** What one round took. */
interface Round {
  readonly perSecond: number
  readonly tookMs: readonly number[]
}

/** Worlds in Postgres beside the same in SQLite and beside a bare loop over `pg`, in turns; a server of its own, as it comes. */
export async function measure(): Promise<Row[]> {
  const server = await PostgresServer.start()
  const folder = await mkdtemp(join(tmpdir(), 'entia-bench-'))
  const sqlite = sqliteStore({ folder })
  const postgres = postgresStore({ database: server.url() })
  const pool = new Pool({ connectionString: server.url(), max: 10 })
  try {
    const rows: Row[] = []
    for (const { limit, worlds } of crowds) {
      const sides = [
        await commitsOf(postgres, worlds),
        await commitsOf(sqlite, worlds),
        await bareCommits(pool, worlds),
      ] as const
      rows.push(await row(sides, worlds, limit))
    }
    return [...rows, await search(postgres)]
  } finally {
    await Promise.all([postgres.close(), sqlite.close(), pool.end()])
    await server.stop()
    await rm(folder, { recursive: true })
  }
}

/** Worlds of one root, which is one database of SQLite: there, too, their commits share transactions. */
async function commitsOf(store: Store, count: number): Promise<Commit> {
  const root = `crowd of ${count}`
  const worlds = await Promise.all(
    Array.from({ length: count }, async (_, index) => {
      const journal = await store.open(`world ${index}`, { root })
      await journal.commit({ snapshot: { tick: 0, lines: ['{}'] } })
      return { journal, tick: 0 }
    }),
  )
  return (index) => {
    const world = worlds[index] as (typeof worlds)[number]
    return world.journal.commit({ rows: [{ tick: ++world.tick, line }] })
  }
}

/** What a program without a store would do: one insert a tick, on one of ten connections. */
async function bareCommits(pool: Pool, count: number): Promise<Commit> {
  const table = `bare_${count}`
  await pool.query(`CREATE TABLE ${table} (world int, tick bigint, line bytea, PRIMARY KEY (world, tick))`)
  const ticks = Array.from({ length: count }, () => 0)
  const body = Buffer.from(line)
  return (world) => {
    const tick = (ticks[world] ?? 0) + 1
    ticks[world] = tick
    return pool.query({ name: table, text: `INSERT INTO ${table} VALUES ($1, $2, $3)`, values: [world, tick, body] })
  }
}

async function row(
  [postgres, sqlite, bare]: readonly [Commit, Commit, Commit],
  worlds: number,
  limit: number | undefined,
): Promise<Row> {
  const taken: Record<'bare' | 'postgres' | 'sqlite', Round[]> = { postgres: [], sqlite: [], bare: [] }
  const sides = { postgres, sqlite, bare }
  const order = ['postgres', 'sqlite', 'bare'] as const
  for (let round = -1; round < rounds; round++) {
    for (const side of round % 2 === 0 ? order : order.toReversed()) {
      const measured = await oneRound(sides[side], worlds)
      if (round >= 0) taken[side].push(measured)
    }
  }
  const speeds = taken.postgres.map(({ perSecond }, round) => perSecond / (taken.sqlite[round]?.perSecond ?? 0))
  return {
    name: `postgres: commits of 1 kB, ${worlds.toLocaleString('en')} worlds at once, over SQLite`,
    value: median(speeds),
    unit: '×',
    ...(limit !== undefined && { limit, atLeast: true }),
    against: `Postgres ${said(taken.postgres)}; SQLite ${said(taken.sqlite)}; bare pg ${said(taken.bare)}`,
  }
}

/** Each world commits one tick after the other. */
async function oneRound(commit: Commit, worlds: number): Promise<Round> {
  const begin = performance.now()
  const tookMs: number[] = []
  const one = async (world: number): Promise<void> => {
    while (performance.now() < begin + roundMs) {
      const before = performance.now()
      await commit(world)
      tookMs.push(performance.now() - before)
    }
  }
  await Promise.all(Array.from({ length: worlds }, (_, world) => one(world)))
  return { perSecond: (1_000 * tookMs.length) / (performance.now() - begin), tookMs }
}

function said(taken: readonly Round[]): string {
  const all = taken.flatMap(({ tookMs }) => tookMs).toSorted((a, b) => a - b)
  const p99 = all[Math.floor(all.length * 0.99)] ?? 0
  const speed = median(taken.map(({ perSecond }) => perSecond))
  return `${readable(speed)}/s (${readable(median(all))}, ${readable(p99)} ms)`
}

/** Words as often as those of a language: the n-th a n-th as often as the first. */
async function search(store: Store): Promise<Row> {
  const lines = 10_000
  const wordsPerLine = 20
  const vocabulary = 5_000
  let state = 1
  const dice = (): number => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647
  const word = (): string => `word${Math.floor(vocabulary ** dice())}`
  const texts = Array.from({ length: lines }, () => Array.from({ length: wordsPerLine }, word).join(' '))
  const key = 'agents/a.jsonl'
  for (let from = 0; from < lines; from += 1_000) {
    const batch = texts.slice(from, from + 1_000).map((text) => ({ text: JSON.stringify({ text }), searchable: text }))
    await store.appendTranscript('searched', key, batch, { from })
  }
  const queries = ['word1 word2', 'word17 word300', 'word4000', 'word50 word60 word70', 'word2 word1900']
  const tookMs: number[] = []
  for (let round = 0; round < 20; round++) {
    for (const query of queries) {
      const before = performance.now()
      await store.searchTranscript('searched', [key], query, { limit: 20 })
      if (round > 0) tookMs.push(performance.now() - before)
    }
  }
  const sorted = tookMs.toSorted((a, b) => a - b)
  return {
    name: 'postgres: a search of a transcript of 10,000 lines, half of them within',
    value: median(tookMs),
    unit: 'ms',
    limit: 20,
    against: `the slowest of ${tookMs.length}: ${readable(sorted.at(-1) ?? 0)} ms`,
  }
}
