import type { Initial } from 'entia'
import { configured, readConfig } from 'entia/context'
import { driveWorld, warmUp } from './driven-world.ts'
import { compare, median, ratio, times } from './measure.ts'
import { readable, type Row } from './row.ts'

const rounds = 15
const roundsBefore = 3
const callsPerTurn = 5
const turnsPerRound = 60

const prices = { 'fake/model': { input: 0.001, output: 0.001, contextWindow: 1_000_000 } }

/** All that keeps a context alive, with thresholds that are not reached. */
const everything: readonly Initial[] = configured(
  readConfig({
    subagents: { enabled: true },
    archival: { enabled: true, trigger: { tokenThreshold: 1_000_000, toolCallThreshold: 1_000 } },
    context: { watchdog: 'enforce' },
    ceilings: { maxTurnCostUsd: 1_000, maxSessionCostUsd: 1_000 },
  }),
)

/** What a step costs with everything on that keeps a context alive, while none of it has anything to do. */
export async function measure(): Promise<Row[]> {
  await warmUp()
  await warmUp({ parts: everything, prices })
  return [await besides(), await growth()]
}

/** Each turn is another agent's, so that conversations stay as long as they are. */
async function besides(): Promise<Row> {
  const agents = (rounds + roundsBefore) * turnsPerRound
  const off = await driveWorld({ messages: 100, agents, callsPerTurn })
  const on = await driveWorld({ messages: 100, agents, callsPerTurn, parts: everything, prices })
  const { cpuMicros: taken } = await compare({
    rounds,
    warmUp: roundsBefore,
    work: () => times(turnsPerRound, () => on.turn('Go.')),
    against: () => times(turnsPerRound, () => off.turn('Go.')),
  })
  await Promise.all([off.runner.stop(), on.runner.stop()])
  return {
    name: 'a step with compaction, checkpoints, archival, ceilings and watchdog on and idle, over one without, CPU',
    value: ratio(taken),
    unit: '×',
    limit: 1.1,
    against: `without: ${readable(median(taken.against) / turnsPerRound / (callsPerTurn + 1))} µs`,
  }
}

/** Tokens are counted as they come: a long conversation costs no more than a short one. */
async function growth(): Promise<Row> {
  const agents = (rounds + roundsBefore) * turnsPerRound
  const options = { callsPerTurn, parts: everything, prices }
  const short = await driveWorld({ messages: 100, agents, ...options })
  const long = await driveWorld({ messages: 10_000, agents: 1, ...options })
  const { cpuMicros: taken } = await compare({
    rounds,
    warmUp: roundsBefore,
    work: () => times(turnsPerRound, () => long.turn('Go.')),
    against: () => times(turnsPerRound, () => short.turn('Go.')),
  })
  await Promise.all([short.runner.stop(), long.runner.stop()])
  return {
    name: 'such a step at 10,000 messages over one at 100, CPU',
    value: ratio(taken),
    unit: '×',
    limit: 1.3,
    against: `at 100 messages: ${readable(median(taken.against) / turnsPerRound / (callsPerTurn + 1))} µs`,
  }
}
