import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { defineTool, scripted, textOf } from 'entia'
import { matrixArchiveAll, matrixConfigure, matrixRun, matrixSessions } from 'entia/matrix'
import { z } from 'zod'
import { LocalHomeserver } from './matrix/homeserver.ts'

// An agent in a chat room: it answers Ada, and asks her before it orders anything. The homeserver is a small one in this program, so
// that it runs without an account; with one of your own, only the address and the names differ.

const server = new LocalHomeserver()
const address = await server.start()
const ada = server.addUser('ada', 'her own')
server.addUser('clerk', 'password')
const room = server.addRoom('shop', [ada])

const folder = await mkdtemp(join(tmpdir(), 'entia-matrix-'))
const env = { ENTIA_CONFIG_DIR: join(folder, 'config'), ENTIA_DATA_DIR: join(folder, 'data') }
await matrixConfigure({
  server: address,
  user: 'clerk',
  password: 'password',
  room: '#shop:local',
  users: [ada],
  approvers: [ada],
  env,
})

const order = defineTool({
  name: 'order',
  description: 'Orders something for the shop.',
  input: z.object({ what: z.string() }),
  operation: 'write',
  restart: 'once',
  run: ({ what }) => `Ordered: ${what}.`,
})
const clerk = scripted(({ messages }) => {
  const last = messages.at(-1)
  if (last?.role === 'tool') return textOf(last)
  const asked = messages.filter(({ role }) => role === 'user')
  if (textOf(last).startsWith('Order')) return { toolCalls: [{ name: 'order', arguments: { what: '12 lamps' } }] }
  return `This is question ${asked.length}.`
})
const options = { env, model: 'shop/clerk', tools: [order], host: { models: { shop: clerk } } }

// The first sync only notes where to begin: what was said before is history.
server.say(room, ada, 'Is somebody there?')
let life = await started()
await says('What is this?')

// Stopped and started again, it goes on in the same chat session.
await life.stop()
life = await started()
await says('And this?')

server.say(room, ada, 'Order 12 lamps.')
const question = await server.until(() =>
  server.said(room).find(({ content }) => String(content['body']).startsWith('May')),
)
server.react(room, ada, question.event_id, '👍')
await answer(3)
await life.stop()

for (const { content, sender } of server.said(room)) console.log(`${sender}: ${String(content['body'])}`)
const sessions = matrixSessions(options)
const count = await matrixArchiveAll(sessions, {
  sink: ({ name, turns }) => console.log(`${turns.length} turns of the room ${name} were archived`),
})
console.log(`${count} room`)
await sessions.close()
await server.close()
await rm(folder, { recursive: true })

/** The bot, once it listens. */
async function started() {
  const before = server.requests.length
  const stopping = new AbortController()
  const ended = matrixRun({ ...options, signal: stopping.signal })
  const syncs = (): number => server.requests.slice(before).filter((request) => request.includes('/sync')).length
  await server.until(() => syncs() > 1)
  return {
    async stop(): Promise<void> {
      stopping.abort()
      await ended
    },
  }
}

async function says(words: string): Promise<void> {
  const before = answers()
  server.say(room, ada, words)
  await answer(before + 1)
}

async function answer(nth: number): Promise<void> {
  await server.until(() => answers() >= nth)
}

/** Replies of the clerk, its question left out. */
function answers(): number {
  return server.said(room, '@clerk:local').filter(({ content }) => content['msgtype'] === 'm.text').length
}

/*
Prints:
@ada:local: Is somebody there?
@ada:local: What is this?
@clerk:local: This is question 1.
@ada:local: And this?
@clerk:local: This is question 2.
@ada:local: Order 12 lamps.
@clerk:local: May this run? [order]
what: 12 lamps
Reason: it writes in your project
React with 👍 to allow it, or 👎 to decline, within 60 s.
@clerk:local: Ordered: 12 lamps.
3 turns of the room shop were archived
1 room
*/
