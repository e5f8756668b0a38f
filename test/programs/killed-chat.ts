// A chat session that is killed by itself at an event: the tick is committed by then, and not in the transcript yet.
// Usage: killed-chat.ts <folder of chat sessions> <key> <type of event>
import { defineTool, scripted } from 'entia'
import { z } from 'zod'
import { makeChat } from '../../src/runtime/chat/make-chat.ts'
import { SessionFolder } from '../../src/runtime/chat/session-folder.ts'

const [folder = '', key = '', type = ''] = process.argv.slice(2)
const look = defineTool({
  name: 'look',
  description: 'Looks.',
  input: z.object({}),
  restart: 'pure',
  operation: 'read',
  run: () => 'seen',
})
const model = scripted(({ messages }) =>
  messages.at(-1)?.role === 'tool' ? 'All is well.' : { text: 'I look.', toolCalls: [{ name: 'look' }] },
)
const session = makeChat(
  { key, provider: 'script', model: 'm', tools: [look], host: { models: { script: model } } },
  { folder: new SessionFolder(folder) },
)
session.runner.on('*', (event) => void (event.type === type && process.kill(process.pid, 'SIGKILL')))
await session.turn('How is it?')
