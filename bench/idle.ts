import { agent, run, standardSystems, World } from 'entia'
import { tick } from 'entia/systems'
import { fakeModel, lookUpTool, provider } from './bare-loop.ts'
import { compare, median, ratio } from './measure.ts'
import { readable, type Row } from './row.ts'

/** A tick in which nothing happens, among agents that have all had a turn. */
export async function measure(): Promise<Row[]> {
  const ticksPerRound = 5_000
  const many = await idleWorld(100_000)
  const few = await idleWorld(100)
  const { cpuMicros: taken } = await compare({
    rounds: 15,
    warmUp: 5,
    work: () => {
      for (let count = 0; count < ticksPerRound; count++) tick(many)
    },
    against: () => {
      for (let count = 0; count < ticksPerRound; count++) tick(few)
    },
  })
  return [
    {
      name: 'an idle tick among 100,000 agents over one among 100',
      value: ratio(taken),
      unit: '×',
      limit: 2,
      against: `among 100: ${readable(median(taken.against) / ticksPerRound)} µs`,
    },
  ]
}

async function idleWorld(agents: number): Promise<World> {
  const world = new World({ systems: standardSystems() })
  for (let made = 0; made < agents; made++) {
    world.spawn(...agent({ model: 'fake/model', tools: [lookUpTool], messages: 'Go.' }))
  }
  await run(world, { models: { fake: provider(fakeModel(0)) }, tools: [lookUpTool] })
  return world
}
