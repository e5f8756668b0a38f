import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sqliteStore, type Store } from 'entia'
import { inspect } from 'entia/inspector'
import { driveWorld, warmUp } from './driven-world.ts'
import { compare, type Compared, median, ratio, times } from './measure.ts'
import { readable, type Row } from './row.ts'

const rounds = 21
const roundsBefore = 4
const callsPerTurn = 5
const turnsPerRound = 60

/** What an inspector costs the Runner that it shows, in a program with SQLite; and what snapshots cost that make every tick near one. */
export async function measure(): Promise<Row[]> {
  const folder = await mkdtemp(join(tmpdir(), 'entia-bench-'))
  const store = sqliteStore({ folder, synchronous: 'normal' })
  try {
    await warmUp({ store: sqliteStore({ folder: join(folder, 'warm'), synchronous: 'normal' }) })
    return [await noise(store), await unseen(store), await seen(store), ...(await snapshots(store))]
  } finally {
    await store.close()
    await rm(folder, { recursive: true })
  }
}

const world = { messages: 10, agents: (rounds + roundsBefore) * turnsPerRound, callsPerTurn }

/** Two worlds that are the same: how far apart figures are that should be equal. */
async function noise(store: Store): Promise<Row> {
  const work = await driveWorld({ ...world, store, name: 'same-1' })
  const against = await driveWorld({ ...world, store, name: 'same-2' })
  const taken = await compared(work.turn, against.turn)
  await Promise.all([work.runner.stop(), against.runner.stop()])
  const { limit: _, ...figure } = row('inspector: a step without one, CPU over the same once more', taken, 1)
  return figure
}

async function unseen(store: Store): Promise<Row> {
  const work = await driveWorld({ ...world, store, name: 'unseen' })
  const against = await driveWorld({ ...world, store, name: 'unseen-plain' })
  const page = await inspect(work.runner)
  const taken = await compared(work.turn, against.turn)
  await page.close()
  await Promise.all([work.runner.stop(), against.runner.stop()])
  return row('inspector: a step with one that no page looks at, CPU over without', taken, 1.02)
}

async function seen(store: Store): Promise<Row> {
  const work = await driveWorld({ ...world, store, name: 'seen' })
  const against = await driveWorld({ ...world, store, name: 'seen-plain' })
  const page = await inspect(work.runner)
  const reader = spawn(process.execPath, [join(import.meta.dirname, 'inspector-reader.ts'), page.url, 'seen'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await once(reader.stdout, 'data')
  const taken = await compared(work.turn, against.turn)
  reader.kill()
  await page.close()
  await Promise.all([work.runner.stop(), against.runner.stop()])
  return row('inspector: a step with one page open, CPU over without', taken, 1.1)
}

async function snapshots(store: Store): Promise<Row[]> {
  const recorded = { ...world, agents: 1, messages: 1_000, store, record: true }
  const work = await driveWorld({ ...recorded, name: 'every-500' })
  const against = await driveWorld({ ...recorded, name: 'never', ticksPerSnapshot: Infinity })
  const taken = await compared(work.turn, against.turn)
  const ticks = work.runner.world.tick
  await Promise.all([work.runner.stop(), against.runner.stop()])
  const sizes = new Map((await store.list()).map(({ name, sizeBytes }) => [name, sizeBytes]))
  const [withThem = 0, without = 0] = [sizes.get('every-500'), sizes.get('never')]
  return [
    row('recording: a step with a snapshot each 500 ticks, CPU over without', taken, 1.1),
    {
      name: `recording: bytes of ${ticks.toLocaleString('en')} ticks with a snapshot each 500 over without`,
      value: withThem / without,
      unit: '×',
      limit: 3.5,
      against: `without: ${readable(without / 1e6)} MB`,
    },
  ]
}

type Turn = (text: string) => Promise<void>

function compared(work: Turn, against: Turn): Promise<Compared> {
  return compare({
    rounds,
    warmUp: roundsBefore,
    work: () => times(turnsPerRound, () => work('Go.')),
    against: () => times(turnsPerRound, () => against('Go.')),
  })
}

function row(name: string, { cpuMicros }: Compared, limit: number): Row {
  const micros = median(cpuMicros.against) / turnsPerRound / (callsPerTurn + 1)
  return { name, value: ratio(cpuMicros), unit: '×', limit, against: `without: ${readable(micros)} µs a step` }
}
