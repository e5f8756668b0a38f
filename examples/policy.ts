import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { agent, ask, type Approve, Host, Runner, scripted, standardSystems, World } from 'entia'
import { builtinTools, Policy, policyEffects } from 'entia/runtime'

// An agent that reads, runs and asks in a project. A policy decides about each call before it runs.

const home = await mkdtemp(join(tmpdir(), 'policy-'))
const cwd = join(home, 'projects/app')
await mkdir(cwd, { recursive: true })
await mkdir(join(home, 'Documents'))
await writeFile(join(cwd, 'notes.txt'), 'Buy milk.\n')
await writeFile(join(home, 'Documents/diary.txt'), 'Dear diary …\n')

const bash = (command: string) => ({ name: 'bash', arguments: { command } })
const steps = [
  [{ name: 'read_file', arguments: { path: 'notes.txt' } }],
  [bash('git status')],
  [bash('git status notes.txt')],
  [bash('git status; rm notes.txt')],
  [bash('cat ~/.s"sh"/id_rsa')],
  [{ name: 'write_file', arguments: { path: 'keys/new.txt', content: '' } }],
  [{ name: 'read_file', arguments: { path: '~/Documents/diary.txt' } }],
  [{ name: 'read_file', arguments: { path: 'notes.txt' } }],
]
const model = scripted(({ messages }) => {
  const toolCalls = steps[messages.filter(({ role }) => role === 'assistant').length]
  return toolCalls === undefined ? 'That is all.' : { toolCalls }
})

// A person. Says yes to the beginning of a command for the whole session, and no to all that is personal.
const approve: Approve = ({ arguments: given, commandStart, dataClass, decision }) => {
  console.log(`? ${JSON.stringify(given)} [${decision?.reason}]`)
  if (commandStart === 'git status') return { approved: true, remember: 'command' }
  return { approved: false, reason: dataClass === 'code' ? 'not now' : 'that is private' }
}

const tools = builtinTools({ cwd, home, tools: ['core'] })
const world = new World({ name: 'app', systems: standardSystems() })
const coder = world.spawn(...agent({ model: 'script/coder', tools }))
world.add(coder, Policy({ channel: 'cli', cwd, home, config: { deniedPaths: ['~/projects/app/keys'] } }))

const host = new Host({ models: { script: model }, tools, approve, effects: policyEffects() })
const runner = new Runner(world, { host })
runner.on('call-settled', ({ decision, number, outcome, tool }) => {
  console.log(`${number}. ${tool} ${outcome}: ${decision.reason}`)
})
await runner.start()
console.log((await ask(runner, coder, 'Look around.')).text)
await runner.stop()
await rm(home, { recursive: true })

/*
Prints:
1. read_file ran: default: code/read/cli
? {"command":"git status"} [default: code/exec/cli]
2. bash ran: default: code/exec/cli
3. bash ran: remembered: bash
? {"command":"git status; rm notes.txt"} [default: code/exec/cli]
4. bash declined: default: code/exec/cli
? {"command":"cat ~/.s\"sh\"/id_rsa"} [credential path: ~/.s"sh"/id_rsa]
5. bash declined: credential path: ~/.s"sh"/id_rsa
6. write_file deny: denied path: ~/projects/app/keys
? {"path":"~/Documents/diary.txt"} [default: personal/read/cli]
7. read_file declined: default: personal/read/cli
? {"path":"notes.txt"} [default: personal/read/cli]
8. read_file declined: default: personal/read/cli
That is all.
*/
