import { afterEach, describe, expect, it, vi } from 'vitest'
import type { Message, ThinkingBlock } from '../../src/protocol/message.ts'
import { anthropic } from '../../src/models/anthropic.ts'
import { MessageReader } from '../../src/models/anthropic/stream.ts'
import { DEFAULT_MAX_OUTPUT_TOKENS } from '../../src/models/anthropic/request.ts'
import type { ModelRequest } from '../../src/models/port.ts'
import { startAnthropicServer } from '../servers/anthropic-server.ts'
import type { LoopbackServer, Received } from '../servers/loopback.ts'
import { failureOf, replyOf, requestOf, resultOf, userSays, worldSays } from './model-calls.ts'
import { add, callsAdd, expectPrefixes, picture, withoutMarks } from './wire-samples.ts'

let server: LoopbackServer | undefined
afterEach(async () => {
  vi.unstubAllEnvs()
  await server?.close()
})

/** Sends requests, one after the other, through one adapter; what came over the wire. */
async function sent(...requests: readonly ModelRequest[]): Promise<readonly Received[]> {
  await server?.close()
  server = await startAnthropicServer(() => ({ text: 'Fine.' }))
  const provider = anthropic({ baseURL: server.url, apiKey: 'key' })
  for (const request of requests) await replyOf(provider, request)
  return server.requests
}

async function bodyOf(request: ModelRequest) {
  const [received] = await sent(request)
  return received?.body ?? {}
}

const mark = { cache_control: { type: 'ephemeral' } }
const text = (text: string, marked?: typeof mark) => ({ type: 'text', text, ...marked })

