import { afterEach, describe, expect, it } from 'vitest'
import { type Message, memoryStore } from 'entia'
import { estimateTokens } from '../../src/rules/tokens/estimate-tokens.ts'
import { renderTranscript } from '../../src/rules/context/render-transcript.ts'
import { anthropic } from '../../src/models/anthropic.ts'
import { openai, openaiCompatible } from '../../src/models/openai.ts'
import { startAnthropicServer } from '../servers/anthropic-server.ts'
import { startChatServer } from '../servers/chat-server.ts'
import { type LoopbackServer, sse } from '../servers/loopback.ts'
import { startResponsesServer } from '../servers/responses-server.ts'
import { reopened, settled, worldWith } from '../behaviour/turns/driving.ts'
import { replyOf, requestOf, userSays } from './model-calls.ts'

const servers: LoopbackServer[] = []
afterEach(() => Promise.all(servers.splice(0).map((server) => server.close())))

async function started(starting: Promise<LoopbackServer>): Promise<LoopbackServer> {
  const server = await starting
  servers.push(server)
  return server
}

const search = { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'ECS' } }
const found = {
  type: 'web_search_tool_result',
  tool_use_id: 'srvtoolu_1',
  content: [
    { type: 'web_search_result', url: 'https://example.com', title: 'ECS', encrypted_content: 'RW5j'.repeat(50) },
  ],
}

/** The stream of a reply that searches the web; without the result, it is cut before that came. */
function searching(isCut = false): string {
  const event = (data: { readonly type: string; readonly [field: string]: unknown }) => sse(data, data.type)
  const block = (index: number, start: object, ...deltas: readonly object[]) => [
    event({ type: 'content_block_start', index, content_block: start }),
    ...deltas.map((delta) => event({ type: 'content_block_delta', index, delta })),
    event({ type: 'content_block_stop', index }),
  ]
  const asked = JSON.stringify(search.input)
  const message = { id: 'm', type: 'message', role: 'assistant', model: 'small', content: [], usage: {} }
  return [
    event({ type: 'message_start', message }),
    ...block(0, { type: 'text', text: 'Let me look.' }),
    ...block(
      1,
      { ...search, input: {} },
      { type: 'input_json_delta', partial_json: asked.slice(0, 5) },
      { type: 'input_json_delta', partial_json: asked.slice(5) },
    ),
    ...(isCut ? [] : [...block(2, found), ...block(3, { type: 'text', text: 'It is a pattern.' })]),
    event({ type: 'message_delta', delta: { stop_reason: isCut ? 'max_tokens' : 'end_turn' }, usage: {} }),
    event({ type: 'message_stop' }),
  ].join('')
}

async function searched(isCut = false): Promise<Extract<Message, { role: 'assistant' }>> {
  const server = await started(startAnthropicServer(() => ({ raw: searching(isCut) })))
  return (await replyOf(anthropic({ baseURL: server.url, apiKey: 'key' }))).message
}

