// A model server on the loopback interface. It speaks OpenAI's Chat Completions API, streamed as the API streams: an event
// for each piece of the answer. A request that is not the work that all peers do is refused.
// Usage: server.ts <latencyMs> <toolCalls>. Prints its address, and ends with its standard input.
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { setTimeout } from 'node:timers/promises'
import type { ChatCompletionChunk, ChatCompletionCreateParams, ChatCompletionMessageParam } from 'openai/resources'
import { callId, nextMove, question, system, tokens, toolDescription, toolName } from './work.ts'

const latencyMs = Number(process.argv[2])
const toolCalls = Number(process.argv[3])

const server = createServer((request, response) => {
  void json(request)
    .then((body) => reply(body as ChatCompletionCreateParams, response))
    .catch((error: unknown) => response.writeHead(400).end(JSON.stringify({ error: { message: String(error) } })))
})
// No socket is closed while a busy client is about to send its next request on it.
server.keepAliveTimeout = 0
server.requestTimeout = 0
server.listen({ port: 0, host: '127.0.0.1', backlog: 4_096 }, () => {
  process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}/v1\n`)
})
process.stdin.on('end', () => process.exit()).resume()

async function reply(body: ChatCompletionCreateParams, response: ServerResponse): Promise<void> {
  refuseOtherWork(body)
  const last = body.messages.at(-1)
  const move = nextMove(last?.role === 'tool' ? textOf(last) : undefined, toolCalls)
  if (latencyMs > 0) await setTimeout(latencyMs)
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const send = (data: object | string): unknown =>
    response.write(`data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`)
  const chunk = (delta: Delta, finish: ChatCompletionChunk.Choice['finish_reason'] = null): unknown =>
    send({ ...frame, choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }] })
  chunk({ role: 'assistant', content: typeof move === 'string' ? '' : null })
  if (typeof move === 'string') {
    for (const word of move.split(/(?= )/)) chunk({ content: word })
    chunk({}, 'stop')
  } else {
    chunk({ tool_calls: [{ index: 0, id: callId(), type: 'function', function: { name: toolName, arguments: '' } }] })
    for (const piece of JSON.stringify(move).split(/(?=,)/))
      chunk({ tool_calls: [{ index: 0, function: { arguments: piece } }] })
    chunk({}, 'tool_calls')
  }
  if (body.stream_options?.include_usage === true) send({ ...frame, choices: [], usage })
  send('[DONE]')
  response.end()
}

type Delta = ChatCompletionChunk.Choice.Delta

const frame = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 0, model: 'model' }
const { input, output } = tokens
const usage = { prompt_tokens: input, completion_tokens: output, total_tokens: input + output }

/** @throws what is other than it is for all peers */
function refuseOtherWork({ stream, messages, tools = [] }: ChatCompletionCreateParams): void {
  const [first, second] = messages
  const [tool] = tools
  const asked = tool?.type === 'function' ? tool.function : undefined
  if (stream !== true) throw new Error('The request must be for a stream.')
  if (first?.role !== 'system' || textOf(first) !== system)
    throw new Error('The first message must be the system prompt.')
  if (second?.role !== 'user' || textOf(second) !== question)
    throw new Error('The second message must be the question.')
  if (tools.length !== 1 || asked?.name !== toolName || asked.description !== toolDescription)
    throw new Error('The request must have the tool add, and no other.')
}

function textOf({ content }: ChatCompletionMessageParam): string | undefined {
  if (!Array.isArray(content)) return content ?? undefined
  return content.map((part) => (part.type === 'text' ? part.text : '')).join('')
}
