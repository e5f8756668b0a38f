import { afterEach, describe, expect, it, vi } from 'vitest'
import type { Message, ThinkingBlock } from '../../src/protocol/message.ts'
import { nineLetters } from '../../src/models/call-ids.ts'
import { moonshot, ollama, openaiCompatible } from '../../src/models/openai.ts'
import { ChatReader } from '../../src/models/openai/chat-stream.ts'
import type { ModelProvider, ModelRequest } from '../../src/models/port.ts'
import { startChatServer } from '../servers/chat-server.ts'
import { inTurn, type Handler, type LoopbackServer, type Received } from '../servers/loopback.ts'
import { failureOf, replyOf, requestOf, resultOf, userSays, worldSays } from './model-calls.ts'
import { add, callsAdd, closedSchema, expectPrefixes, picture, steps, withoutTail } from './wire-samples.ts'

let server: LoopbackServer | undefined
afterEach(async () => {
  vi.unstubAllEnvs()
  await server?.close()
})

async function chat(handler: Handler = () => ({ text: 'Fine.' })): Promise<ModelProvider> {
  await server?.close()
  server = await startChatServer(handler)
  return openaiCompatible({ name: 'local', baseURL: server.url })
}

/** Sends requests, one after the other; what came over the wire. */
async function sent(...requests: readonly ModelRequest[]): Promise<readonly Received[]> {
  const provider = await chat()
  for (const request of requests) await replyOf(provider, request)
  return server?.requests ?? []
}

async function bodyOf(request: ModelRequest) {
  const [received] = await sent(request)
  return received?.body ?? {}
}

describe('a request to a compatible server', () => {
  it('says no more than it has to, and shows no key that nobody gave', async () => {
    vi.stubEnv('OPENAI_API_KEY', 'for-openai-alone')
    vi.stubEnv('OPENAI_ORG_ID', 'org-1')
    const [received] = await sent(requestOf())
    expect(received?.body).toEqual({
      model: 'small',
      messages: [{ role: 'user', content: 'Hello' }],
      stream: true,
      stream_options: { include_usage: true },
    })
    expect(received?.headers).not.toHaveProperty('authorization')
    expect(received?.headers).not.toHaveProperty('openai-organization')
  })

  it('carries system prompt, tools and options', async () => {
    const options = { maxOutputTokens: 100, temperature: 0.5, thinking: 'low', extra: { seed: 7 } } as const
    const over = { system: 'Be brief.', tools: [add], options, outputSchema: closedSchema }
    expect(await bodyOf(requestOf(undefined, over))).toMatchObject({
      messages: [{ role: 'system', content: 'Be brief.' }, { role: 'user' }],
      tools: [{ type: 'function', function: { name: 'add', description: 'Adds.', parameters: add.inputSchema } }],
      max_tokens: 100,
      temperature: 0.5,
      reasoning_effort: 'low',
      response_format: { type: 'json_schema', json_schema: { name: 'output', schema: closedSchema, strict: true } },
      seed: 7,
    })
  })

  it('puts results before anything else that was said meanwhile, and their files behind them', async () => {
    const calls: Message = { role: 'assistant', content: [...callsAdd('a').content, ...callsAdd('b').content] }
    const seen: Message = { ...resultOf('a', ''), content: [{ type: 'text', text: 'Seen.' }, picture] }
    const body = await bodyOf(requestOf([calls, worldSays('A file has changed.'), seen, resultOf('b', '5')]))
    expect(body['messages']).toMatchObject([
      { role: 'assistant', content: null, tool_calls: [{ id: nineLetters('a') }, { id: nineLetters('b') }] },
      { role: 'tool', tool_call_id: nineLetters('a'), content: expect.stringContaining('Seen.\n(Its files') },
      { role: 'tool', tool_call_id: nineLetters('b'), content: '5' },
      {
        role: 'user',
        content: [{ type: 'image_url', image_url: { url: `data:image/png;base64,${picture.data}` } }],
      },
      { role: 'user', content: 'A file has changed.' },
    ])
  })

  it('sends malformed arguments as they came', async () => {
    const call = { type: 'tool-call', id: 'a', name: 'add', arguments: {}, malformed: '{"a":' } as const
    const body = await bodyOf(requestOf([{ role: 'assistant', content: [call] }, resultOf('a', 'No.')]))
    expect(body['messages']).toMatchObject([{ tool_calls: [{ function: { name: 'add', arguments: '{"a":' } }] }, {}])
  })

  it('keeps every request, the tail aside, a prefix of the next', async () => {
    const bodies = (await sent(...steps())).map(({ body }) => body)
    const tailless = (await sent(...steps().map(withoutTail))).map(({ body }) => body)
    expectPrefixes(tailless, bodies, 'messages')
  })

  it('gives thinking back to the server that it came from, and to no other', async () => {
    const provider = await chat(inTurn({ thinking: { text: 'Hm …\n' }, text: 'Five.' }, { text: 'Bye.' }))
    const { message } = await replyOf(provider)
    await replyOf(provider, requestOf([message, userSays('Thanks.')]))
    expect(server?.requests[1]?.body['messages']).toMatchObject([
      { role: 'assistant', content: 'Five.', reasoning_content: 'Hm …\n' },
      { role: 'user' },
    ])
    const [other] = await sent(requestOf([{ ...message, content: thinkingOf('elsewhere', message) }]))
    expect(other?.body['messages']).toEqual([{ role: 'assistant', content: 'Five.' }])
  })

  it('to Ollama gives thinking back in the field that Ollama uses', async () => {
    server = await startChatServer(() => ({ text: 'Fine.' }))
    const thinking: ThinkingBlock = { type: 'thinking', provider: 'ollama', text: 'Hm.' }
    const said: Message = { role: 'assistant', content: [thinking, { type: 'text', text: 'Five.' }] }
    await replyOf(ollama({ baseURL: server.url }), requestOf([said]))
    expect(server.requests[0]?.body['messages']).toEqual([{ role: 'assistant', content: 'Five.', reasoning: 'Hm.' }])
  })

  it('to Moonshot needs a key, and says in which variable', async () => {
    vi.stubEnv('MOONSHOT_API_KEY', '')
    const failure = await failureOf(moonshot())
    expect(failure).toMatchObject({ kind: 'unauthorized', message: expect.stringContaining('MOONSHOT_API_KEY') })
  })

  it('with an option that nobody knows is refused when the provider is made', () => {
    expect(() => openaiCompatible({ name: 'local', baseURL: 'http://localhost', ...{ apikey: 'key' } })).toThrow(
      /openaiCompatible\(\): unknown option apikey\. Known: /,
    )
  })
})

