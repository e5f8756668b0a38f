import { agent, Conversation, lastText, Llm, Runner, scripted, standardSystems, textOf, Usage, World } from 'entia'

// Two agents of one world, each on a provider of its own, talk to each other.

// A provider is found by the part of a model's name before the slash. Some are there without being passed:
//
//   anthropic/…     the key is taken from ANTHROPIC_API_KEY
//   openai/…        from OPENAI_API_KEY
//   moonshot/…      from MOONSHOT_API_KEY
//   ollama/…        on this machine, no key
//
// Others are passed in `models` under a name of your choice: `openaiCompatible({ name: 'vllm', baseURL: … })` for any
// server that speaks Chat Completions, `anthropic({ apiKey, baseURL })` to say where and as whom.
const counted = { usage: { input: 12, output: 4 } }
const models = {
  north: scripted(({ messages }) => (messages.length > 1 ? 'Then one that works: a guide dog.' : 'A dog.'), counted),
  // South is slow. North does not wait for it: each answer comes in a tick of its own.
  south: scripted(({ messages }) => (messages.length > 1 ? 'A cat works at night.' : 'A cat.'), { latencyMs: 20 }),
}

const world = new World({ systems: standardSystems() })
const question = 'Which pet for a lighthouse?'
const north = world.spawn(...agent({ model: 'north/small', system: 'You like dogs.', messages: question }))
const south = world.spawn(...agent({ model: 'south/large', system: 'You like cats.', messages: question }))

const runner = new Runner(world, { models })
await runner.start()
// Both have been asked at once; now each is told what the other said last.
await runner.idle()
await runner.message(north, `Your colleague says: ${lastText(world, south)}`)
await runner.idle()
await runner.message(south, `Your colleague says: ${lastText(world, north)}`)
await runner.idle()
await runner.stop()

for (const [name, speaker] of Object.entries({ north, south })) {
  console.log(`${name}, on ${world.read(speaker, Llm).model}:`)
  for (const message of world.read(speaker, Conversation)) console.log(`  ${message.role}: ${textOf(message)}`)
  // Tokens as the provider counted them. What it did not say is unknown, not 0.
  const { calls, input = 'unknown', output = 'unknown' } = world.read(speaker, Usage)
  console.log(`  ${calls} calls, tokens in: ${input}, out: ${output}`)
}

/*
Prints:
north, on north/small:
  user: Which pet for a lighthouse?
  assistant: A dog.
  user: Your colleague says: A cat.
  assistant: Then one that works: a guide dog.
  2 calls, tokens in: 24, out: 8
south, on south/large:
  user: Which pet for a lighthouse?
  assistant: A cat.
  user: Your colleague says: Then one that works: a guide dog.
  assistant: A cat works at night.
  2 calls, tokens in: unknown, out: unknown
*/
