import { createAgent, defineTool, scripted, textOf } from 'entia'
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

const agent = await createAgent({ model: 'script/arithmetic', tools: [add], models: { script: arithmetic } })
const { text } = await agent.ask('What is 2 + 3?')
console.log(text)

/*
Prints:
The answer is 5.
*/
