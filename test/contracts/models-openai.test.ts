import { afterEach, describe, expect, it, vi } from 'vitest'
import type { Message, ThinkingBlock } from '../../components/message.ts'
import { moonshot, ollama, openai, openaiCompatible } from '../../src/models/openai.ts'
import { ChatReader } from '../../src/models/openai/chat-stream.ts'
import { ResponseReader } from '../../src/models/openai/responses-stream.ts'
import type { ModelProvider, ModelRequest } from '../../src/models/port.ts'
import { startChatServer } from '../servers/chat-server.ts'
import { inTurn, type Handler, type LoopbackServer, type Received } from '../servers/loopback.ts'
import { startResponsesServer } from '../servers/responses-server.ts'
import { failureOf, replyOf, requestOf, resultOf, userSays, worldSays } from './model-calls.ts'
import { add, callsAdd, expectPrefixes, picture } from './wire-samples.ts'

let server: LoopbackServer | undefined
afterEach(async () => {
  vi.unstubAllEnvs()
  await server?.close()
})

async function responses(handler: Handler = () => ({ text: 'Fine.' })): Promise<ModelProvider> {
  await server?.close()
  server = await startResponsesServer(handler)
  return openai({ baseURL: server.url, apiKey: 'key' })
}

async function chat(handler: Handler = () => ({ text: 'Fine.' })): Promise<ModelProvider> {
  await server?.close()
  server = await startChatServer(handler)
  return openaiCompatible({ name: 'local', baseURL: server.url })
}

/** Sends requests, one after the other; what came over the wire. */
async function sent(made: Promise<ModelProvider>, ...requests: readonly ModelRequest[]): Promise<readonly Received[]> {
  const provider = await made
  for (const request of requests) await replyOf(provider, request)
  return server?.requests ?? []
}

async function bodyOf(made: Promise<ModelProvider>, request: ModelRequest) {
  const [received] = await sent(made, request)
  return received?.body ?? {}
}

/** Six steps of a conversation, every other with a tail. */
function steps(): ModelRequest[] {
  const messages: Message[] = [userSays('Add.')]
  return Array.from({ length: 6 }, (_, step) => {
    const tail = step % 2 === 0 ? [worldSays(`Step ${step}.`)] : []
    const request = requestOf([...messages], { system: 'Be brief.', tools: [add], tail })
    messages.push(callsAdd(`call_${step}`), resultOf(`call_${step}`, String(step)))
    if (step === 3) messages.push(worldSays('A file has changed.'), userSays('Go on.'))
    return request
  })
}

function withoutTail(request: ModelRequest): ModelRequest {
  return { ...request, tail: [] }
}

const closedSchema = {
  type: 'object',
  properties: { sum: { type: 'integer' } },
  required: ['sum'],
  additionalProperties: false,
}
const openSchema = { type: 'object', properties: { sum: { type: 'integer' } } }

