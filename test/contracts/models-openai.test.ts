import { afterEach, describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import type { Message, ThinkingBlock } from '../../src/protocol/message.ts'
import { openai } from '../../src/models/openai.ts'
import { jsonSchemaOf } from '../../src/rules/text/json-schema-of.ts'
import { ResponseReader } from '../../src/models/openai/responses-stream.ts'
import type { ModelProvider, ModelRequest } from '../../src/models/port.ts'
import { inTurn, type Handler, type LoopbackServer, type Received } from '../servers/loopback.ts'
import { startResponsesServer } from '../servers/responses-server.ts'
import { failureOf, replyOf, requestOf, resultOf, userSays, worldSays } from './model-calls.ts'
import { add, callsAdd, closedSchema, expectPrefixes, picture, steps, withoutTail } from './wire-samples.ts'

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

/** Sends requests, one after the other; what came over the wire. */
async function sent(...requests: readonly ModelRequest[]): Promise<readonly Received[]> {
  const provider = await responses()
  for (const request of requests) await replyOf(provider, request)
  return server?.requests ?? []
}

async function bodyOf(request: ModelRequest) {
  const [received] = await sent(request)
  return received?.body ?? {}
}

const openSchema = { type: 'object', properties: { sum: { type: 'integer' } } }

describe('a request to the Responses API', () => {
  it('says no more than it has to, and has nothing stored', async () => {
    expect(await bodyOf(requestOf())).toEqual({
      model: 'small',
      input: [{ role: 'user', content: [{ type: 'input_text', text: 'Hello' }] }],
      store: false,
      include: ['reasoning.encrypted_content'],
      stream: true,
    })
  })

  it('carries system prompt, tools and options', async () => {
    const options = {
      maxOutputTokens: 100,
      temperature: 0.5,
      thinking: 'low',
      extra: { prompt_cache_key: 'k' },
    } as const
    const body = await bodyOf(requestOf(undefined, { system: 'Be brief.', tools: [add], options }))
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
    expect(await bodyOf(requestOf(undefined, { options: { thinking } }))).toMatchObject({
      reasoning: { effort },
    })
  })

  it('has its output schema enforced where the schema is closed', async () => {
    const format = { type: 'json_schema', name: 'output' }
    const closed = await bodyOf(requestOf(undefined, { outputSchema: closedSchema }))
    expect(closed['text']).toEqual({ format: { ...format, schema: closedSchema, strict: true } })
    const open = await bodyOf(requestOf(undefined, { outputSchema: openSchema }))
    expect(open['text']).toEqual({ format: { ...format, schema: openSchema, strict: false } })
    const nested = { ...closedSchema, properties: { sum: { type: 'array', items: openSchema } } }
    const inside = await bodyOf(requestOf(undefined, { outputSchema: nested }))
    expect(inside['text']).toMatchObject({ format: { strict: false } })
  })

  it('closes the objects of an output schema of zod, so that it is enforced', async () => {
    const answer = z.object({
      city: z.string().describe('Where.'),
      days: z.array(z.object({ date: z.iso.date(), high: z.number().int().min(-90) })).max(7),
      wind: z.object({ kph: z.number() }).nullable(),
      sky: z.enum(['clear', 'cloudy']),
      rain: z.discriminatedUnion('kind', [
        z.object({ kind: z.literal('none') }),
        z.object({ kind: z.literal('some') }),
      ]),
    })
    const body = await bodyOf(requestOf(undefined, { outputSchema: jsonSchemaOf(answer, 'test') }))
    const closed = { additionalProperties: false }
    expect(body['text']).toMatchObject({
      format: {
        strict: true,
        schema: {
          ...closed,
          properties: {
            days: { type: 'array', maxItems: 7, items: { ...closed, properties: { date: { format: 'date' } } } },
            rain: { anyOf: [closed, closed] },
            wind: { anyOf: [{ ...closed, properties: { kph: { type: 'number' } } }, { type: 'null' }] },
          },
          required: ['city', 'days', 'wind', 'sky', 'rain'],
        },
      },
    })
  })

  it.each([
    ['what may be left out', z.object({ sum: z.number().optional() })],
    ['further properties', z.looseObject({ sum: z.number() })],
    ['further properties of a kind', z.object({ sums: z.record(z.string(), z.number()) })],
    ['anything', z.object({ sum: z.unknown() })],
    ['a length', z.object({ name: z.string().max(7) })],
    ['a default', z.object({ name: z.string().prefault('Ann') })],
    ['a format that strict mode does not know', z.object({ at: z.url() })],
    ['a pattern that looks around', z.object({ at: z.string().regex(/^(?!a)b/) })],
    ['a tuple', z.object({ pair: z.tuple([z.number(), z.number()]) })],
    ['both of two', z.object({ id: z.string().and(z.enum(['a'])) })],
    ['no object at its root', z.union([z.object({ a: z.number() }), z.object({ b: z.number() })])],
    ['eleven levels', Array.from({ length: 10 }).reduce<z.ZodType>((inner) => z.object({ inner }), z.number())],
  ])('leaves an output schema with %s as it is, for a guide', async (_, schema) => {
    const outputSchema = jsonSchemaOf(schema, 'test')
    const body = await bodyOf(requestOf(undefined, { outputSchema }))
    expect(body['text']).toMatchObject({ format: { strict: false, schema: outputSchema } })
  })

  it('takes an output schema that refers to itself', async () => {
    const tree = z.object({
      name: z.string(),
      get children() {
        return z.array(tree)
      },
    })
    const body = await bodyOf(requestOf(undefined, { outputSchema: jsonSchemaOf(tree, 'test') }))
    expect(body['text']).toMatchObject({ format: { strict: true } })
  })

  it('puts results before anything else that was said meanwhile, and sends malformed arguments as they came', async () => {
    const call = { type: 'tool-call', id: 'a', name: 'add', arguments: {}, malformed: '{"a":' } as const
    const said: Message = { role: 'assistant', content: [{ type: 'text', text: 'Let me see.' }, call] }
    const body = await bodyOf(
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
    const body = await bodyOf(requestOf([{ role: 'user', content }, callsAdd('a'), seen]))
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
    const bodies = (await sent(...steps())).map(({ body }) => body)
    const tailless = (await sent(...steps().map(withoutTail))).map(({ body }) => body)
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
    const body = await bodyOf(requestOf([{ role: 'assistant', content: [thinking, { type: 'text', text: 'Five.' }] }]))
    expect(body['input']).toEqual([
      { type: 'reasoning', id: 'rs_1', summary: [], content: [{ type: 'reasoning_text', text: 'Hm.' }] },
      { role: 'assistant', content: 'Five.' },
    ])
  })

  it('stays behind when it is another provider’s', async () => {
    const foreign: ThinkingBlock = { type: 'thinking', provider: 'anthropic', text: 'Hm.', signature: 's' }
    const said: Message = { role: 'assistant', content: [foreign, { type: 'text', text: 'Five.' }] }
    const body = await bodyOf(requestOf([said]))
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
