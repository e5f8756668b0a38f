import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Runner, sqliteStore, standardSystems, type Store } from 'entia'
import * as components from 'entia/components'
import { sentence } from './bare-loop.ts'
import { driveWorld, warmUp } from './driven-world.ts'
import { compare, median, ratio, type Sides, times } from './measure.ts'
import { readable, type Row } from './row.ts'

const rounds = 15
const roundsBefore = 3

/** What the journal costs: SQLite in a real file, every commit on the disk before anything begins. */
export async function measure(): Promise<Row[]> {
  const folder = await mkdtemp(join(tmpdir(), 'entia-bench-'))
  const warm = sqliteStore({ folder: join(folder, 'warm'), synchronous: 'normal' })
  const store = sqliteStore({ folder })
  try {
    await warmUp({ store: warm })
    return [...(await growth(store)), ...(await sizes(store)), await replay(store)]
  } finally {
    await Promise.all([warm.close(), store.close()])
    await rm(folder, { recursive: true })
  }
}

/** The same step in a short and in a long conversation. */
async function growth(store: Store): Promise<Row[]> {
  const callsPerTurn = 5
  const turnsPerRound = 10
  const agents = (rounds + roundsBefore) * turnsPerRound
  const short = await driveWorld({ messages: 10, agents, callsPerTurn, store, name: 'short' })
  const long = await driveWorld({ messages: 10_000, agents: 1, callsPerTurn, store, name: 'long' })
  const { cpuMicros, wallMs } = await compare({
    rounds,
    warmUp: roundsBefore,
    work: () => times(turnsPerRound, () => long.turn('Go.')),
    against: () => times(turnsPerRound, () => short.turn('Go.')),
  })
  await Promise.all([short.runner.stop(), long.runner.stop()])
  const stepsPerRound = turnsPerRound * (callsPerTurn + 1)
  const row = (what: string, taken: Sides, microsPerUnit: number): Row => ({
    name: `journal: a step at 10,000 messages over one at 10, ${what}`,
    value: ratio(taken),
    unit: '×',
    limit: 1.3,
    against: `at 10 messages: ${readable((microsPerUnit * median(taken.against)) / stepsPerRound)} µs`,
  })
  return [row('CPU', cpuMicros, 1), row('wall time', wallMs, 1_000)]
}

/** Bytes of the rows that a turn leaves in the store: two model calls, one tool call, 0.4 kB of content. */
async function sizes(store: Store): Promise<Row[]> {
  const early = await turnBytes(store, 10)
  const late = await turnBytes(store, 10_000)
  const name = 'journal: bytes of a turn (two calls, one tool, 0.4 kB of content)'
  return [
    { name, value: late, unit: 'B', limit: 4_096, against: `at 10 messages: ${readable(early)} B` },
    { name: 'journal: bytes of a turn at 10,000 messages over one at 10', value: late / early, unit: '×', limit: 1.3 },
  ]
}

async function turnBytes(store: Store, messages: number): Promise<number> {
  const turns = 20
  const name = `bytes at ${messages}`
  const { runner, turn } = await driveWorld({ messages, agents: turns, callsPerTurn: 1, store, name })
  const before = runner.world.tick
  await times(turns, () => turn(sentence))
  await runner.stop()
  const journal = await store.open(name)
  const { rows = [] } = (await journal.load()) ?? {}
  await journal.close()
  const bytes = rows.filter(({ tick }) => tick > before).map(({ line }) => Buffer.byteLength(line))
  return bytes.reduce((sum, size) => sum + size, 0) / turns
}

/** A world opened again: its journal read back, checked and applied. */
async function replay(store: Store): Promise<Row> {
  const name = 'replayed'
  const { runner, turn } = await driveWorld({ messages: 2, agents: 1, callsPerTurn: 5, store, name })
  await times(60, () => turn('Go.'))
  await runner.stop()
  const journal = await store.open(name)
  const { rows = [] } = (await journal.load()) ?? {}
  await journal.close()
  const { wallMs: taken } = await compare({
    rounds,
    warmUp: roundsBefore,
    work: async () => {
      const opened = await Runner.open({ store, name, systems: standardSystems(), components })
      await opened.stop()
    },
    against: () => rows.map(({ line }) => JSON.parse(line.slice(line.indexOf('{'))) as unknown),
  })
  return {
    name: 'journal: a world opened again, a tick of its journal',
    value: (1_000 * median(taken.work)) / rows.length,
    unit: 'µs',
    against: `JSON.parse ${readable((1_000 * median(taken.against)) / rows.length)} µs`,
  }
}
