import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import {
  agent,
  Conversation,
  defineTool,
  lastText,
  Runner,
  scripted,
  sqliteStore,
  standardSystems,
  textOf,
  World,
} from 'entia'
import * as components from 'entia/components'
import { z } from 'zod'

// A chat server that is killed in the middle of a turn. Started again, it finishes the turn; a message that the client
// sends a second time, because it has heard nothing, is taken once.

// Started with a folder, this file is the server: POST / says something, GET / waits for the answer.
const [, , folder] = process.argv
if (folder === undefined) await client()
else await serve(folder)

async function serve(data: string): Promise<void> {
  const search = defineTool({
    name: 'search',
    description: 'Searches the catalogue.',
    input: z.object({ words: z.string() }),
    restart: 'pure',
    // Slow enough to be killed in.
    run: async ({ words }, { sleep }) => (await sleep(300), `2 books about ${words}`),
  })
  const shop = scripted(({ messages }) => {
    const last = messages.at(-1)
    if (last?.role === 'tool') return `I found ${textOf(last)}.`
    return { toolCalls: [{ name: 'search', arguments: { words: textOf(last) } }] }
  })
  const create = (): World => {
    const world = new World({ name: 'shop', systems: standardSystems() })
    world.spawn(...agent({ model: 'shop/assistant', tools: [search] }))
    return world
  }
  const store = sqliteStore({ folder: data })
  const options = { models: { shop }, tools: [search], systems: standardSystems(), components }
  const runner = await Runner.open({ ...options, store, name: 'shop', create })
  const [assistant = 0] = runner.world.query(Conversation)
  const waiting = new Set<ServerResponse>()
  runner.on('turn-ended', () => {
    for (const response of waiting) response.end(lastText(runner.world, assistant))
    waiting.clear()
  })
  runner.on('tool-called', () => process.send?.('at work'))
  await runner.start()

  /** Once a message is taken it is on the disk. One whose id was seen before is dropped. */
  async function take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { id, text } = (await json(request)) as { readonly id: string; readonly text: string }
    await runner.message(assistant, text, { id })
    const said = runner.world.read(assistant, Conversation).filter(({ role }) => role === 'user')
    response.end(`${said.length} said`)
  }
  const server = createServer((request, response) => {
    if (request.method === 'GET') waiting.add(response)
    else void take(request, response)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  process.send?.({ port: typeof address === 'object' ? address?.port : undefined })
}

async function client(): Promise<void> {
  const data = await mkdtemp(join(tmpdir(), 'entia-'))
  const message = JSON.stringify({ id: 'message-1', text: 'lighthouses' })

  const first = await started(data)
  const atWork = once(first.child, 'message')
  console.log(await (await fetch(first.url, { method: 'POST', body: message })).text())
  await atWork
  first.child.kill('SIGKILL')
  await once(first.child, 'exit')
  console.log('Killed while it searched')

  const second = await started(data)
  // Who knows whether it had arrived? It is sent once more.
  const answer = fetch(second.url)
  console.log(await (await fetch(second.url, { method: 'POST', body: message })).text())
  console.log(await (await answer).text())
  second.child.kill('SIGKILL')
  await once(second.child, 'exit')
  await rm(data, { recursive: true })
}

/** A server of its own process, once it listens. */
async function started(data: string) {
  const child = fork(import.meta.filename, [data])
  for (;;) {
    const [said] = (await once(child, 'message')) as [unknown]
    if (typeof said === 'object' && said !== null && 'port' in said) {
      return { child, url: `http://127.0.0.1:${String(said.port)}/` }
    }
  }
}

/*
Prints:
1 said
Killed while it searched
1 said
I found 2 books about lighthouses.
*/
