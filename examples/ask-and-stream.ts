import { createAgent, defineTool, scripted, textOf } from 'entia'
import { z } from 'zod'

// Talks to an agent: awaits one answer, reads another as it comes, and asks for data of a given shape.

const stock = defineTool({
  name: 'stock',
  description: 'How many copies of a book are there?',
  input: z.object({ title: z.string() }),
  restart: 'pure',
  run: ({ title }) => (title === 'Ulysses' ? 3 : 0),
})

// Stands in for a model, so that this runs without a key.
const clerk = scripted(({ messages, outputSchema }) => {
  const last = messages.at(-1)
  if (outputSchema !== undefined) return '{ "title": "Ulysses", "copies": 3 }'
  if (last?.role === 'tool') return `We have ${textOf(last)} copies of Ulysses.`
  if (textOf(last).includes('Ulysses')) return { toolCalls: [{ name: 'stock', arguments: { title: 'Ulysses' } }] }
  return 'Good morning.'
})

const seller = await createAgent({ model: 'shop/clerk', tools: [stock], models: { shop: clerk } })

// One promise a turn. It rejects if the turn fails, with the failure in the error's details.
const { text, steps } = await seller.ask('Hello!')
console.log(`${text} (${steps} step)`)

// The same turn as it happens: for a terminal, or for a page by server-sent events.
for await (const part of seller.ask('Do you have Ulysses?').parts) {
  if (part.type === 'tool-call') console.log(`[${part.tool} ${JSON.stringify(part.arguments)}]`)
  if (part.type === 'text') console.log(part.text)
}

// The answer as data, typed by the schema.
const { output } = await seller.ask('And as data?', {
  output: z.object({ title: z.string(), copies: z.number() }),
})
console.log((output?.copies ?? 0) + 1)

await seller.close()

/*
Prints:
Good morning. (1 step)
[stock {"title":"Ulysses"}]
We have 3 copies of Ulysses.
4
*/
