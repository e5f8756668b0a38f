import { agent, lastText, run, scripted, standardSystems, textOf, World } from 'entia'
import { connectMcp, mcpTools } from 'entia/mcp'

// Tools of an MCP server, for an agent of a World. The server is a program that is started here; one on the network is
// named by `{ url, headers }`.
const server = await connectMcp(
  { command: process.execPath, args: ['node_modules/@modelcontextprotocol/server-everything/dist/index.js'] },
  { name: 'everything' },
)
const tools = mcpTools(server)

// Stands in for a model, so that this runs without a key.
const script = scripted(({ messages }) => {
  const last = messages.at(-1)
  if (last?.role === 'tool') return textOf(last)
  return { toolCalls: [{ name: 'everything__get-sum', arguments: { a: 2, b: 3 } }] }
})

const world = new World({ systems: standardSystems() })
const calculator = world.spawn(...agent({ model: 'script/arithmetic', tools, messages: 'What is 2 + 3?' }))
await run(world, { models: { script }, tools })
console.log(lastText(world, calculator))

// Ends the server, and all that it has started.
await server.close()

/*
Prints:
The sum of 2 and 3 is 5.
*/
