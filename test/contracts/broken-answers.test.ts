import { afterEach, describe, expect, it } from 'vitest'
import type { ModelProvider } from 'entia'
import { LogView } from 'entia'
import { anthropic } from '../../src/models/anthropic.ts'
import { openai, openaiCompatible } from '../../src/models/openai.ts'
import { startAnthropicServer } from '../servers/anthropic-server.ts'
import { startChatServer } from '../servers/chat-server.ts'
import type { LoopbackServer } from '../servers/loopback.ts'
import { startResponsesServer } from '../servers/responses-server.ts'
import { call, failureOf, replyOf, requestOf, resultOf, userSays } from './model-calls.ts'

let server: LoopbackServer | undefined
afterEach(() => server?.close())

interface Parts {
  /** JSON of what is counted, by the name that the count has in each protocol. */
  readonly input?: string
  readonly output?: string
  /** JSON of the text's pieces. */
  readonly texts?: readonly string[]
  /** What a call of `say` has for arguments. */
  readonly args?: string
}

/** Each protocol: how its server is started, and how it says an answer or a broken one. */
interface Wire {
  readonly name: string
  at(raw: string): Promise<ModelProvider>
  answer(parts: Parts): string
  /** An error within the stream. */
  error(json: string): string
}

const event = (type: string, json: string) => `event: ${type}\ndata: ${json}\n\n`

const wires: readonly Wire[] = [
  {
    name: 'anthropic',
    async at(raw) {
      server = await startAnthropicServer(() => ({ raw }))
      return anthropic({ baseURL: server.url, apiKey: 'key' })
    },
    answer({ input = '3', output = '5', texts = ['"Hi"'], args }) {
      const block = (index: number, start: string, deltas: readonly string[]) =>
        event('content_block_start', `{"type":"content_block_start","index":${index},"content_block":${start}}`) +
        deltas
          .map((delta) =>
            event('content_block_delta', `{"type":"content_block_delta","index":${index},"delta":${delta}}`),
          )
          .join('')
      const said = texts.map((text) => `{"type":"text_delta","text":${text}}`)
      const use = '{"type":"tool_use","id":"a","name":"say","input":{}}'
      return (
        event('message_start', `{"type":"message_start","message":{"usage":{"input_tokens":${input}}}}`) +
        block(0, '{"type":"text","text":""}', said) +
        (args === undefined
          ? ''
          : block(1, use, [`{"type":"input_json_delta","partial_json":${JSON.stringify(args)}}`])) +
        event(
          'message_delta',
          `{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":${output}}}`,
        ) +
        event('message_stop', '{"type":"message_stop"}')
      )
    },
    error: (json) => event('error', `{"type":"error","error":${json}}`),
  },
  {
    name: 'openai',
    async at(raw) {
      server = await startResponsesServer(() => ({ raw }))
      return openai({ baseURL: server.url, apiKey: 'key' })
    },
    answer({ input = '3', output = '5', texts = ['"Hi"'], args }) {
      const item = `{"type":"message","role":"assistant","content":[{"type":"output_text","text":${JSON.stringify(
        texts.map((text) => JSON.parse(text) as string).join(''),
      )}}]}`
      const call = `{"type":"function_call","id":"i","call_id":"a","name":"say","arguments":${JSON.stringify(args)}}`
      const done = (json: string) => `data: {"type":"response.output_item.done","item":${json}}\n\n`
      const deltas = texts.map((text) => `data: {"type":"response.output_text.delta","delta":${text}}\n\n`)
      const usage = `{"input_tokens":${input},"output_tokens":${output}}`
      return (
        deltas.join('') +
        done(item) +
        (args === undefined ? '' : done(call)) +
        `data: {"type":"response.completed","response":{"status":"completed","usage":${usage}}}\n\n`
      )
    },
    error: (json) => `data: {"type":"response.failed","response":{"status":"failed","error":${json}}}\n\n`,
  },
  {
    name: 'a compatible server',
    async at(raw) {
      server = await startChatServer(() => ({ raw }))
      return openaiCompatible({ name: 'local', baseURL: server.url })
    },
    answer({ input = '3', output = '5', texts = ['"Hi"'], args }) {
      const chunk = (delta: string, rest = '') => `data: {"choices":[{"index":0,"delta":${delta}${rest}}]}\n\n`
      const written = `{"tool_calls":[{"index":0,"id":"a","function":{"name":"say","arguments":${JSON.stringify(args)}}}]}`
      return (
        texts.map((text) => chunk(`{"content":${text}}`)).join('') +
        (args === undefined ? '' : chunk(written)) +
        chunk('{}', ',"finish_reason":"stop"') +
        `data: {"choices":[],"usage":{"prompt_tokens":${input},"completion_tokens":${output}}}\n\ndata: [DONE]\n\n`
      )
    },
    error: (json) => `data: {"error":${json}}\n\n`,
  },
]

