// A server that speaks Anthropic's Messages API: it answers a conversation's first message with a tool call and everything
// behind that with a text, each after so many milliseconds. Prints its address, and ends with its standard input.
// Usage: model-server.ts <latencyMs>
import { startAnthropicServer } from '../servers/anthropic-server.ts'

const latencyMs = Number(process.argv[2])
const server = await startAnthropicServer(({ body }) => {
  const { length } = body['messages'] as readonly unknown[]
  const usage = { input: 10 * length, output: 25 }
  if (length > 1) return { text: 'The page names three ships.', usage, latencyMs }
  return { toolCalls: [{ id: 'call_1', name: 'look_up', arguments: '{"page":7,"reason":"ships"}' }], usage, latencyMs }
})
process.stdin.on('end', () => void server.close()).resume()
process.stdout.write(`${server.url}\n`)
