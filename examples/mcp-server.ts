import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { toNodeHandler } from '@modelcontextprotocol/node'
import { agent, ask, defineTool, Host, Runner, scripted, standardSystems, textOf, World } from 'entia'
import { mcpHandler } from 'entia/mcp'
import { z } from 'zod'

// A world of agents as tools of another program: an MCP client asks a librarian, who looks into a catalogue.

const find = defineTool({
  name: 'find_book',
  description: 'Finds a book by its title.',
  input: z.object({ title: z.string() }),
  restart: 'pure',
  run: ({ title }) => (title === 'Emma' ? 'shelf 12' : 'not here'),
})

// Stands in for a model, so that this runs without a key.
const librarian = scripted(({ messages }) => {
  const last = messages.at(-1)
  if (last?.role === 'tool') return `It is on ${textOf(last)}.`
  return { toolCalls: [{ name: 'find_book', arguments: { title: 'Emma' } }] }
})

const world = new World({ systems: standardSystems() })
const runner = new Runner(world, { host: new Host({ models: { script: librarian }, tools: [find] }) })
await runner.start()

// Each question has an agent of its own, so that questions of several clients are answered side by side.
const askLibrarian = defineTool({
  name: 'ask_librarian',
  description: 'Asks a librarian for a book.',
  input: z.object({ question: z.string() }),
  restart: 'pure',
  // Without it each call is put to the user of the client.
  operation: 'read',
  run: async ({ question }, { progress, signal }) => {
    progress('The librarian is looking.')
    const entity = await runner.change((its) => its.spawn(...agent({ model: 'script/librarian', tools: [find] })))
    try {
      // A client that calls its call off ends the agent's turn.
      return (await ask(runner, entity, question, { signal })).text
    } finally {
      await runner.change((its) => its.despawn(entity))
    }
  },
})

// The handler takes web-standard requests; here it is in an HTTP server of Node, beside what else that serves.
const token = 'a-secret-that-clients-know'
const handler = await mcpHandler({ token, tools: [askLibrarian], info: { name: 'library', version: '1.0.0' } })
const answer = toNodeHandler(handler)
const server = createServer((request, response) => {
  if (request.url === '/mcp') return void answer(request as IncomingMessage & { method: string; url: string }, response)
  response.end('The library is open.')
})
server.listen(0, '127.0.0.1')
await once(server, 'listening')

// The other program: any MCP client.
const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`)
const client = new Client({ name: 'reader', version: '1.0.0' }, { versionNegotiation: { mode: 'auto' } })
const headers = { authorization: `Bearer ${token}` }
await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }))
const { tools } = await client.listTools()
console.log(tools.map(({ name, description }) => `${name}: ${description}`).join('\n'))
const { content } = await client.callTool(
  { name: 'ask_librarian', arguments: { question: 'Where is Emma?' } },
  { onprogress: ({ message }) => console.log(`[${message}]`) },
)
console.log(content.map((block) => (block.type === 'text' ? block.text : '')).join(''))

await client.close()
await handler.close()
server.close()
await runner.stop()

/*
Prints:
ask_librarian: Asks a librarian for a book.
[The librarian is looking.]
It is on shelf 12.
*/
