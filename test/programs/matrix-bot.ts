// A bot that answers with what was said, after noting it with a tool. Folders come by the environment.
// Usage: matrix-bot.ts <file of notes>
import { appendFile } from 'node:fs/promises'
import { defineTool, scripted, textOf } from 'entia'
import { matrixRun } from 'entia/matrix'
import { z } from 'zod'

const [notes = ''] = process.argv.slice(2)
const note = defineTool({
  name: 'note',
  description: 'Notes something.',
  input: z.object({ said: z.string() }),
  operation: 'read',
  restart: 'once',
  async run({ said }) {
    await appendFile(notes, `${said}\n`)
    return 'noted'
  },
})
const script = scripted(({ messages }) => {
  const said = textOf(messages.findLast(({ role }) => role === 'user'))
  if (messages.at(-1)?.role === 'tool') return `You said: ${said}`
  return { toolCalls: [{ name: 'note', arguments: { said } }] }
})
await matrixRun({ model: 'script/m', tools: [note], host: { models: { script } }, timeoutMs: 1_000 })
