import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { availableParallelism, cpus, loadavg } from 'node:os'
import { join, relative } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { install, peers } from './peers.ts'
import { figuresOf, markdown } from './report.ts'
import { type Scenario, scenarios } from './scenarios.ts'

/**
 * Measures Entia beside other frameworks on the same work, and prints a table in Markdown. Usage: main.ts [scenario …].
 * The peers take turns within each round, each measurement has a process of its own, and figures are medians of rounds.
 * What is not there is installed first. How far it is goes to standard error.
 */
const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string', default: '3' },
    /** Names of the peers to measure, with commas. */
    peers: { type: 'string', default: Object.keys(peers).join(',') },
    /** Runs of each measurement, for a look whether all of it runs. @default as many as a scenario says */
    runs: { type: 'string', default: '0' },
    /** Prints one object, with the figures of each round. */
    json: { type: 'boolean', default: false },
  },
})

/** Longest that one measurement may take. */
const maxMeasurementMs = 300_000

const chosen = positionals.length === 0 ? Object.keys(scenarios) : positionals
const asked = options.peers.split(',')
const rounds = Number(options.rounds)
const runs = Number(options.runs)
const problem =
  unknown('scenario', chosen, scenarios) ??
  unknown('peer', asked, peers) ??
  (Number.isInteger(rounds) && rounds >= 1 ? undefined : `--rounds must be an integer ≥ 1, got ${options.rounds}.`) ??
  (Number.isInteger(runs) && runs >= 0 ? undefined : `--runs must be an integer ≥ 0, got ${options.runs}.`)
if (problem === undefined) await bench()
else {
  console.error(problem)
  process.exitCode = 1
}

function unknown(what: string, names: readonly string[], known: Readonly<Record<string, unknown>>): string | undefined {
  const strange = names.find((name) => !Object.hasOwn(known, name))
  return strange && `There is no ${what} '${strange}'. There are ${Object.keys(known).join(', ')}.`
}

async function bench(): Promise<void> {
  const missing = await install(asked)
  const leftOut = [...missing].map(([name, packages]) => `${name}: cannot install ${packages.join(', ')}`)
  for (const line of leftOut) console.error(`Left out: ${line}.`)
  const present = asked.filter((name) => !missing.has(name))
  const loads: number[] = []
  const samples = new Map(chosen.map((name) => [name, new Map<string, number[]>()]))
  for (let round = 0; round < rounds; round++) {
    for (const name of chosen) {
      const scenario = scenarios[name] as Scenario
      for (const peer of inTurns(present, round)) {
        if (peers[peer]?.onlyOverHttp === true && scenario.overHttp !== true) continue
        const figure = await measured(peer, name, scenario)
        process.stderr.write(`round ${round + 1}/${rounds}  ${name}  ${peer}  ${figure.toFixed(1)} µs\n`)
        const ofPeers = samples.get(name)
        ofPeers?.set(peer, [...(ofPeers.get(peer) ?? []), figure])
        loads.push(loadavg()[0] ?? 0)
      }
    }
  }
  const figures = figuresOf(samples)
  const machine = `${availableParallelism()} cores, ${cpus()[0]?.model.trim()}, Node ${process.version}`
  const load = `${Math.min(...loads).toFixed(1)} to ${Math.max(...loads).toFixed(1)}`
  const entia = relative(process.cwd(), fileURLToPath(import.meta.resolve('entia')))
  if (options.json) console.log(JSON.stringify({ machine, load, rounds, entia, leftOut, figures }, undefined, 2))
  else console.log(`${rounds} rounds on ${machine}, load ${load}. Entia is ${entia}.\n\n${markdown(figures)}`)
}

/** Each round begins with another one. */
function inTurns(names: readonly string[], round: number): readonly string[] {
  const first = round % Math.max(names.length, 1)
  return [...names.slice(first), ...names.slice(0, first)]
}

async function measured(peer: string, name: string, { overHttp = false, work }: Scenario): Promise<number> {
  if (!overHttp) return await figureOfProcess(peer, name)
  const program = join(import.meta.dirname, 'server.ts')
  const server = spawn(process.execPath, [program, String(work.latencyMs), String(work.toolCalls)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  try {
    const [address] = (await once(server.stdout, 'data')) as [Buffer]
    return await figureOfProcess(peer, name, String(address).trim())
  } finally {
    server.stdin.end()
  }
}

async function figureOfProcess(peer: string, name: string, ...address: readonly string[]): Promise<number> {
  const program = join(import.meta.dirname, 'measured-process.ts')
  const given = ['--expose-gc', program, peer, name, options.runs, ...address]
  const child = spawn(process.execPath, given, {
    stdio: ['ignore', 'pipe', 'inherit'],
    timeout: maxMeasurementMs,
  })
  const [printed, [code]] = await Promise.all([text(child.stdout), once(child, 'close')])
  if (code !== 0) throw new Error(`${peer} cannot be measured in ${name}.`)
  return Number(printed)
}
