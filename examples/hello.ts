import { agent, defineTool, lastText, run, scripted, standardSystems, textOf, World } from 'entia'
import { z } from 'zod'

// The smallest agent that does something: it is asked a question, calls a tool, and answers.

const add = defineTool({
  name: 'add',
  description: 'Adds two numbers.',
  input: z.object({ a: z.number(), b: z.number() }),
  // Nothing outside changes, so a call that was interrupted may simply run again.
  restart: 'pure',
  run: ({ a, b }) => a + b,
})

// Stands in for a model, so that this runs without a key. It is a function of the request: the same conversation gets the
// same answer. With a key, leave `models` out below and name a real one: `anthropic/…`, `openai/…`, `ollama/…`.
const arithmetic = scripted(({ messages }) => {
  const last = messages.at(-1)
  if (last?.role === 'tool') return `The answer is ${textOf(last)}.`
  return { toolCalls: [{ name: 'add', arguments: { a: 2, b: 3 } }] }
})

// An agent is an entity. `agent({ … })` lists the components that make one: which model thinks for it, which tools it
// has, and a conversation. A conversation that ends in something unanswered is what sets it to work.
const world = new World({ systems: standardSystems() })
const calculator = world.spawn(...agent({ model: 'script/arithmetic', tools: [add], messages: 'What is 2 + 3?' }))

// Ticks until nothing is under way any more.
await run(world, { models: { script: arithmetic }, tools: [add] })

console.log(lastText(world, calculator))

/*
Prints:
The answer is 5.
*/
