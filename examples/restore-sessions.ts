import { fork } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  agent,
  defineTool,
  lastText,
  Runner,
  scripted,
  sqliteStore,
  standardSystems,
  SubagentRegistry,
  textOf,
  VirtualClock,
  World,
} from 'entia'
import * as components from 'entia/components'
import { z } from 'zod'

// A process is killed while its agent's sessions are at work. The same program, started again, goes on: each session from
// its own journal, and no answer that a model has given is asked for a second time.

// Started with a folder, this file is the process that is killed.
const isDoomed = process.argv[2] !== undefined
const folder = process.argv[2] ?? (await mkdtemp(join(tmpdir(), 'entia-')))
const answers = join(folder, 'answers.txt')

/** Notes, in a file that outlives the process, which model has answered what. */
function note(who: string, step: number): void {
  appendFileSync(answers, `${who}, step ${step}\n`)
}

const dig = defineTool({
  name: 'dig',
  description: 'Digs somewhere, so many metres deep.',
  input: z.object({ place: z.string(), metres: z.number() }),
  restart: 'pure',
  run: ({ place, metres }) => `There is sand ${place}, ${metres} m down.`,
})

// Digs twice and reports. Each of its answers takes some minutes.
const digger = scripted(
  ({ messages }) => {
    const place = textOf(messages.at(0)).replace('Dig ', '')
    const step = messages.filter(({ role }) => role === 'assistant').length + 1
    note(place, step)
    if (step === 3) return `Nothing ${place}.`
    return { toolCalls: [{ name: 'dig', arguments: { place, metres: step } }] }
  },
  { latencyMs: [60_000, 600_000] },
)
const lead = scripted(({ messages }) => {
  const step = messages.filter(({ role }) => role === 'assistant').length + 1
  note('lead', step)
  if (step === 3) return 'There is no treasure.'
  if (step === 2) return { toolCalls: [{ name: 'subagent_wait', arguments: { mode: 'all' } }] }
  const tasks = ['Dig in the north', 'Dig in the west', 'Dig in the south']
  const launches = tasks.map((prompt) => ({ category: 'digger', prompt, background: true }))
  return { toolCalls: launches.map((launch) => ({ name: 'subagent', arguments: launch })) }
})

/** The world of the first start. */
function create(): World {
  const world = new World({ name: 'island', systems: standardSystems() })
  const subagents = { digger: { name: 'digger', model: 'digger/any', tools: ['dig'] } }
  world.spawn(...agent({ model: 'lead/any', messages: 'Find the treasure.' }), SubagentRegistry({ subagents }))
  return world
}

if (!isDoomed) {
  const [, signal] = await once(fork(import.meta.filename, [folder]), 'exit')
  console.log(`The first process ended with ${signal}.`)
}
const before = isDoomed ? [] : readFileSync(answers, 'utf8').trim().split('\n')

const store = sqliteStore({ folder })
const options = { models: { lead, digger }, tools: [dig], clock: new VirtualClock(), store }
const runner = await Runner.open({ ...options, name: 'island', systems: standardSystems(), components, create })
const [captain = 0] = runner.world.query(SubagentRegistry)
// No goodbye: what is not on the disk by now is lost. Of the three sessions, one has ended, and two are in the middle.
if (isDoomed) runner.on('session-ended', () => process.kill(process.pid, 'SIGKILL'))
else for (const { prompt, status } of runner.subagents(captain).list()) console.log(`Found: ${prompt}, ${status}`)
await runner.start()
await runner.idle()
await runner.stop()
await store.close()

console.log(lastText(runner.world, captain))
const all = readFileSync(answers, 'utf8').trim().split('\n')
const twice = all.length - new Set(all).size
console.log(`Answers of models before: ${before.length}, after: ${all.length - before.length}, given twice: ${twice}`)
await rm(folder, { recursive: true })

/*
Prints:
The first process ended with SIGKILL.
Found: Dig in the north, running
Found: Dig in the west, running
Found: Dig in the south, succeeded
There is no treasure.
Answers of models before: 7, after: 5, given twice: 0
*/