describe.each(wires)('a reply of $name', (wire) => {
  it.each(['-1', '2.5', '"12"', '"NaN"', '1e999', '{}', '[1]', 'true', '1e300'])(
    'whose count is %s stays, and the count is unknown and told',
    async (odd) => {
      const reply = await replyOf(await wire.at(wire.answer({ input: odd })))
      expect(reply.usage).toEqual({ output: 5 })
      expect(Object.keys(reply.oddCounts ?? {})).toEqual(['input'])
      expect(reply.message.content).toEqual([{ type: 'text', text: 'Hi' }])
    },
  )

  it('with a count of null tells nothing', async () => {
    const reply = await replyOf(await wire.at(wire.answer({ input: 'null' })))
    expect([reply.usage, reply.oddCounts]).toEqual([{ output: 5 }, undefined])
  })

  it.each([
    ['that nest 300 levels deep', `{"x":${'['.repeat(300)}${']'.repeat(300)}}`],
    ['that nest 100,000 levels deep', `{"x":${'['.repeat(100_000)}${']'.repeat(100_000)}}`],
    ['with a number beyond all bounds', '{"x":1e999}'],
  ])('with arguments %s has a malformed call', async (_, args) => {
    const { message } = await replyOf(await wire.at(wire.answer({ args })))
    expect(message.content.at(-1)).toEqual({ type: 'tool-call', id: 'a', name: 'say', arguments: {}, malformed: args })
  })

  it('with arguments that nest 200 levels deep has them', async () => {
    const args = `{"x":${'['.repeat(199)}${']'.repeat(199)}}`
    const { message } = await replyOf(await wire.at(wire.answer({ args })))
    expect(message.content.at(-1)).toEqual({ type: 'tool-call', id: 'a', name: 'say', arguments: JSON.parse(args) })
  })

  it('with null for some events is read without them', async () => {
    const nothing = event('message_delta', 'null')
    const raw = nothing + wire.answer({}).replaceAll('\n\n', `\n\n${nothing}`)
    expect((await replyOf(await wire.at(raw))).message.content).toEqual([{ type: 'text', text: 'Hi' }])
  })

  it('has whole characters, in its deltas too', async () => {
    const texts = [String.raw`"one \ud83d"`, String.raw`"\ude00 two \ud83d"`, '"x"', String.raw`"\udc4b \ud83d"`]
    const { outcome, deltas } = await call(await wire.at(wire.answer({ texts })))
    const text = 'one 😀 two \ufffdx\ufffd \ufffd'
    expect(outcome).toMatchObject({ ok: true, value: { message: { content: [{ type: 'text', text }] } } })
    const heard = deltas.map((delta) => (delta.type === 'text' ? delta.text : ''))
    expect(heard.join('')).toBe(text)
    expect(heard.filter((piece) => !piece.isWellFormed())).toEqual([])
  })

  it('has whole characters in the keys and values of arguments', async () => {
    const { message } = await replyOf(await wire.at(wire.answer({ args: String.raw`{"k\ud83d":["v\ud83d"]}` })))
    expect(message.content.at(-1)).toMatchObject({ arguments: { 'k\ufffd': ['v\ufffd'] } })
  })

  it.each([
    ['{"message":{"detail":"The disk is full."},"type":"overloaded_error"}', 'overloaded', 'The disk is full.'],
    ['{"message":{"detail":"No such model."},"type":"invalid_request_error"}', 'invalid-request', 'No such model.'],
    ['{"message":["Slow down."],"type":"rate_limit_error"}', 'rate-limited', 'Slow down.'],
    ['"The disk is full."', 'overloaded', 'The disk is full.'],
  ])('that ends with the error %s fails as %s', async (json, kind, text) => {
    const failure = await failureOf(await wire.at(wire.error(json)))
    expect(failure).toMatchObject({ kind, message: expect.stringContaining(text) as string })
  })
})

describe.each(wires)('what $name sends under status 200 that is no stream', (wire) => {
  it.each([
    ['{"error":{"message":"The model is overloaded.","type":"overloaded_error"}}', 'overloaded', 'is overloaded'],
    ['{"error":{"message":"No such model.","type":"invalid_request_error"}}', 'invalid-request', 'No such model'],
    ['{"error":{"message":"Slow down.","code":"rate_limit_exceeded"}}', 'rate-limited', 'Slow down'],
    ['{"error":{"message":{"text":"Wrong password."},"code":401}}', 'unauthorized', 'Wrong password'],
    ['{"error":"The disk is full."}\n', 'overloaded', 'The disk is full'],
    [
      '<!doctype html>\n<html><head><title>Log in</title></head>\n<body>Please log in.</body></html>\n',
      'invalid-request',
      'Log in Please log in.',
    ],
    ['upstream connect error', 'overloaded', 'upstream connect error'],
    ['{malformed json', 'overloaded', '{malformed json'],
    ['{"choices":[]}', 'invalid-request', 'answered without a stream'],
  ])('fails with its text: %s', async (raw, kind, text) => {
    const failure = await failureOf(await wire.at(raw))
    expect(failure).toMatchObject({ kind, message: expect.stringContaining(text) as string })
    expect(failure.message.length).toBeLessThan(1_200)
  })
})

describe.each(wires)('a request to $name', (wire) => {
  it('has whole characters alone: system prompt, texts, results, names and keys', async () => {
    const half = 'half \ud83d'
    const provider = await wire.at(wire.answer({}))
    const messages = [
      userSays(`${half} \\ud83d 😀`),
      {
        role: 'assistant' as const,
        content: [{ type: 'tool-call' as const, id: 'a', name: half, arguments: { [half]: { [half]: half } } }],
      },
      { ...resultOf('a', half), callId: 'a' },
    ]
    const tools = [{ name: 'say', description: half, inputSchema: { type: 'object', properties: { [half]: {} } } }]
    // Twice: the second time from what is kept of the messages.
    for (const view of [messages, messages.slice(0)]) {
      await call(provider, { ...requestOf([], { system: half, tools: tools as never }), messages: LogView.of(view) })
    }
    const texts = server?.requests.map(({ text }) => text) ?? []
    expect(texts).toHaveLength(2)
    for (const text of texts) {
      expect(text).toContain('half \ufffd')
      expect(text).toContain(String.raw`\\ud83d 😀`)
      expect(text.replaceAll(String.raw`\\ud83d`, '')).not.toContain(String.raw`\ud83d`)
    }
  })
})
