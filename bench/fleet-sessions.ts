import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { PostgresServer } from '../test/parts/postgres/server.ts'
import { fleetOf, jobsPerQuestion, runSessions } from './fleet-load.ts'
import { median } from './measure.ts'
import { readable, type Row } from './row.ts'

const desksPerRound = 20
const sessionsPerRound = desksPerRound * jobsPerQuestion
const rounds = 5

/** What a round took, of one kind of place. */
interface Taken {
  readonly perSecond: number[]
  /** Computing of the processes that drive worlds, for each session. */
  readonly cpuMicros: number[]
}

/** Sessions by one worker process and by two, over one server, beside those of one process with SQLite, in turns. */
export async function measure(): Promise<Row[]> {
  const server = await PostgresServer.start()
  const places = [await fleetPlace(server, 'one', 1), await fleetPlace(server, 'two', 2), await sqlitePlace()] as const
  try {
    const taken = places.map((): Taken => ({ perSecond: [], cpuMicros: [] }))
    for (let round = -1; round < rounds; round++) {
      const order = round % 2 === 0 ? [0, 1, 2] : [2, 1, 0]
      for (const index of order) {
        const one = await oneRound(places[index] as Place, round)
        if (round < 0) continue
        taken[index]?.perSecond.push(one.perSecond)
        taken[index]?.cpuMicros.push(one.cpuMicros)
      }
    }
    return rowsOf(taken as unknown as [Taken, Taken, Taken])
  } finally {
    await Promise.all(places.map((place) => place.close()))
    await server.stop()
  }
}

interface Place {
  run(desks: readonly string[]): Promise<void>
  /** Of all processes that drive worlds. */
  cpuMicros(): Promise<number>
  close(): Promise<void>
}

async function fleetPlace(server: PostgresServer, schema: string, workers: number): Promise<Place> {
  const database = server.url()
  const fleet = fleetOf({ database, schema, maxSessions: 50 })
  await fleet.status()
  const children = await Promise.all(Array.from({ length: workers }, () => started([database, schema, '50'])))
  return {
    run: (desks) => runSessions((name) => fleet.agent(name), desks),
    cpuMicros: async () => {
      const answers = await Promise.all(children.map((child) => asked(child, 'cpu')))
      return answers.reduce((sum, each) => sum + each, 0)
    },
    close: async () => {
      await fleet.close()
      await Promise.all(children.map(ended))
    },
  }
}

async function sqlitePlace(): Promise<Place> {
  const child = await started([])
  let cpu = 0
  return {
    run: async (desks) => {
      cpu = await asked(child, desks)
    },
    cpuMicros: async () => cpu,
    close: () => ended(child),
  }
}

async function oneRound(place: Place, round: number) {
  const desks = Array.from({ length: desksPerRound }, (_, desk) => `desk/${round}.${desk}`)
  const cpuBefore = await place.cpuMicros()
  const before = performance.now()
  await place.run(desks)
  const seconds = (performance.now() - before) / 1_000
  return {
    perSecond: sessionsPerRound / seconds,
    cpuMicros: ((await place.cpuMicros()) - cpuBefore) / sessionsPerRound,
  }
}

/** The median of how many times as much it was in a round. */
function over(work: readonly number[], against: readonly number[]): number {
  return median(work.map((value, round) => value / (against[round] ?? 0)))
}

function rowsOf([one, two, sqlite]: readonly [Taken, Taken, Taken]): Row[] {
  return [
    {
      name: 'fleet: CPU of the worker for a session (2 model calls, 1 tool call), over one process with SQLite',
      value: over(one.cpuMicros, sqlite.cpuMicros),
      unit: '×',
      limit: 1.5,
      against: `worker ${readable(median(one.cpuMicros))} µs; SQLite ${readable(median(sqlite.cpuMicros))} µs`,
    },
    {
      name: 'fleet: sessions a second by two worker processes, over one; 1.8 × where cores are free',
      value: over(two.perSecond, one.perSecond),
      unit: '×',
      against: `one ${readable(median(one.perSecond))}/s, two ${readable(median(two.perSecond))}/s; SQLite ${readable(median(sqlite.perSecond))}/s`,
    },
  ]
}

async function started(words: readonly string[]): Promise<ChildProcess> {
  const child = fork(join(import.meta.dirname, 'fleet-worker.ts'), [...words])
  await once(child, 'message')
  return child
}

async function asked(child: ChildProcess, message: readonly string[] | string): Promise<number> {
  const answer = once(child, 'message')
  child.send(message)
  return Number((await answer)[0])
}

async function ended(child: ChildProcess): Promise<void> {
  const exit = once(child, 'exit')
  child.kill('SIGTERM')
  await exit
}
