import { agent, defineTool, memoryStore, Runner, scripted, standardSystems, World } from 'entia'
import { inspect } from 'entia/inspector'
import { z } from 'zod'

// Serves a page on which a person sees what an agent does and did, at any tick. Open the link that it prints.

const tide = defineTool({
  name: 'tide',
  description: 'Says how high the tide is.',
  input: z.object({ harbour: z.string() }),
  restart: 'pure',
  run: ({ harbour }) => `In ${harbour} the tide is 2.4 m high.`,
})
const script = scripted(({ messages }) =>
  messages.length < 2 ? { toolCalls: [{ name: 'tide', arguments: { harbour: 'Husum' } }] } : 'It is 2.4 m high.',
)

const world = new World({ name: 'harbour', systems: standardSystems() })
world.spawn(...agent({ model: 'script/any', tools: [tide], messages: 'How high is the tide in Husum?' }))
// With `record: true` the page goes to every tick, and says which system wrote what.
const runner = new Runner(world, { models: { script }, tools: [tide], store: memoryStore(), record: true })

// The token in the link lets who has it look. `actions: true` would let them act as well.
const page = await inspect(runner, { port: 0 })
console.log(`Open ${page.url}`)
await runner.start()
await runner.idle()

// The page asks for data with the token. Here the program does, to show what there is.
const { hash } = new URL(page.url)
const token = new URLSearchParams(hash.slice(1)).get('token')
const source = new URL('/api/worlds', page.url)
const reply = await fetch(source, { headers: { Authorization: `Bearer ${token}` } })
const { worlds } = (await reply.json()) as { readonly worlds: readonly { readonly name: string }[] }
console.log(`It shows ${worlds.map(({ name }) => name).join(', ')}.`)
console.log(`Without the token: ${(await fetch(source)).status}`)

// A program that goes on keeps it open; it ends with the program, or here.
await page.close()
await runner.stop()

/* Prints:
Open http://127.0.0.1:…/#token=…
It shows harbour.
Without the token: 403
*/
