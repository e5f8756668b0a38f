import { agent, ask, fileTools, Runner, scripted, standardSystems, World } from 'entia'

// An agent that reads files of one folder. It cannot write, and cannot reach anything outside.

const { readFile, listFiles, grepFiles } = fileTools({ folder: new URL('./reader/', import.meta.url) })
const tools = [readFile, listFiles, grepFiles]

const calls = [
  { name: 'list_files', arguments: { pattern: 'l*.ts' } },
  { name: 'grep_files', arguments: { pattern: 'export function', glob: 'quote.ts', limit: 1 } },
  { name: 'read_file', arguments: { path: '../hello.ts' } },
]
const librarian = scripted(({ messages }) => {
  const call = calls[messages.filter(({ role }) => role === 'assistant').length]
  return call === undefined ? 'I have looked.' : { toolCalls: [call] }
})

const world = new World({ systems: standardSystems() })
const reader = world.spawn(...agent({ model: 'script/librarian', tools }))
const runner = new Runner(world, { models: { script: librarian }, tools })
await runner.start()
for await (const part of ask(runner, reader, 'What is here?').parts) {
  if (part.type !== 'tool-result') continue
  const [block] = part.result
  console.log(`${part.tool}: ${block?.type === 'text' ? block.text : ''}`)
}
await runner.stop()

/*
Prints:
list_files: lead.ts
grep_files: quote.ts:…: export function bestQuote(…
[1 matches shown; there are more: narrow pattern, path or glob]
read_file: Error: ../hello.ts is outside the folder.
*/