describe('an answer of a compatible server', () => {
  const read = (...deltas: readonly object[]) => {
    const reader = new ChatReader('local', 'small', 4, () => {})
    const ends = { delta: {}, finish_reason: 'stop', usage: { prompt_tokens: 10, cached_tokens: 4 } }
    for (const choice of [...deltas.map((delta) => ({ delta })), ends]) reader.take(JSON.parse(chunkOf(choice)))
    const outcome = reader.outcome()
    if (!outcome?.ok) throw new Error('It failed.')
    return outcome.value
  }
  const chunkOf = (choice: object): string => JSON.stringify({ choices: [choice] })

  it('may give its usage within the choice, and leave out half of it', () => {
    expect(read({ content: 'Hi.' }).usage).toEqual({ input: 6, cacheRead: 4 })
  })

  it('may think in either of the fields in use', () => {
    expect(read({ reasoning: 'Hm.' }).message.content).toMatchObject([{ type: 'thinking', text: 'Hm.' }])
    expect(read({ reasoning_content: 'Hm.' }).message.content).toMatchObject([{ type: 'thinking', text: 'Hm.' }])
  })

  it('may call tools without ids and say that it just stopped', () => {
    const call = (index: number) => ({ index, function: { name: 'add', arguments: '{"a":1}' } })
    const { message, stop } = read({ tool_calls: [call(0), call(1)] })
    expect(message.content).toMatchObject([{ id: 'call-4-0' }, { id: 'call-4-1', arguments: { a: 1 } }])
    expect(stop).toBe('tool-calls')
  })
})

function thinkingOf(provider: string, message: Extract<Message, { role: 'assistant' }>) {
  return message.content.map((block) => (block.type === 'thinking' ? { ...block, provider } : block))
}
