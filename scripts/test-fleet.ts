import { styleText } from 'node:util'
import { chaos, type ChaosResult, type Mishaps } from '../test/parts/postgres/chaos.ts'

/**
 * Breaks a fleet of worker processes while it works, as often as the environment says, and prints what came of it as a table of
 * Markdown. How far it is goes to standard error. Ends with 1 if anything was lost, done twice or over the cap.
 */
const count = (name: string, otherwise: number): number => Number(process.env[name] ?? otherwise)
const planned: Mishaps = {
  kills: count('KILLS', 200),
  rootKills: count('ROOT_KILLS', 20),
  pauses: count('PAUSES', 50),
  restarts: count('RESTARTS', 5),
  cuts: count('CUTS', 50),
  delays: count('DELAYS', 20),
  losses: count('LOSSES', 50),
}
const leaseMs = count('LEASE_MS', 2_000)
const maxSessions = count('MAX_SESSIONS', 12)

const result = await chaos({
  ...planned,
  seed: count('SEED', 1),
  workers: count('WORKERS', 3),
  maxSessions,
  desks: count('DESKS', 6),
  jobs: 4,
  steps: count('STEPS', 8),
  leaseMs,
  onProgress: progress(),
})
const broken = brokenBy(result)
console.log(table(result))
for (const what of broken) console.error(styleText('red', `✗ ${what}`))
if (broken.length === 0) console.error(styleText('green', '✓ Nothing was lost, done twice, or over the cap.'))
else process.exitCode = 1

/** One line that changes, where somebody looks at it; else a line each tenth. */
function progress(): (done: number, of: number, what: string, answered: number) => void {
  const beganAt = performance.now()
  let tenths = 0
  return (done, of, what, answered) => {
    const seconds = Math.round((performance.now() - beganAt) / 1_000)
    const line = `${String(done).padStart(String(of).length)} of ${of} mishaps, ${answered} questions answered, ${seconds} s`
    if (process.stderr.isTTY) process.stderr.write(`\r\u001B[K${line} (${what})${done === of ? '\n' : ''}`)
    else if (Math.floor((10 * done) / of) > tenths || done === of) {
      tenths = Math.floor((10 * done) / of)
      process.stderr.write(`${line}\n`)
    }
  }
}

function brokenBy({ again, leftovers, samplesOver, wrong }: ChaosResult): readonly string[] {
  return [
    ...wrong,
    ...leftovers.map((what) => `${what} at the end`),
    ...(again.once === 0 ? [] : [`${again.once} runs of tools that may run once were a second time`]),
    ...(samplesOver === 0 ? [] : [`${samplesOver} samples were over the cap`]),
  ]
}

function table(of: ChaosResult): string {
  const { again, done, mostSlots, samples, samplesOver, toolRuns, wrong } = of
  const rows: readonly (readonly [what: string, often: number | string, cameOfIt: string])[] = [
    ['Workers killed by `kill -9`', done.kills, recovery(of.killedMs)],
    ['Workers killed that held a root world with sessions', done.rootKills, recovery(of.rootKilledMs)],
    [
      `Workers stopped, and woken once others had their worlds (lease ${leaseMs / 1_000} s)`,
      done.pauses,
      recovery(of.pausedMs),
    ],
    ['Postgres killed and started again', done.restarts, `a session works again after ${spread(of.restartedMs)}`],
    ['Half of all connections cut', done.cuts, ''],
    ['All answers held up, up to 1 s', done.delays, ''],
    ['A statement or its answer lost, or come late and twice', done.losses, ''],
    [
      'Questions to root worlds',
      of.asked,
      `${wrong.length === 0 ? 'all' : `all but ${wrong.length}`} answered as they should`,
    ],
    ['Sessions', of.sessions, wrong.length === 0 ? 'each settled once, and succeeded' : 'not all as they should'],
    ['Runs of `once` tools', toolRuns.once, `${again.once} a second time`],
    ['Runs of `keyed` and `pure` tools', toolRuns.keyed + toolRuns.pure, `${again.keyed + again.pure} a second time`],
    [
      `Samples of how many sessions run, cap ${maxSessions}`,
      samples,
      `at most ${mostSlots}; ${samplesOver} over the cap`,
    ],
    ['Worker processes', of.workersStarted, `in ${Math.round(of.tookMs / 1_000)} s`],
  ]
  return [
    '| What happened to three workers at work | How often | What came of it |',
    '|---|---:|---|',
    ...rows.map(([what, often, came]) => `| ${what} | ${often.toLocaleString('en')} | ${came} |`),
  ].join('\n')
}

function recovery(tookMs: readonly number[]): string {
  return `${tookMs.length} worlds at work, with another after ${spread(tookMs)}`
}

function spread(tookMs: readonly number[]): string {
  if (tookMs.length === 0) return '–'
  const sorted = tookMs.toSorted((a, b) => a - b)
  const at = (part: number): string => (sorted[Math.ceil(sorted.length * part) - 1] ?? 0).toFixed(0)
  return `${at(0.5)} ms (p95 ${at(0.95)}, at most ${at(1)})`
}