describe('a tool that Anthropic runs itself', () => {
  it('is kept in the reply with what came of it, where it stood', async () => {
    expect((await searched()).content).toEqual([
      { type: 'text', text: 'Let me look.' },
      { type: 'provider', provider: 'anthropic', data: search },
      { type: 'provider', provider: 'anthropic', data: found },
      { type: 'text', text: 'It is a pattern.' },
    ])
  })

  it('goes back unchanged', async () => {
    const server = await started(startAnthropicServer(() => ({ text: 'Fine.' })))
    const provider = anthropic({ baseURL: server.url, apiKey: 'key' })
    await replyOf(provider, requestOf([userSays('What is an ECS?'), await searched(), userSays('Thanks.')]))
    expect(server.requests[0]?.body['messages']).toMatchObject([
      { role: 'user' },
      { role: 'assistant', content: [{ type: 'text' }, search, found, { type: 'text' }] },
      { role: 'user' },
    ])
  })

  it('stays behind where the reply was cut before its result came', async () => {
    const server = await started(startAnthropicServer(() => ({ text: 'Fine.' })))
    const provider = anthropic({ baseURL: server.url, apiKey: 'key' })
    await replyOf(provider, requestOf([userSays('What is an ECS?'), await searched(true), userSays('Go on.')]))
    expect(server.requests[0]?.body['messages']).toMatchObject([
      { role: 'user' },
      { role: 'assistant', content: [{ type: 'text', text: 'Let me look.' }] },
      { role: 'user' },
    ])
  })

  it.each([
    ['openai', startResponsesServer, (baseURL: string) => openai({ baseURL, apiKey: 'key' })],
    ['local', startChatServer, (baseURL: string) => openaiCompatible({ name: 'local', baseURL })],
  ])('is left out of requests to %s', async (_, listen, make) => {
    const server = await started(listen(() => ({ text: 'Fine.' })))
    await replyOf(make(server.url), requestOf([userSays('What is an ECS?'), await searched(), userSays('Thanks.')]))
    expect(server.requests[0]?.text).toContain('Let me look.')
    expect(server.requests[0]?.text).not.toMatch(/srvtoolu_1|web_search|RW5j/)
  })

  it('is counted among the tokens of its message', async () => {
    const message = await searched()
    const text = { ...message, content: message.content.filter((block) => block.type === 'text') }
    const own =
      estimateTokens(JSON.stringify(search), { factor: 1 }) + estimateTokens(JSON.stringify(found), { factor: 1 })
    expect(estimateTokens(message, { factor: 1 }) - estimateTokens(text, { factor: 1 })).toBe(own)
  })

  it('can be read in a transcript, without what is encrypted', async () => {
    const transcript = renderTranscript([await searched()])
    expect(transcript).toContain('[server_tool_use: {"id":"srvtoolu_1","name":"web_search","input":{"query":"ECS"}}]')
    expect(transcript).toContain('https://example.com')
    expect(transcript).not.toContain('RW5j')
  })

  it('can be read in a transcript without the pictures that the provider made', () => {
    const data = { type: 'image_generation_call', id: 'ig_1', result: 'iVBORw0K'.repeat(1_000) }
    const made: Message = { role: 'assistant', content: [{ type: 'provider', provider: 'openai', data }] }
    expect(renderTranscript([made])).toContain('[image_generation_call: {"id":"ig_1","result":"[file]"}]')
  })
})

describe('a world in a store', () => {
  it('keeps what its provider did over a restart, and goes on with it', async () => {
    const answers = [{ raw: searching() }, { text: 'You are welcome.' }]
    const server = await started(startAnthropicServer(() => answers.shift() ?? 'silence'))
    const models = { anthropic: anthropic({ baseURL: server.url, apiKey: 'key' }) }
    const store = memoryStore()
    const { world, agent } = worldWith({ model: 'anthropic/small', messages: 'What is an ECS?' })
    await settled(world, { models, store })
    const { runner } = await reopened(store, { models })
    await runner.start()
    await runner.message(agent, 'Thanks.')
    await runner.idle()
    expect(server.requests[1]?.body['messages']).toMatchObject([
      { role: 'user' },
      { role: 'assistant', content: [{ type: 'text' }, search, found, { type: 'text' }] },
      { role: 'user' },
    ])
  })
})

describe('a tool that OpenAI runs itself', () => {
  const reasoning = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'c2VjcmV0' }
  const call = { type: 'web_search_call', id: 'ws_1', status: 'completed', action: { type: 'search', query: 'ECS' } }
  const said = {
    type: 'message',
    id: 'msg_1',
    role: 'assistant',
    status: 'completed',
    content: [{ type: 'output_text', text: 'It is a pattern.', annotations: [] }],
  }

  it('goes back unchanged behind the reasoning that it belongs to', async () => {
    const done = [reasoning, call, said].map((item, index) => {
      return sse({ type: 'response.output_item.done', item, output_index: index, sequence_number: index })
    })
    const response = { id: 'resp_1', object: 'response', status: 'completed', error: null, incomplete_details: null }
    const end = sse({ type: 'response.completed', response, sequence_number: 9 })
    const answers = [{ raw: [...done, end].join('') }, { text: 'Bye.' }]
    const server = await started(startResponsesServer(() => answers.shift() ?? 'silence'))
    const provider = openai({ baseURL: server.url, apiKey: 'key' })
    const { message } = await replyOf(provider)
    await replyOf(provider, requestOf([userSays('What is an ECS?'), message, userSays('Thanks.')]))
    expect(server.requests[1]?.body['input']).toEqual([
      expect.anything(),
      reasoning,
      call,
      { role: 'assistant', content: 'It is a pattern.' },
      expect.anything(),
    ])
  })
})