describe('a request to Anthropic', () => {
  it('says no more than it has to', async () => {
    expect(await bodyOf(requestOf())).toEqual({
      model: 'small',
      max_tokens: DEFAULT_MAX_OUTPUT_TOKENS,
      messages: [{ role: 'user', content: [text('Hello', mark)] }],
      stream: true,
    })
  })

  it('has a cache breakpoint behind the system prompt, which stands behind the tools', async () => {
    const body = await bodyOf(requestOf(undefined, { system: 'Be brief.', tools: [add] }))
    expect(body['system']).toEqual([text('Be brief.', mark)])
    expect(body['tools']).toEqual([{ name: 'add', description: 'Adds.', input_schema: add.inputSchema }])
  })

  it('has that breakpoint behind the tools when there is no system prompt', async () => {
    const body = await bodyOf(requestOf(undefined, { tools: [{ ...add, name: 'more' }, add] }))
    expect(body['tools']).toMatchObject([{ name: 'more' }, { name: 'add', ...mark }])
    expect(JSON.stringify(body['tools']).match(/cache_control/g)).toHaveLength(1)
  })

  it('has breakpoints behind the last message before the tail, and where that one was a step before', async () => {
    const messages = [userSays('Add.'), callsAdd('call_1'), resultOf('call_1', '5')]
    const body = await bodyOf(requestOf(messages, { tail: [worldSays('It is late.')] }))
    expect(body['messages']).toEqual([
      { role: 'user', content: [text('Add.', mark)] },
      { role: 'assistant', content: [{ type: 'tool_use', id: 'call_1', name: 'add', input: { a: 2, b: 3 } }] },
      {
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: 'call_1', content: [text('5')], ...mark }, text('It is late.')],
      },
    ])
  })

  it('keeps every request, marks and tail aside, a prefix of the next', async () => {
    const messages: Message[] = [userSays('Add.')]
    const requests: ModelRequest[] = []
    for (let step = 0; step < 6; step++) {
      const tail = step % 2 === 0 ? [worldSays(`Step ${step}.`)] : []
      requests.push(requestOf(messages, { system: 'Be brief.', tools: [add], tail }))
      messages.push(callsAdd(`call_${step}`), resultOf(`call_${step}`, String(step)))
      if (step === 3) messages.push(worldSays('A file has changed.'), userSays('Go on.'))
    }
    const bodies = (await sent(...requests)).map(({ body }) => body)
    const tailless = (await sent(...requests.map((request) => ({ ...request, tail: [] })))).map(({ body }) => body)
    expectPrefixes(tailless, bodies, 'messages')
  })

  it('never has more breakpoints than the API takes, however long the conversation', async () => {
    const messages = [1, 2, 3, 4].flatMap((n) => [userSays('Add.'), callsAdd(`call_${n}`), resultOf(`call_${n}`, '5')])
    const received = await sent(
      requestOf(messages.slice(0, 3), { system: 'Be brief.', tools: [add] }),
      requestOf(messages, { system: 'Be brief.', tools: [add] }),
    )
    expect(received.map((request) => request.text.match(/cache_control/g)?.length)).toEqual([3, 3])
  })

  it('puts results before anything else that was said meanwhile, in one message', async () => {
    const twoCalls: Message = { role: 'assistant', content: [...callsAdd('a').content, ...callsAdd('b').content] }
    const failed: Message = { ...resultOf('b', 'No such number.'), isError: true }
    const messages = [userSays('Add.'), twoCalls, worldSays('A file has changed.'), resultOf('a', '5'), failed]
    const body = await bodyOf(requestOf([...messages, userSays('And now?')]))
    expect(body['messages']).toMatchObject([
      { role: 'user' },
      { role: 'assistant', content: [{ id: 'a' }, { id: 'b' }] },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'a', content: [text('5')] },
          { type: 'tool_result', tool_use_id: 'b', content: [text('No such number.')], is_error: true },
          text('A file has changed.'),
          text('And now?'),
        ],
      },
    ])
  })

  it('leaves out a text that is blank, which the API would refuse, and says where a result is', async () => {
    const said: Message = { role: 'assistant', content: [{ type: 'text', text: '\n' }] }
    const body = await bodyOf(requestOf([userSays('Hello'), said, resultOf('a', '')]))
    expect(body['messages']).toEqual([
      {
        role: 'user',
        content: [text('Hello'), { type: 'tool_result', tool_use_id: 'a', content: [text('[no output]')], ...mark }],
      },
    ])
  })

  it('sends {} for arguments that were malformed, and ids of other providers in letters that it takes', async () => {
    const call = { type: 'tool-call', id: 'functions.add:0', name: 'add', arguments: {}, malformed: '{"a":' } as const
    const body = await bodyOf(requestOf([{ role: 'assistant', content: [call] }, resultOf('functions.add:0', 'No.')]))
    expect(body['messages']).toMatchObject([
      { content: [{ type: 'tool_use', id: 'functions_add_0', input: {} }] },
      { content: [{ type: 'tool_result', tool_use_id: 'functions_add_0' }] },
    ])
  })

  it('carries images and files, by their bytes and by their address', async () => {
    const content = [
      picture,
      { type: 'file', mediaType: 'image/webp', url: 'https://example.com/a.webp' },
      { type: 'file', mediaType: 'application/pdf', data: 'JVBE', name: 'paper.pdf' },
      { type: 'file', mediaType: 'application/pdf', url: 'https://example.com/a.pdf' },
      { type: 'file', mediaType: 'text/csv', data: Buffer.from('a;é').toString('base64') },
    ] as const
    const body = await bodyOf(
      requestOf([
        { role: 'user', content },
        { ...resultOf('a', ''), content: [picture] },
      ]),
    )
    const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: picture.data } }
    expect(withoutMarks(body)['messages']).toEqual([
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'a', content: [image] },
          image,
          { type: 'image', source: { type: 'url', url: 'https://example.com/a.webp' } },
          {
            type: 'document',
            source: { type: 'base64', media_type: 'application/pdf', data: 'JVBE' },
            title: 'paper.pdf',
          },
          { type: 'document', source: { type: 'url', url: 'https://example.com/a.pdf' } },
          { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'a;é' } },
        ],
      },
    ])
  })

  it('with a file that the API has no place for fails and is not sent', async () => {
    server = await startAnthropicServer(() => ({ text: 'Fine.' }))
    const content = [{ type: 'file', mediaType: 'audio/wav', data: 'UklG' }] as const
    const failure = await failureOf(
      anthropic({ baseURL: server.url, apiKey: 'key' }),
      requestOf([{ role: 'user', content }]),
    )
    expect(failure.kind).toBe('invalid-request')
    expect(failure.message).toContain('audio/wav')
    expect(server.requests).toHaveLength(0)
  })

  it('turns an effort into adaptive thinking, and a number into a budget on top of the answer', async () => {
    const effort = await bodyOf(requestOf(undefined, { options: { thinking: 'high' } }))
    expect(effort).toMatchObject({ thinking: { type: 'adaptive' }, output_config: { effort: 'high' } })
    const budget = await bodyOf(requestOf(undefined, { options: { thinking: 2_000 } }))
    expect(budget).toMatchObject({
      thinking: { type: 'enabled', budget_tokens: 2_000 },
      max_tokens: DEFAULT_MAX_OUTPUT_TOKENS + 2_000,
    })
  })

  it.each([
    ['too small for the API', 500, undefined, 1_024, DEFAULT_MAX_OUTPUT_TOKENS + 1_024],
    ['as large as the limit', 4_000, 4_000, 2_000, 4_000],
    ['larger than a small limit', 4_000, 1_500, 1_024, 1_500],
    ['within its bounds', 3_999, 4_000, 3_999, 4_000],
  ])('brings a thinking budget that is %s to what the API takes', async (_, thinking, limit, budget, maxTokens) => {
    const body = await bodyOf(requestOf(undefined, { options: { thinking, maxOutputTokens: limit } }))
    expect(body).toMatchObject({ thinking: { type: 'enabled', budget_tokens: budget }, max_tokens: maxTokens })
  })

  it('whose limit has no room for a thinking budget is refused in a sentence, and not sent', async () => {
    server = await startAnthropicServer(() => ({ text: 'Fine.' }))
    const request = requestOf(undefined, { options: { thinking: 2_000, maxOutputTokens: 1_024 } })
    expect(await failureOf(anthropic({ baseURL: server.url, apiKey: 'key' }), request)).toMatchObject({
      kind: 'invalid-request',
      message: expect.stringContaining('maxOutputTokens must be above 1024 for thinking with a budget, got 1024'),
    })
    expect(server.requests).toHaveLength(0)
  })

  it.each([
    ['claude-sonnet-4-5', undefined],
    ['claude-opus-4-6', 2_000],
  ])('for %s, of which its SDK warns, writes nothing to the console', async (model, thinking) => {
    const warned = vi.spyOn(console, 'warn').mockImplementation(() => undefined)
    await sent(requestOf(undefined, { model, options: { thinking } }))
    expect(warned).not.toHaveBeenCalled()
    warned.mockRestore()
  })

  it('that no other begins with has no cache breakpoint', async () => {
    const messages = [userSays('Add.'), callsAdd('call_1'), resultOf('call_1', '5')]
    const over = { system: 'Be brief.', tools: [add], isOneShot: true }
    const bodies = await sent(requestOf(messages, over), requestOf(messages, { ...over, system: '' }))
    for (const { text } of bodies) expect(text).not.toContain('cache_control')
  })

  it('names its output schema in the form that the API takes', async () => {
    const outputSchema = { type: 'object', properties: { sum: { type: 'integer', minimum: 0 } }, required: ['sum'] }
    const body = await bodyOf(requestOf(undefined, { outputSchema }))
    expect(body['output_config']).toEqual({
      format: {
        type: 'json_schema',
        schema: {
          type: 'object',
          properties: { sum: { type: 'integer', description: '{minimum: 0}' } },
          additionalProperties: false,
          required: ['sum'],
        },
      },
    })
  })

  it('with a temperature goes out under the last API version that took one', async () => {
    const options = { temperature: 0.5, maxOutputTokens: 100, extra: { stop_sequences: ['END'] } }
    const [plain, warm] = await sent(requestOf(), requestOf(undefined, { options }))
    expect(warm?.body).toMatchObject({ temperature: 0.5, max_tokens: 100, stop_sequences: ['END'] })
    expect(warm?.headers['anthropic-version']).toBe('2023-06-01')
    expect(plain?.headers['anthropic-version']).not.toBe('2023-06-01')
  })

  it('proves who it is with the key of the environment', async () => {
    vi.stubEnv('ANTHROPIC_API_KEY', 'from-env')
    server = await startAnthropicServer(() => ({ text: 'Fine.' }))
    await replyOf(anthropic({ baseURL: server.url }))
    expect(server.requests[0]?.headers.authorization).toBe('Bearer from-env')
  })

  it('fails without a key, and says which variable to set', async () => {
    vi.stubEnv('ANTHROPIC_API_KEY', '')
    const failure = await failureOf(anthropic())
    expect(failure).toMatchObject({ kind: 'unauthorized', message: expect.stringContaining('ANTHROPIC_API_KEY') })
  })
})

