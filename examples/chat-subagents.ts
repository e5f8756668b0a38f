import { defineTool, scripted, textOf } from 'entia'
import { collectSubagent, killSubagent, listSubagents, newSession, querySubagent, spawnSubagent } from 'entia/runtime'
import { z } from 'zod'

// A program gives tasks to subagents of a chat session, asks them further, and ends them.

const read_file = defineTool({
  name: 'read_file',
  description: 'Reads a page of the log book.',
  input: z.object({ path: z.string() }),
  restart: 'pure',
  run: ({ path }) => `${path}: wind from the west`,
})

const mate = scripted(({ messages }) => {
  const last = messages.at(-1)
  if (last === undefined) return 'Nothing to do.'
  if (last.role === 'tool') return `I read: ${textOf(last)}`
  const words = textOf(last)
  if (words.startsWith('Read')) return { toolCalls: [{ name: 'read_file', arguments: { path: 'monday' } }] }
  return `You asked: ${words}`
})

const session = newSession({
  model: 'script/mate',
  tools: [read_file],
  policyFunction: () => ({ model: 'cloud', approval: 'allow', reason: 'a log book' }),
  host: { models: { script: mate } },
})

const id = await spawnSubagent(session, { task: 'Read the page of Monday.', preset: 'minimal' })
console.log(await collectSubagent(session, id, { wait: true }))
console.log(await querySubagent(session, 1, 'Was it strong?'))

await spawnSubagent(session, { task: 'Look at the sky.', tools: [] })
await collectSubagent(session, 2, { wait: true })
for (const { number, pending, status, task } of await listSubagents(session)) console.log(number, task, status, pending)
console.log(await killSubagent(session, 2), await killSubagent(session, 'nobody'))
await session.close()

/*
Prints:
I read: monday: wind from the west
You asked: Was it strong?
1 Read the page of Monday. succeeded false
2 Look at the sky. succeeded false
true false
*/
