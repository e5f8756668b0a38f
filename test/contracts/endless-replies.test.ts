import type { ModelDelta, ModelProvider } from 'entia'
import { anthropic, openai, openaiCompatible, providerDefaults } from 'entia/models'
import { describe, expect, it } from 'vitest'
import { sse } from '../servers/loopback.ts'
import { type Endless, type EndlessServer, startEndless } from '../servers/endless-server.ts'
import { call } from './model-calls.ts'

const bound = providerDefaults.maxReplyBytes
const words = 'so it goes on and on '.repeat(3_000)

const claude = (delta: object): string => sse({ type: 'content_block_delta', index: 0, delta }, 'content_block_delta')
const begins = (block: object): string =>
  sse({ type: 'content_block_start', index: 0, content_block: block }, 'content_block_start')
const tool = { type: 'tool_use', id: 'a', name: 'say', input: {} }
const chunk = (delta: object): string => sse({ choices: [{ index: 0, delta }] })
const called = { index: 0, id: 'a', function: { name: 'say' } }
const event = (type: string, more: object): string => sse({ type, ...more }, type)

interface Wire {
  readonly name: string
  readonly make: (baseURL: string, maxReplyBytes?: number) => ModelProvider
  readonly says: Readonly<Record<string, Endless>>
  /** What no listener hears. */
  readonly keeps: Readonly<Record<string, Endless>>
}

const wires: readonly Wire[] = [
  {
    name: 'anthropic',
    make: (baseURL, maxReplyBytes) => anthropic({ baseURL, apiKey: 'sk', maxReplyBytes }),
    says: {
      text: { head: begins({ type: 'text', text: '' }), piece: claude({ type: 'text_delta', text: words }) },
      thinking: {
        head: begins({ type: 'thinking', thinking: '', signature: '' }),
        piece: claude({ type: 'thinking_delta', thinking: words }),
      },
      arguments: { head: begins(tool), piece: claude({ type: 'input_json_delta', partial_json: words }) },
    },
    keeps: {
      'a signature': {
        head: begins({ type: 'thinking', thinking: '', signature: '' }),
        piece: claude({ type: 'signature_delta', signature: words }),
      },
      'a block of its own': { piece: begins({ type: 'server_tool_use', id: 'a', name: 'search', input: { words } }) },
    },
  },
  {
    name: 'openai',
    make: (baseURL, maxReplyBytes) => openai({ baseURL, apiKey: 'sk', maxReplyBytes }),
    says: {
      text: { piece: event('response.output_text.delta', { delta: words }) },
      thinking: { piece: event('response.reasoning_summary_text.delta', { delta: words }) },
      arguments: { piece: event('response.function_call_arguments.delta', { item_id: 'a', delta: words }) },
    },
    keeps: {
      items: {
        piece: event('response.output_item.done', {
          item: { type: 'reasoning', id: 'a', summary: [], encrypted_content: words },
        }),
      },
    },
  },
  {
    name: 'local',
    make: (baseURL, maxReplyBytes) => openaiCompatible({ name: 'local', baseURL, maxReplyBytes }),
    says: {
      text: { piece: chunk({ content: words }) },
      thinking: { piece: chunk({ reasoning_content: words }) },
      arguments: {
        head: chunk({ tool_calls: [called] }),
        piece: chunk({ tool_calls: [{ index: 0, function: { arguments: words } }] }),
      },
    },
    keeps: {
      'arguments of a call without a name': {
        piece: chunk({ tool_calls: [{ index: 0, function: { arguments: words } }] }),
      },
      'a refusal': { piece: chunk({ refusal: words }) },
    },
  },
]

/** What no protocol allows, and any server may send. */
const wild: Readonly<Record<string, Endless>> = {
  'an event that is one line': { head: 'data: {"a":"', piece: words },
  'an event of many lines': { piece: `data: ${words}\n` },
  comments: { piece: `: ${words}\n\n` },
  'a page': { type: 'text/html', piece: `<p>${words}</p>` },
  'an error': { status: 500, type: 'application/json', head: '{"error":{"message":"', piece: words },
  'a refused key': { status: 401, type: 'text/plain', piece: words },
}

/** Nothing of it lasts long: a busy machine takes its time over 64 MiB of comments. */
const timeoutMs = 60_000

async function endOf(provider: ModelProvider, server: EndlessServer) {
  let heardBytes = 0
  const onDelta = (delta: ModelDelta): void => {
    heardBytes += delta.type === 'tool-call' ? 0 : delta.text.length
  }
  const { outcome } = await call(provider, undefined, { onDelta })
  await server.closed()
  expect(server.requests()).toBe(1)
  return { outcome, heardBytes }
}

function ended(name: string, maxBytes: number) {
  const message = `${name} sent more than ${maxBytes} bytes, the bound of a reply (maxReplyBytes), and the call was ended.`
  return { ok: false, failure: { kind: 'truncated', isFinal: true, message } }
}

describe.each(wires)('a reply of $name', ({ name, make, says, keeps }) => {
  it.each(Object.entries(says))('that is %s without end is ended where the option says', async (_, endless) => {
    const server = await startEndless(endless)
    const { outcome, heardBytes } = await endOf(make(server.url, 200_000), server)
    expect(outcome).toEqual(ended(name, 200_000))
    expect(heardBytes).toBe(Math.floor(200_000 / words.length) * words.length)
  })

  it.each(Object.entries(keeps))(
    'that keeps %s without end is ended at the standard bound',
    async (_, endless) => {
      const server = await startEndless(endless)
      const { outcome } = await endOf(make(server.url), server)
      expect(outcome).toEqual(ended(name, bound))
    },
    timeoutMs,
  )

  it.each([0, -1, 1.5, NaN, Infinity])('cannot have the bound %s', (maxReplyBytes) => {
    expect(() => make('http://127.0.0.1:9', maxReplyBytes)).toThrow(/maxReplyBytes must be an integer ≥ 1, got/)
  })
})

describe.each(Object.entries(wild))('a server that sends %s without end', (_, endless) => {
  it(
    'is cut off, and takes no more memory than the bound needs',
    async () => {
      const server = await startEndless(endless)
      const { outcome } = await endOf(anthropic({ baseURL: server.url, apiKey: 'sk' }), server)
      expect(outcome).toEqual(ended('anthropic', bound))
      // Some of it is what the collector has not yet come to.
      expect(server.grownBytes()).toBeLessThan(200 * 2 ** 20)
    },
    timeoutMs,
  )
})
