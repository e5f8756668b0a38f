import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { scripted, textOf } from 'entia'
import { addObserver, builtinTools, newSession, observerProgress, turn } from 'entia/runtime'

// A program that talks to an agent: its calls show as lines, and a person is asked about what the policy does not allow.

const cwd = await mkdtemp(join(tmpdir(), 'entia-chat-'))
const clerk = scripted(({ messages }) => {
  const last = messages.at(-1)
  if (last?.role === 'tool') return `I was told: ${textOf(last)}`
  if (textOf(last) === 'Who was here?') return { toolCalls: [{ name: 'list_files' }] }
  if (textOf(last) === 'Clean up.') return { toolCalls: [{ name: 'bash', arguments: { command: 'rm guests.txt' } }] }
  return { toolCalls: [{ name: 'write_file', arguments: { path: 'guests.txt', content: 'Ada\nGrace\n' } }] }
})

const session = newSession({
  cwd,
  model: 'script/clerk',
  tools: builtinTools({ cwd, tools: ['core'] }),
  host: { models: { script: clerk } },
  approve(call, { reason }) {
    console.log(`May ${call.tool} run? (${reason})`)
    return call.tool === 'write_file' || { approved: false, reason: 'keep the list' }
  },
})
addObserver(session, observerProgress({ write: (line) => process.stdout.write(line) }))

for (const prompt of ['Ada and Grace were here.', 'Who was here?', 'Clean up.']) {
  const { reply, stop, steps } = await turn(prompt, session)
  console.log(`${reply}\n(${stop}, ${steps} steps)\n`)
}
const { toolCalls, turns } = session.stats()
console.log(`${turns} turns, ${toolCalls} calls`)

await session.close()
await rm(cwd, { recursive: true })

/*
Prints:
May write_file run? (default: code/write/cli)
  [write_file] guests.txt (1 lines)
I was told: Wrote 10 bytes to guests.txt (new).
(done, 2 steps)

  [list_files] . (1 lines)
I was told: guests.txt
(done, 2 steps)

May bash run? (default: code/exec/cli)
  [bash] rm guests.txt declined: it runs a command in your project
I was told: [user declined: keep the list]
(done, 2 steps)

3 turns, 3 calls
*/
