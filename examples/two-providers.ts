import { agent, Conversation, lastText, Llm, Runner, scripted, standardSystems, textOf, Usage, World } from 'entia'

// Two agents of one world, each on a provider of its own, talk to each other.

// A provider is found by the part of a model's name before the slash. Some are there without being passed:
//
//   anthropic/claude-sonnet-5     the key is taken from ANTHROPIC_API_KEY
//   openai/gpt-5                  from OPENAI_API_KEY
//   moonshot/kimi-k2              from MOONSHOT_API_KEY
//   ollama/qwen3                  on this machine, no key
//
// Others are passed in `models` under a name of your choice: `openaiCompatible({ name: 'vllm', baseURL: … })` for any
// server that speaks Chat Completions, `anthropic({ apiKey, baseURL })` to say where and as whom.
const models = {
  north: scripted(({ messages }) => (messages.length > 1 ? 'Then it should at least be an animal that works.' : 'A dog.'), {
    usage: { input: 12, output: 4 },
  }),
  // South is slow. North does not wait for it: each answer comes in a tick of its own.
  south: scripted(({ messages }) => (messages.length > 1 ? 'A cat works at night.' : 'A cat.'), { latencyMs: 20 }),
}

const world = new World({ systems: standardSystems() })
const question = 'Which pet for a lighthouse?'
const north = world.spawn(...agent({ model: 'north/small', system: 'You like dogs.', messages: question }))
const south = world.spawn(...agent({ model: 'south/large', system: 'You like cats.', messages: question }))

const runner = new Runner(world, { models })
await runner.start()
// Both are asked at once.
await runner.idle()
const opening = lastText(world, south)
await runner.message(north, `Your colleague says: ${opening}`)
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
*/
