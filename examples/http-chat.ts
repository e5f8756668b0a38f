import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { agent, memoryStore, scripted, standardSystems, textOf, World, worlds } from 'entia'

// A chat server for many users: each has a World of its own, opened when they speak and closed when they are idle.
// POST /<user> says something and answers with server-sent events, one for each part of the turn. GET /<user> gives the turn
// that is open, or the last one: for a page that was reloaded.

// Stands in for a model, so that this runs without a key.
const friend = scripted(({ messages }) => {
  const said = messages.filter(({ role }) => role === 'user').map(textOf)
  return said.length === 1 ? `Hello, ${said[0]}.` : `You said ${said.join(', then ')}.`
})

const chats = worlds(memoryStore(), {
  make(name) {
    const world = new World({ name, systems: standardSystems() })
    world.spawn(...agent({ model: 'script/friend' }))
    return world
  },
  models: { script: friend },
  // A minute without a word, and a user's World rests in the store.
  idleMs: 60_000,
})

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chat = chats.agent((request.url ?? '/').slice(1))
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  try {
    const said = await text(request)
    const { parts } = request.method === 'POST' ? chat.ask(said) : chat.attach()
    for await (const part of parts) {
      response.write(`event: ${part.type}\ndata: ${JSON.stringify(part)}\n\n`)
    }
  } catch (error) {
    response.write(`event: error\ndata: ${JSON.stringify(String(error))}\n\n`)
  }
  response.end()
}

const server = createServer((request, response) => void answer(request, response)).listen(0, '127.0.0.1')
await once(server, 'listening')
const { port } = server.address() as AddressInfo

/** Says something as a user, or asks for the last turn, and returns what came back as text. */
async function say(user: string, words?: string): Promise<string> {
  const request = words === undefined ? {} : { method: 'POST', body: words }
  const response = await fetch(`http://127.0.0.1:${port}/${user}`, request)
  const events = (await response.text()).split('\n\n')
  return events
    .flatMap((event) => /^event: text\ndata: (.*)$/.exec(event)?.[1] ?? [])
    .map(textIn)
    .join('')
}

function textIn(data: string): string {
  return (JSON.parse(data) as { readonly text: string }).text
}

console.log(await say('ada', 'Ada'))
console.log(await say('alan', 'Alan'))
console.log(await say('ada', 'goodbye'))
// The page is loaded again.
console.log(await say('ada'))

server.close()
await chats.close()

/*
Prints:
Hello, Ada.
Hello, Alan.
You said Ada, then goodbye.
You said Ada, then goodbye.
*/
