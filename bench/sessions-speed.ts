import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sqliteStore } from 'entia'
import { bareTurn, fakeModel } from './bare-loop.ts'
import { type DelegatingWorld, delegatingWorld } from './delegating-world.ts'
import { compare, median, ratio } from './measure.ts'
import { readable, type Row } from './row.ts'

/** What sessions cost, on models that answer at once: a child World each, made, driven and let go. */
export async function measure(): Promise<Row[]> {
  return [await throughput(), await growth(), await inSqlite()]
}

/** Many sessions of one agent, launched by a program at once. */
async function throughput(): Promise<Row> {
  const sessions = 10_000
  const think = fakeModel(0)
  const { wallMs, cpuMicros } = await compare({
    rounds: 3,
    warmUp: 1,
    work: () => inAWorld({}, ({ wave }) => wave(sessions)),
    against: () => Promise.all(Array.from({ length: sessions }, () => bareTurn(think, [], 'Go.'))),
  })
  const perSecond = (taken: readonly number[]): number => (1_000 * sessions) / median(taken)
  const micros = median(cpuMicros.work) / sessions
  return {
    name: 'sessions a second, of 10,000 in the background that a program launches at once',
    value: perSecond(wallMs.work),
    unit: '1/s',
    limit: 2_000,
    atLeast: true,
    against: `bare loop ${readable(perSecond(wallMs.against))}, ${readable(ratio(wallMs))} × as fast; CPU ${readable(micros)} µs a session`,
  }
}

/** The last 1,000 sessions of an agent that has had 9,000, and the first 1,000 of one that has had none. */
async function growth(): Promise<Row> {
  const wave = 1_000
  const rounds = 7
  const warmUp = 2
  const fresh: DelegatingWorld[] = []
  for (let round = 0; round < rounds + warmUp; round++) fresh.push(await delegatingWorld())
  const old = await delegatingWorld()
  await old.wave(9_000 - warmUp * wave)
  let next = 0
  const { cpuMicros: taken } = await compare({
    rounds,
    warmUp,
    work: () => old.wave(wave),
    against: () => (fresh[next++] as DelegatingWorld).wave(wave),
  })
  await Promise.all([old, ...fresh].map(({ runner }) => runner.stop()))
  return {
    name: 'the last 1,000 sessions of 10,000 over the first 1,000, CPU',
    value: ratio(taken),
    unit: '×',
    limit: 1.3,
    against: `first 1,000: ${readable(median(taken.against) / wave)} µs a session`,
  }
}

/** The same as the first, on a disk: each session has its World in the store before anything of it has happened. */
async function inSqlite(): Promise<Row> {
  const sessions = 500
  const folder = await mkdtemp(join(tmpdir(), 'entia-bench-'))
  let round = 0
  const { wallMs } = await compare({
    rounds: 3,
    warmUp: 1,
    work: async () => {
      const store = sqliteStore({ folder: join(folder, `${round++}`) })
      await inAWorld({ store }, ({ wave }) => wave(sessions))
      await store.close()
    },
    against: () => inAWorld({}, ({ wave }) => wave(sessions)),
  })
  await rm(folder, { recursive: true })
  return {
    name: 'sessions a second with SQLite, of 500 launched at once',
    value: (1_000 * sessions) / median(wallMs.work),
    unit: '1/s',
    against: `in memory ${readable((1_000 * sessions) / median(wallMs.against))}`,
  }
}

async function inAWorld(
  options: Parameters<typeof delegatingWorld>[0],
  work: (made: DelegatingWorld) => Promise<unknown>,
): Promise<void> {
  const made = await delegatingWorld(options)
  await work(made)
  await made.runner.stop()
}
