import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout } from 'node:timers/promises'
import { agent, run, standardSystems, World } from 'entia'
import { bareTurn, fakeModel, provider, type Think } from './bare-loop.ts'
import { compare, median, ratio } from './measure.ts'
import { readable, type Row } from './row.ts'

/** Many agents that all start at once. */
export async function measure(): Promise<Row[]> {
  return [...(await tenThousand()), await withLatency()]
}

async function tenThousand(): Promise<Row[]> {
  const agents = 10_000
  const rounds = 7
  const warmUp = 2
  const blocks: number[] = []
  const think = fakeModel(0)
  const whole = async (): Promise<void> => {
    const world = crowd(agents)
    blocks.push(await longestBlock(() => run(world, { models: { fake: provider(think) }, maxInFlight: agents })))
  }
  const begin = performance.now()
  await whole()
  const coldSeconds = (performance.now() - begin) / 1_000
  const { wallMs: taken } = await compare({
    rounds,
    warmUp,
    work: whole,
    against: () => bareCrowd(agents, think),
  })
  return [
    {
      name: '10,000 agents started at once, from the first spawn to the last answer',
      value: median(taken.work) / 1_000,
      unit: 's',
      limit: 0.5,
      against: `bare loop ${readable(median(taken.against) / 1_000)} s`,
    },
    { name: 'the same as the first thing that a process does', value: coldSeconds, unit: 's' },
    { name: 'longest block of the event loop meanwhile', value: median(blocks.slice(-rounds)), unit: 'ms', limit: 50 },
  ]
}

/** Milliseconds for which nothing else had its turn, at the longest, while something ran. */
async function longestBlock(work: () => Promise<unknown>): Promise<number> {
  const resolutionMs = 1
  const delays = monitorEventLoopDelay({ resolution: resolutionMs })
  delays.enable()
  // The first firing only sets the mark from which delays count.
  await setTimeout(4 * resolutionMs)
  delays.reset()
  await work()
  await setTimeout(2 * resolutionMs)
  delays.disable()
  return delays.max / 1e6 - resolutionMs
}

/** 1,000 agents of one call each, on a model that takes its time. */
async function withLatency(): Promise<Row> {
  const agents = 1_000
  const { wallMs: taken } = await compare({
    rounds: 15,
    warmUp: 3,
    work: () => run(crowd(agents), { models: { fake: provider(slow) } }),
    against: () => bareCrowd(agents, slow),
  })
  return {
    name: '1,000 agents at 20 ms of latency, wall time over the bare loop',
    value: ratio(taken),
    unit: '×',
    against: `bare loop ${readable(median(taken.against))} ms`,
  }
}

function crowd(agents: number): World {
  const world = new World({ systems: standardSystems() })
  for (let count = 0; count < agents; count++) world.spawn(...agent({ model: 'fake/model', messages: 'Go.' }))
  return world
}

function bareCrowd(agents: number, think: Think): Promise<unknown> {
  return Promise.all(Array.from({ length: agents }, () => bareTurn(think, [], 'Go.')))
}

const slow: Think = async (messages) => {
  await setTimeout(20)
  return await fakeModel(0)(messages)
}
