import { setImmediate } from 'node:timers/promises'
import { agent, run, Runner, standardSystems, World } from 'entia'
import { bareTurn, fakeModel, lookUpTool, provider, type Think } from './bare-loop.ts'
import { liveBytes } from './measure.ts'
import { readable, type Row } from './row.ts'

const agents = 10_000

/** What agents weigh. */
export async function measure(): Promise<Row[]> {
  // What is made once in a process, caches and compiled code among it, is there before anything is weighed.
  await weighIdle(100)
  await weighInFlight(100)
  return [await inFlight(), await idle()]
}

async function inFlight(): Promise<Row> {
  const bare = await weigh(agents, async () => {
    const model = hanging()
    const turns = Array.from({ length: agents }, () => bareTurn(model.think, [], 'Go.'))
    return { kept: turns, release: () => model.answer() }
  })
  return {
    name: 'memory of an agent while its call is in flight, of 10,000',
    value: (await weighInFlight(agents)) / 1_000,
    unit: 'kB',
    limit: 10,
    against: `bare loop ${readable(bare / 1_000)} kB`,
  }
}

async function weighInFlight(count: number): Promise<number> {
  return await weigh(count, async () => {
    const model = hanging()
    const world = new World({ systems: standardSystems() })
    for (let made = 0; made < count; made++) world.spawn(...agent({ model: 'fake/model', messages: 'Go.' }))
    const runner = new Runner(world, { models: { fake: provider(model.think) }, maxInFlight: count })
    await runner.start()
    while (model.waiting() < count) await setImmediate()
    const release = async (): Promise<void> => {
      model.answer()
      await runner.idle()
      await runner.stop()
    }
    return { kept: runner, release }
  })
}

async function idle(): Promise<Row> {
  const bare = await weigh(agents, async () => {
    const conversations = Array.from({ length: agents }, () => [])
    await Promise.all(conversations.map((messages) => bareTurn(fakeModel(0), messages, 'Go.')))
    return { kept: conversations }
  })
  return {
    name: 'memory of an idle agent that has had a turn, besides its messages',
    value: (await weighIdle(agents)) - bare,
    unit: 'B',
    limit: 1_536,
    against: `its two messages: ${readable(bare)} B`,
  }
}

async function weighIdle(count: number): Promise<number> {
  return await weigh(count, async () => {
    const world = new World({ systems: standardSystems() })
    for (let made = 0; made < count; made++) {
      const system = 'You keep the book of the lighthouse.'
      world.spawn(...agent({ model: 'fake/model', system, tools: [lookUpTool], messages: 'Go.' }))
    }
    await run(world, { models: { fake: provider(fakeModel(0)) }, tools: [lookUpTool] })
    return { kept: world }
  })
}

/** Bytes that each of so many adds to the heap. */
export async function weigh(
  count: number,
  make: () => Promise<{ readonly kept: unknown; readonly release?: () => unknown }>,
): Promise<number> {
  const before = liveBytes()
  const made = await make()
  const after = liveBytes()
  await made.release?.()
  return (after - before) / count
}

/** A model that answers nobody before it is told to. */
export function hanging() {
  const think = fakeModel(0)
  const waiting: (() => void)[] = []
  return {
    think: (async (messages) => {
      await new Promise<void>((resolve) => waiting.push(resolve))
      return await think(messages)
    }) satisfies Think,
    waiting: () => waiting.length,
    answer: () => {
      for (const resolve of waiting) resolve()
    },
  }
}
