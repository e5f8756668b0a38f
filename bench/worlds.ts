import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { agent, ask, type Entity, Runner, sqliteStore, standardSystems, World, worlds } from 'entia'
import { fakeModel, provider } from './bare-loop.ts'
import { compare, median, ratio, times } from './measure.ts'
import { readable, type Row } from './row.ts'

/** Talking to agents: one by `ask`, and 10,000 users whose Worlds take turns in 200 places. */
export async function measure(): Promise<Row[]> {
  return [await asking(), ...(await manyUsers())]
}

const models = { fake: provider(fakeModel(0)) }

/** A turn by `ask`, over the same turn by `message` and a listener. */
async function asking(): Promise<Row> {
  const turnsPerRound = 300
  const [one, other] = [await started(), await started()]
  const { cpuMicros } = await compare({
    rounds: 21,
    warmUp: 5,
    work: () => times(turnsPerRound, () => ask(one.runner, one.speaker, 'Go.')),
    against: () =>
      times(turnsPerRound, async () => {
        const ended = new Promise<void>((resolve) => {
          const end = other.runner.on('turn-ended', () => {
            end()
            resolve()
          })
        })
        await other.runner.message(other.speaker, 'Go.')
        await ended
      }),
  })
  await one.runner.stop()
  await other.runner.stop()
  return {
    name: 'a turn by ask, over one by message and a listener',
    value: ratio(cpuMicros),
    unit: '×',
    limit: 1.05,
    against: `message: ${readable(median(cpuMicros.against) / turnsPerRound)} µs`,
  }
}

async function started(): Promise<{ readonly runner: Runner; readonly speaker: Entity }> {
  const world = new World({ systems: standardSystems() })
  const speaker = world.spawn(...agent({ model: 'fake/model' }))
  const runner = new Runner(world, { models })
  await runner.start()
  return { runner, speaker }
}

async function manyUsers(): Promise<Row[]> {
  const folder = await mkdtemp(join(tmpdir(), 'entia-worlds-'))
  const users = 10_000
  const store = sqliteStore({ folder })
  const all = worlds(store, { make, models, maxOpen: 200 })
  const firstMs: number[] = []
  const heaps: number[] = []
  for (let user = 0; user < users; user++) {
    const begin = performance.now()
    for await (const part of all.agent(`user-${user}`).ask('Go.').parts) {
      if (part.type === 'text') firstMs.push(performance.now() - begin)
    }
    if (user % 1_000 === 999) heaps.push(heapBytes())
  }
  await all.close()
  await store.close()
  await rm(folder, { recursive: true })
  const p99 = firstMs.toSorted((a, b) => a - b)[Math.floor(firstMs.length * 0.99)] ?? 0
  const [, early = 0] = heaps
  return [
    {
      name: '10,000 users in turn, 200 Worlds open: first words of an answer, 99 of 100 within',
      value: p99,
      unit: 'ms',
      limit: 50,
      against: `half of them within ${readable(median(firstMs))} ms`,
    },
    {
      name: 'the same: heap after 10,000 users over that after 2,000',
      value: (heaps.at(-1) ?? 0) / early,
      unit: '×',
      limit: 1.1,
      against: `${readable(early / 1e6)} MB`,
    },
  ]
}

function make(name: string): World {
  const world = new World({ name, systems: standardSystems() })
  world.spawn(...agent({ model: 'fake/model' }))
  return world
}

function heapBytes(): number {
  globalThis.gc?.()
  return process.memoryUsage().heapUsed
}