describe('thinking of Claude', () => {
  it('goes back byte for byte, redacted thinking too', async () => {
    const thinking = { text: 'Hm …\n\n"2"+3 \u2028 = 5', seal: 'c2lnbmF0dXJl+/==' }
    const replies = [
      { thinking, toolCalls: [{ id: 'a', name: 'add', arguments: '{}' }] },
      { thinking: { text: '', seal: 'cmVkYWN0ZWQ=' }, text: 'Five.' },
      { text: 'Bye.' },
    ]
    server = await startAnthropicServer(() => replies.shift() ?? 'silence')
    const provider = anthropic({ baseURL: server.url, apiKey: 'key' })
    const messages = [userSays('Add.')]
    messages.push((await replyOf(provider, requestOf(messages))).message, resultOf('a', '5'))
    messages.push((await replyOf(provider, requestOf(messages))).message, userSays('Thanks.'))
    await replyOf(provider, requestOf(messages))
    expect(server.requests[2]?.body['messages']).toMatchObject([
      { role: 'user' },
      { content: [{ type: 'thinking', thinking: thinking.text, signature: thinking.seal }, { type: 'tool_use' }] },
      { role: 'user' },
      { content: [{ type: 'redacted_thinking', data: 'cmVkYWN0ZWQ=' }, { type: 'text' }] },
      { role: 'user' },
    ])
  })

  it('stays behind when it is another provider’s, or was cut off before its signature', async () => {
    const foreign: ThinkingBlock = { type: 'thinking', provider: 'openai', text: 'Hm.', signature: 's' }
    const unsigned: ThinkingBlock = { type: 'thinking', provider: 'anthropic', text: 'Hm.' }
    const said: Message = { role: 'assistant', content: [foreign, unsigned, { type: 'text', text: 'Five.' }] }
    const body = await bodyOf(requestOf([userSays('Add.'), said, userSays('Thanks.')]))
    expect(body['messages']).toMatchObject([{}, { role: 'assistant', content: [text('Five.')] }, {}])
  })
})

