import { agent, run, standardSystems, World } from 'entia'
import { bareTurn, conversation, fakeModel, lookUpTool, provider, type Think } from './bare-loop.ts'
import { compare, cpuMicros, cpuOf, difference, median, ratio } from './measure.ts'
import { readable, type Row } from './row.ts'

const steps = 200
const runsPerRound = 10
const rounds = 15
const warmUp = 4

/** What one step costs: a model call and the call of one tool, in process, with no store. */
export async function measure(): Promise<Row[]> {
  const marks = new Marks()
  const think = marks.around(fakeModel(steps))
  const run200 = await compare({
    measure: cpuOf,
    rounds,
    warmUp,
    work: () => times(runsPerRound, () => frameworkTurn(think, 0)),
    against: () => times(runsPerRound, () => bareTurn(fakeModel(steps), [], 'Go.')),
  })
  const stepsPerRound = runsPerRound * steps
  return [
    {
      name: 'step: CPU of a model call and a tool call, over the bare loop',
      value: difference(run200) / stepsPerRound,
      unit: 'µs',
      limit: 15,
      against: `${readable(median(run200.against) / stepsPerRound)} µs in the bare loop`,
    },
  ]
}
