import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { agent, ask, Runner, standardSystems, World } from 'entia'
import { openaiCompatible } from 'entia/models'

// A model on a server that speaks Chat Completions: vLLM, llama.cpp, LM Studio and many others. Here a few lines stand in
// for the server.

const chunks = ['I run ', 'on this machine.'].map((content) => ({ choices: [{ index: 0, delta: { content } }] }))
const end = {
  choices: [{ index: 0, delta: {}, finish_reason: 'stop' }],
  usage: { prompt_tokens: 9, completion_tokens: 5 },
}
const server = createServer((request, response) => {
  console.log(`${request.method} ${request.url}`)
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  for (const chunk of [...chunks, end]) response.write(`data: ${JSON.stringify(chunk)}\n\n`)
  response.end('data: [DONE]\n\n')
}).listen(0, '127.0.0.1')
await once(server, 'listening')
const { port } = server.address() as AddressInfo

const local = openaiCompatible({ name: 'local', baseURL: `http://127.0.0.1:${port}/v1` })
const world = new World({ systems: standardSystems() })
const helper = world.spawn(...agent({ model: 'local/qwen3-8b' }))
const runner = new Runner(world, { models: { local } })
await runner.start()
const { text, usage, costUsd } = await ask(runner, helper, 'Where do you run?')
console.log(text)
// No price list knows the model, so its cost is unknown, and not 0.
console.log(`tokens in: ${usage.input}, out: ${usage.output}; cost: ${costUsd}`)
await runner.stop()
server.close()

/*
Prints:
POST /v1/chat/completions
I run on this machine.
tokens in: 9, out: 5; cost: undefined
*/