describe('an answer of Claude', () => {
  const end = (stop_reason: 'pause_turn' | 'model_context_window_exceeded' | 'stop_sequence') => {
    const reader = new MessageReader('anthropic/small', () => {})
    const delta = { stop_reason, stop_sequence: null, stop_details: null, container: null }
    const counts = { input_tokens: null, cache_read_input_tokens: null, cache_creation_input_tokens: null }
    const usage = { ...counts, output_tokens: 1, output_tokens_details: null, server_tool_use: null }
    reader.take({ type: 'message_delta', delta, usage })
    expect(reader.outcome()).toBeUndefined()
    reader.take({ type: 'message_stop' })
    return reader.outcome()
  }

  it('that fills the context window fails as context-overflow, so that the conversation is made shorter', () => {
    expect(end('model_context_window_exceeded')).toMatchObject({ failure: { kind: 'context-overflow' } })
  })

  it('that pauses for a tool at the provider fails, since nobody would go on with it', () => {
    expect(end('pause_turn')).toMatchObject({ failure: { kind: 'invalid-request' } })
  })

  it('says how many of the tokens written to the cache are kept for an hour', async () => {
    const usage = { input: 10, cacheRead: 200, cacheWrite: 30, cacheWrite1h: 20, output: 7 }
    server = await startAnthropicServer(() => ({ text: 'Fine.', usage }))
    expect((await replyOf(anthropic({ baseURL: server.url, apiKey: 'key' }))).usage).toEqual(usage)
  })

  it('that comes to a stop sequence is at its end', () => {
    expect(end('stop_sequence')).toMatchObject({ ok: true, value: { stop: 'end' } })
  })
})
