import { agent, run, standardSystems, World } from 'entia'
import { bareTurn, fakeModel, lookUpTool, provider, type Think } from './bare-loop.ts'
import { driveWorld, warmUp } from './driven-world.ts'
import { compare, cpuMicros, difference, median, ratio, times } from './measure.ts'
import { readable, type Row } from './row.ts'

const rounds = 15
const roundsBefore = 3

/** What a step costs: a model call and the call of one tool, in process, with no store. */
export async function measure(): Promise<Row[]> {
  await warmUp()
  return [...(await longTurn()), await shortTurn(), await growth()]
}

/** A turn of 200 steps, in a world made for it. */
async function longTurn(): Promise<Row[]> {
  const steps = 200
  const turnsPerRound = 10
  const first: number[] = []
  const last: number[] = []
  const { cpuMicros: taken } = await compare({
    rounds,
    warmUp: roundsBefore,
    work: async () => {
      const marks = new Map([0, 50, 150, 200].map((step) => [step, 0]))
      await times(turnsPerRound, () => frameworkTurn(marked(fakeModel(steps), marks), steps))
      const [at0 = 0, at50 = 0, at150 = 0, at200 = 0] = marks.values()
      first.push(at50 - at0)
      last.push(at200 - at150)
    },
    against: () => times(turnsPerRound, () => bareTurn(fakeModel(steps), [], 'Go.')),
  })
  const stepsPerRound = steps * turnsPerRound
  const flat = { work: last.slice(-rounds), against: first.slice(-rounds) }
  const firstMicros = median(flat.against) / 50 / turnsPerRound
  return [
    {
      name: 'a step (model call, tool call) of a turn of 200, CPU over the bare loop',
      value: difference(taken) / stepsPerRound,
      unit: 'µs',
      limit: 15,
      against: `bare loop ${readable(median(taken.against) / stepsPerRound)} µs`,
    },
    {
      name: 'the last 50 steps of 200 over the first 50, CPU',
      value: ratio(flat),
      unit: '×',
      limit: 1.3,
      against: `first 50: ${readable(firstMicros)} µs a step`,
    },
  ]
}

async function frameworkTurn(think: Think, steps: number): Promise<void> {
  const world = new World({ systems: standardSystems() })
  const limits = { maxSteps: steps + 1, maxToolCalls: steps }
  world.spawn(...agent({ model: 'fake/model', tools: [lookUpTool], messages: 'Go.', ...limits }))
  await run(world, { models: { fake: provider(think) }, tools: [lookUpTool] })
}

/** Adds up, by number of the call, how much had been computed when it came. */
function marked(think: Think, marks: Map<number, number>): Think {
  let call = 0
  return (messages) => {
    const mark = marks.get(call)
    if (mark !== undefined) marks.set(call, mark + cpuMicros())
    call++
    return think(messages)
  }
}

/** The shortest turn that there is: a message and its answer. */
async function shortTurn(): Promise<Row> {
  const turnsPerRound = 200
  const driven = await driveWorld({ messages: 2, agents: turnsPerRound, callsPerTurn: 0 })
  const think = fakeModel(0)
  const { cpuMicros: taken } = await compare({
    rounds,
    warmUp: roundsBefore,
    work: () => times(turnsPerRound, () => driven.turn('Go.')),
    against: () => times(turnsPerRound, () => bareTurn(think, [], 'Go.')),
  })
  await driven.runner.stop()
  return {
    name: 'a turn of one call (message in, answer out), CPU over the bare loop',
    value: difference(taken) / turnsPerRound,
    unit: 'µs',
    against: `bare loop ${readable(median(taken.against) / turnsPerRound)} µs`,
  }
}

/** The same step in a short and in a long conversation. */
async function growth(): Promise<Row> {
  const callsPerTurn = 5
  const turnsPerRound = 60
  const agents = (rounds + roundsBefore) * turnsPerRound
  const short = await driveWorld({ messages: 10, agents, callsPerTurn })
  const long = await driveWorld({ messages: 10_000, agents: 1, callsPerTurn })
  const { cpuMicros: taken } = await compare({
    rounds,
    warmUp: roundsBefore,
    work: () => times(turnsPerRound, () => long.turn('Go.')),
    against: () => times(turnsPerRound, () => short.turn('Go.')),
  })
  await Promise.all([short.runner.stop(), long.runner.stop()])
  const stepMicros = median(taken.against) / turnsPerRound / (callsPerTurn + 1)
  return {
    name: 'a step at 10,000 messages over one at 10, CPU',
    value: ratio(taken),
    unit: '×',
    limit: 1.3,
    against: `at 10 messages: ${readable(stepMicros)} µs`,
  }
}