describe('a request to the Responses API', () => {
  it('says no more than it has to, and has nothing stored', async () => {
    expect(await bodyOf(responses(), requestOf())).toEqual({
      model: 'small',
      input: [{ role: 'user', content: [{ type: 'input_text', text: 'Hello' }] }],
      store: false,
      include: ['reasoning.encrypted_content'],
      stream: true,
    })
  })

  it('carries system prompt, tools and options', async () => {
    const options = { maxOutputTokens: 100, temperature: 0.5, thinking: 'low', extra: { prompt_cache_key: 'k' } } as const
    const body = await bodyOf(responses(), requestOf(undefined, { system: 'Be brief.', tools: [add], options }))
    expect(body).toMatchObject({
      instructions: 'Be brief.',
      tools: [{ type: 'function', name: 'add', description: 'Adds.', parameters: add.inputSchema, strict: false }],
      max_output_tokens: 100,
      temperature: 0.5,
      reasoning: { effort: 'low' },
      prompt_cache_key: 'k',
    })
  })

  it.each([
    [1_000, 'low'],
    [10_000, 'medium'],
    [50_000, 'high'],
  ] as const)('turns a budget of %i tokens into %s effort', async (thinking, effort) => {
    expect(await bodyOf(responses(), requestOf(undefined, { options: { thinking } }))).toMatchObject({
      reasoning: { effort },
    })
  })

  it('has its output schema enforced where the schema is closed', async () => {
    const format = { type: 'json_schema', name: 'output' }
    const closed = await bodyOf(responses(), requestOf(undefined, { outputSchema: closedSchema }))
    expect(closed['text']).toEqual({ format: { ...format, schema: closedSchema, strict: true } })
    const open = await bodyOf(responses(), requestOf(undefined, { outputSchema: openSchema }))
    expect(open['text']).toEqual({ format: { ...format, schema: openSchema, strict: false } })
    const { additionalProperties: _, ...unclosed } = closedSchema
    const loose = await bodyOf(responses(), requestOf(undefined, { outputSchema: unclosed }))
    expect(loose['text']).toMatchObject({ format: { strict: false } })
    const nested = { ...closedSchema, properties: { sum: { type: 'array', items: openSchema } } }
    const inside = await bodyOf(responses(), requestOf(undefined, { outputSchema: nested }))
    expect(inside['text']).toMatchObject({ format: { strict: false } })
  })

  it('puts results before anything else that was said meanwhile, and sends malformed arguments as they came', async () => {
    const call = { type: 'tool-call', id: 'a', name: 'add', arguments: {}, malformed: '{"a":' } as const
    const said: Message = { role: 'assistant', content: [{ type: 'text', text: 'Let me see.' }, call] }
    const body = await bodyOf(
      responses(),
      requestOf([userSays('Add.'), said, worldSays('A file has changed.'), { ...resultOf('a', 'No.'), isError: true }]),
    )
    expect(body['input']).toEqual([
      { role: 'user', content: [{ type: 'input_text', text: 'Add.' }] },
      { role: 'assistant', content: 'Let me see.' },
      { type: 'function_call', call_id: 'a', name: 'add', arguments: '{"a":' },
      { type: 'function_call_output', call_id: 'a', output: 'No.' },
      { role: 'user', content: [{ type: 'input_text', text: 'A file has changed.' }] },
    ])
  })

  it('carries images and files, in results too', async () => {
    const content = [
      { type: 'file', mediaType: 'image/png', url: 'https://example.com/a.png' },
      { type: 'file', mediaType: 'application/pdf', data: 'JVBE', name: 'paper.pdf' },
      { type: 'file', mediaType: 'application/pdf', url: 'https://example.com/a.pdf' },
    ] as const
    const seen: Message = { ...resultOf('a', 'Seen.'), content: [{ type: 'text', text: 'Seen.' }, picture] }
    const body = await bodyOf(responses(), requestOf([{ role: 'user', content }, callsAdd('a'), seen]))
    expect(body['input']).toMatchObject([
      {
        content: [
          { type: 'input_image', image_url: 'https://example.com/a.png' },
          { type: 'input_file', filename: 'paper.pdf', file_data: 'data:application/pdf;base64,JVBE' },
          { type: 'input_file', file_url: 'https://example.com/a.pdf' },
        ],
      },
      {},
      {
        output: [
          { type: 'input_text', text: 'Seen.' },
          { type: 'input_image', image_url: `data:image/png;base64,${picture.data}` },
        ],
      },
    ])
  })

  it('keeps every request, the tail aside, a prefix of the next', async () => {
    const bodies = (await sent(responses(), ...steps())).map(({ body }) => body)
    const tailless = (await sent(responses(), ...steps().map(withoutTail))).map(({ body }) => body)
    expectPrefixes(tailless, bodies, 'input')
  })

  it('fails without a key and says which variable to set, until it is set', async () => {
    vi.stubEnv('OPENAI_API_KEY', '')
    server = await startResponsesServer(() => ({ text: 'Fine.' }))
    const provider = openai({ baseURL: server.url })
    const failure = await failureOf(provider)
    expect(failure).toMatchObject({ kind: 'unauthorized', message: expect.stringContaining('OPENAI_API_KEY') })
    vi.stubEnv('OPENAI_API_KEY', 'from-env')
    await replyOf(provider)
    expect(server.requests[0]?.headers.authorization).toBe('Bearer from-env')
  })
})

