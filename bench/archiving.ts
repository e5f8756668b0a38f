import { agent, memoryStore, Runner, scripted, standardSystems, type System, World } from 'entia'
import { Archival } from 'entia/context'
import { lookUpTool, sentence } from './bare-loop.ts'
import { median } from './measure.ts'
import { readable, type Row } from './row.ts'

const rounds = 5
const callsPerStep = 3
/** With a message of the model for each step: 1,000 messages, and the one that opens the turn. */
const steps = 250

/** What it costs to archive a long turn: how long no other agent gets its tick. */
export async function measure(): Promise<Row[]> {
  const longest: number[] = []
  const before: number[] = []
  for (let round = 0; round < rounds; round++) {
    const { archiving, turn } = await archived()
    longest.push(Math.max(...archiving))
    before.push(Math.max(...turn))
  }
  return [
    {
      name: 'the longest tick while a turn of 1,000 messages is archived',
      value: median(longest),
      unit: 'ms',
      limit: 5,
      against: `the longest one of the turn itself: ${readable(median(before))} ms`,
    },
  ]
}

/** Milliseconds that the systems took in each tick: of a long turn, and of all that comes behind its end. */
async function archived(): Promise<{ readonly turn: readonly number[]; readonly archiving: readonly number[] }> {
  const turn: number[] = []
  const archiving: number[] = []
  let isOver = false
  let ticks = turn
  const systems = timed(standardSystems(), (tookMs) => {
    ticks.push(tookMs)
    if (isOver) ticks = archiving
  })
  const world = new World({ systems })
  const limits = { maxSteps: steps + 1, maxToolCalls: steps * callsPerStep }
  const worker = world.spawn(
    ...agent({ model: 'fake/model', tools: [lookUpTool], messages: 'Go.', ...limits }),
    Archival({ enabled: true }),
  )
  const model = scripted(({ messages, tools }) => {
    if (tools.length === 0) return JSON.stringify(summary)
    const page = (messages.length - 1) / (callsPerStep + 1)
    if (page === steps) return 'Done.'
    const call = { name: 'look_up', arguments: { page, reason: sentence } }
    return { toolCalls: Array.from({ length: callsPerStep }, () => call) }
  })
  const runner = new Runner(world, { models: { fake: model }, tools: [lookUpTool], store: memoryStore() })
  // Told behind the tick in which the turn ended: that one has looked at it.
  runner.on('turn-ended', () => (isOver = true))
  await runner.start()
  await runner.idle()
  await runner.stop()
  const last = turn.pop()
  if (!isOver || archiving.length === 0 || last === undefined) throw new Error(`Agent ${worker} was not archived.`)
  return { turn, archiving: [last, ...archiving] }
}

const summary = { outcome: 'Read.', key_findings: [], files_touched: [], tools_used: [], open_questions: [] }

/** The same systems, which tell after each tick how many milliseconds they took in it. */
function timed(systems: readonly System[], tell: (tookMs: number) => void): System[] {
  let begin = 0
  const first = systems.reduce((least, { priority }) => Math.min(least, priority), 0)
  const last = systems.reduce((most, { priority }) => Math.max(most, priority), 0)
  return [
    { name: 'begin', priority: first - 1, run: () => void (begin = performance.now()) },
    ...systems,
    { name: 'end', priority: last + 1, run: () => tell(performance.now() - begin) },
  ]
}
