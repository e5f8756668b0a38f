import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { defineTool, scripted, textOf } from 'entia'
import { builtinTools, listWorkspace, newSession, pinResult } from 'entia/runtime'
import { z } from 'zod'

// What an agent has found out is kept, with where it is from. A changed file makes it stale, and all that was made from it.

const cwd = await mkdtemp(join(tmpdir(), 'entia-workspace-'))
const orders = Array.from({ length: 60 }, (_, index) => ({ id: index + 1, country: index % 3 === 0 ? 'NO' : 'FR' }))
await writeFile(join(cwd, 'orders.json'), JSON.stringify(orders))

const load = defineTool({
  name: 'load_table',
  description: 'Loads a table from a JSON file.',
  input: z.object({ path: z.string() }),
  restart: 'pure',
  operation: 'read',
  paths: ['path'],
  run: () => orders,
})
const count = defineTool({
  name: 'count_by',
  description: 'Counts the rows of a stored table.',
  input: z.object({ table: z.string(), column: z.string() }),
  restart: 'pure',
  operation: 'read',
  paths: [],
  run: async ({ table }, { handles }) => {
    const rows = (await handles?.read(table)) as typeof orders
    return Object.entries(Object.groupBy(rows, ({ country }) => country)).map(([country, of]) => [country, of?.length])
  },
})

const calls = [
  { name: 'load_table', arguments: { path: 'orders.json' } },
  { name: 'count_by', arguments: { table: '.h_001', column: 'country' } },
]
const handover = [
  '# Current state',
  '# Files & changes',
  '# Technical context',
  '# Strategy & approach',
  '# Exact next steps',
]
let after = ''
const analyst = scripted(({ messages, system }) => {
  if (system.includes('handover')) return handover.map((heading) => `${heading}\nnone`).join('\n')
  const note = messages.find(({ role }) => role === 'system')
  if (note !== undefined) after = textOf(note)
  const call = calls.shift()
  return call === undefined ? 'Done.' : { toolCalls: [call] }
})
const session = newSession({
  cwd,
  model: 'script/analyst',
  host: { models: { script: analyst } },
  tools: [load, count, ...builtinTools({ cwd, tools: ['file', 'read_handle'] })],
  policy: { permissions: { write_file: 'allow' } },
})
const list = () => {
  for (const { isPinned, isStale, name, origin, type } of listWorkspace(session)) {
    console.log(`${isPinned ? '*' : ''}${isStale ? '~' : ''}${name}: ${type}, from ${origin}`)
  }
}

await session.turn('How many orders come from Norway?')
list()

// A summary takes the place of the conversation. The next turn begins with what the model does not see any more.
await session.compact()
await session.turn('And from France, of the orders?')
console.log(after.split('\n').slice(4).join('\n'))

await pinResult(session, '.h_001')
calls.push({ name: 'write_file', arguments: { path: 'orders.json', content: '[]' } } as never)
await session.turn('Empty the file.')
list()

await session.close()
await rm(cwd, { recursive: true })

/*
Prints:
.h_001: table, from load_table {"path":"orders.json"}
count_by:turn1: list, from count_by {"column":"country","table":".h_001"}
All: count_by:turn1, .h_001

## .h_001: table, from load_table {"path":"orders.json"}, turn 1
| table of 60 rows: id number, country text
| [stored as .h_001]

## count_by:turn1: list, from count_by {"column":"country","table":".h_001"}, turn 1
| [["NO",20],["FR",40]]
*~.h_001: table, from load_table {"path":"orders.json"}
~count_by:turn1: list, from count_by {"column":"country","table":".h_001"}
file:orders.json: text, from write_file {"content":"[]","path":"orders.json"}
*/
