import { setImmediate } from 'node:timers/promises'
import { SessionPool } from 'entia'
import { bareTurn, provider } from './bare-loop.ts'
import { delegatingWorld } from './delegating-world.ts'
import { hanging, weigh } from './memory.ts'
import { readable, type Row } from './row.ts'

/** What sessions weigh. */
export async function measure(): Promise<Row[]> {
  // What is made once in a process, caches and compiled code among it, is there before anything is weighed.
  await weighFinished(1_000, 1_000)
  await weighLive(200)
  return [await finished(), await live()]
}

async function finished(): Promise<Row> {
  const [few, many] = [1_000, 10_000]
  return {
    name: 'memory of a finished session, of 10,000',
    value: (await weighFinished(few, many - few)) / 1_000,
    unit: 'kB',
    limit: 2,
    against: `without the first ${readable(few)}`,
  }
}

async function weighFinished(before: number, count: number): Promise<number> {
  const { runner, wave } = await delegatingWorld()
  await wave(before)
  const weight = await weigh(count, async () => {
    await wave(count)
    return { kept: runner }
  })
  await runner.stop()
  return weight
}

async function live(): Promise<Row> {
  const sessions = 200
  // So little that it takes many to be seen.
  const turnsAtOnce = 10_000
  const bare = await weigh(turnsAtOnce, async () => {
    const model = hanging()
    const turns = Array.from({ length: turnsAtOnce }, () => bareTurn(model.think, [], 'Go.'))
    return { kept: turns, release: () => model.answer() }
  })
  return {
    name: 'memory of a session while its call is in flight, besides its messages, of 200',
    value: ((await weighLive(sessions)) - bare) / 1_000,
    unit: 'kB',
    limit: 40,
    against: `bare loop ${readable(bare / 1_000)} kB`,
  }
}

async function weighLive(count: number): Promise<number> {
  const model = hanging()
  const sessionPool = new SessionPool({ cap: count })
  const { runner, launch } = await delegatingWorld({ model: provider(model.think), sessionPool })
  const weight = await weigh(count, async () => {
    await launch(count)
    while (model.waiting() < count) await setImmediate()
    return { kept: runner, release: () => model.answer() }
  })
  await runner.idle()
  await runner.stop()
  return weight
}