describe('reasoning of an OpenAI model', () => {
  it('goes back item by item as it came, with what the text was called', async () => {
    const provider = await responses(
      inTurn(
        {
          thinking: { text: 'First part.\n\nSecond …', seal: 'ZW5jcnlwdGVk==' },
          text: 'Let me see.',
          toolCalls: [{ id: 'a', name: 'add', arguments: '{}' }],
        },
        { thinking: { text: '', seal: 'c2VjcmV0' }, text: 'Five.' },
        { text: 'Bye.' },
      ),
    )
    const messages = [userSays('Add.')]
    messages.push((await replyOf(provider, requestOf(messages))).message, resultOf('a', '5'))
    messages.push((await replyOf(provider, requestOf(messages))).message, userSays('Thanks.'))
    await replyOf(provider, requestOf(messages))
    expect(server?.requests[2]?.body['input']).toEqual([
      expect.anything(),
      {
        type: 'reasoning',
        id: 'rs_1',
        summary: [
          { type: 'summary_text', text: 'First part.' },
          { type: 'summary_text', text: 'Second …' },
        ],
        encrypted_content: 'ZW5jcnlwdGVk==',
      },
      { role: 'assistant', content: 'Let me see.', phase: 'commentary' },
      { type: 'function_call', call_id: 'a', name: 'add', arguments: '{}' },
      { type: 'function_call_output', call_id: 'a', output: '5' },
      { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'c2VjcmV0' },
      { role: 'assistant', content: 'Five.', phase: 'final_answer' },
      expect.anything(),
    ])
  })

  it('of a server that does not encrypt goes back as text', async () => {
    const thinking: ThinkingBlock = { type: 'thinking', provider: 'openai', id: 'rs_1', text: 'Hm.' }
    const body = await bodyOf(responses(), requestOf([{ role: 'assistant', content: [thinking] }]))
    expect(body['input']).toEqual([
      { type: 'reasoning', id: 'rs_1', summary: [], content: [{ type: 'reasoning_text', text: 'Hm.' }] },
    ])
  })

  it('stays behind when it is another provider’s', async () => {
    const foreign: ThinkingBlock = { type: 'thinking', provider: 'anthropic', text: 'Hm.', signature: 's' }
    const said: Message = { role: 'assistant', content: [foreign, { type: 'text', text: 'Five.' }] }
    const body = await bodyOf(responses(), requestOf([said]))
    expect(body['input']).toEqual([{ role: 'assistant', content: 'Five.' }])
  })
})

describe('an answer of the Responses API', () => {
  const ended = (incomplete_details: object | null, error: object | null = null) => {
    const reader = new ResponseReader('openai', 'small', () => {})
    const response = { id: 'resp_1', object: 'response', output: [], error, incomplete_details }
    reader.take(JSON.parse(JSON.stringify({ type: 'response.incomplete', response, sequence_number: 1 })))
    return reader.outcome()
  }

  it('that the content filter cut off is refused', () => {
    expect(ended({ reason: 'content_filter' })).toMatchObject({ failure: { kind: 'refused' } })
  })

  it('that is incomplete for any other reason is truncated', () => {
    expect(ended({ reason: 'max_messages' })).toMatchObject({ failure: { kind: 'truncated' } })
  })

  it.each([
    ['server_error', 'overloaded'],
    ['rate_limit_exceeded', 'rate-limited'],
    ['context_length_exceeded', 'context-overflow'],
    ['invalid_prompt', 'refused'],
  ])('that failed with %s fails as %s', (code, kind) => {
    expect(ended(null, { code, message: 'It did not work.' })).toMatchObject({ failure: { kind } })
  })
})

describe('a request to a compatible server', () => {
  it('says no more than it has to, and shows no key that nobody gave', async () => {
    vi.stubEnv('OPENAI_API_KEY', 'for-openai-alone')
    vi.stubEnv('OPENAI_ORG_ID', 'org-1')
    const [received] = await sent(chat(), requestOf())
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
    expect(await bodyOf(chat(), requestOf(undefined, over))).toMatchObject({
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
    const body = await bodyOf(chat(), requestOf([calls, worldSays('A file has changed.'), seen, resultOf('b', '5')]))
    expect(body['messages']).toMatchObject([
      { role: 'assistant', content: null, tool_calls: [{ id: 'a' }, { id: 'b' }] },
      { role: 'tool', tool_call_id: 'a', content: expect.stringContaining('Seen.\n(Its files') },
      { role: 'tool', tool_call_id: 'b', content: '5' },
      {
        role: 'user',
        content: [{ type: 'image_url', image_url: { url: `data:image/png;base64,${picture.data}` } }],
      },
      { role: 'user', content: 'A file has changed.' },
    ])
  })

  it('sends malformed arguments as they came', async () => {
    const call = { type: 'tool-call', id: 'a', name: 'add', arguments: {}, malformed: '{"a":' } as const
    const body = await bodyOf(chat(), requestOf([{ role: 'assistant', content: [call] }, resultOf('a', 'No.')]))
    expect(body['messages']).toMatchObject([{ tool_calls: [{ function: { name: 'add', arguments: '{"a":' } }] }, {}])
  })

  it('keeps every request, the tail aside, a prefix of the next', async () => {
    const bodies = (await sent(chat(), ...steps())).map(({ body }) => body)
    const tailless = (await sent(chat(), ...steps().map(withoutTail))).map(({ body }) => body)
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
    const [other] = await sent(chat(), requestOf([{ ...message, content: thinkingOf('elsewhere', message) }]))
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
    expect(() => openaiCompatible({ name: 'local', baseURL: 'http://localhost', ...{ apikey: 'key' } })).toThrow(/"apikey"/)
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
