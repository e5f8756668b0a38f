import { afterEach, describe, expect, it } from 'vitest'
import { anthropic } from '../../src/models/anthropic.ts'
import { openai, openaiCompatible } from '../../src/models/openai.ts'
import type { ModelProvider } from '../../src/models/port.ts'
import { startAnthropicServer } from '../servers/anthropic-server.ts'
import { startChatServer } from '../servers/chat-server.ts'
import { type Handler, type LoopbackServer, sse } from '../servers/loopback.ts'
import { startResponsesServer } from '../servers/responses-server.ts'
import { startScriptedServer } from '../servers/scripted-server.ts'
import { call, failureOf, replyOf } from './model-calls.ts'
import { chatWire, chunks } from './wires-of-others.ts'

let server: LoopbackServer | undefined
afterEach(() => server?.close())

type Listen = (handler: Handler) => Promise<LoopbackServer>

async function providerAt(listen: Listen, make: (baseURL: string) => ModelProvider, raw: string) {
  server = await listen(() => ({ raw }))
  return make(server.url)
}

describe('an answer of the Responses API', () => {
  const ending = (type: string, response: object): Promise<ModelProvider> => {
    const item = {
      type: 'message',
      id: 'msg_1',
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'output_text', text: 'Half of the', annotations: [] }],
    }
    const whole = { id: 'resp_1', object: 'response', output: [item], error: null, incomplete_details: null }
    const said = sse({ type: 'response.output_item.done', item, output_index: 0, sequence_number: 1 })
    const raw = said + sse({ type, response: { ...whole, ...response }, sequence_number: 2 })
    return providerAt(startResponsesServer, (baseURL) => openai({ baseURL, apiKey: 'key' }), raw)
  }

  it.each([
    ['failed without an error', 'response.failed', { status: 'failed' }, 'overloaded', /gave no reason/],
    ['completed with status failed', 'response.completed', { status: 'failed' }, 'overloaded', /gave no reason/],
    ['failed with status completed', 'response.failed', { status: 'completed' }, 'overloaded', /gave no reason/],
    ['incomplete without details', 'response.incomplete', { status: 'incomplete' }, 'truncated', /no reason given/],
    [
      'completed with status incomplete',
      'response.completed',
      { status: 'incomplete' },
      'truncated',
      /no reason given/,
    ],
    ['completed with status cancelled', 'response.completed', { status: 'cancelled' }, 'truncated', /"cancelled"/],
    [
      'completed with status in_progress',
      'response.completed',
      { status: 'in_progress' },
      'truncated',
      /"in_progress"/,
    ],
    [
      'completed with an error',
      'response.completed',
      { status: 'completed', error: { code: 'server_error', message: 'The disk is full.' } },
      'overloaded',
      /The disk is full/,
    ],
  ])('that is %s fails', async (_, type, response, kind, message) => {
    const failure = await failureOf(await ending(type, response))
    expect(failure).toMatchObject({ kind, message: expect.stringMatching(message) })
  })

  it('that says in its status alone that the limit cut it, is cut', async () => {
    const limit = { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } }
    expect(await replyOf(await ending('response.completed', limit))).toMatchObject({ stop: 'max-tokens' })
  })

  it('of a server that gives no status is at its end', async () => {
    expect(await replyOf(await ending('response.completed', {}))).toMatchObject({ stop: 'end' })
  })

  it('whose counts are null leaves them unknown', async () => {
    const nothing = { input_tokens: null, output_tokens: null, input_tokens_details: null }
    expect((await replyOf(await ending('response.completed', { usage: nothing }))).usage).toEqual({})
    const details = { input_tokens: 10, output_tokens: 2, input_tokens_details: { cached_tokens: null } }
    expect((await replyOf(await ending('response.completed', { usage: details }))).usage).toEqual({
      input: 10,
      output: 2,
    })
  })
})

describe('an answer of a compatible server', () => {
  const ending = (last: object, usage?: object): Promise<ModelProvider> => {
    const chunk = (choice: object) =>
      sse({ id: 'c', object: 'chat.completion.chunk', choices: [{ index: 0, ...choice }], usage })
    const raw = chunk({ delta: { content: 'Half of the' } }) + chunk({ delta: {}, ...last })
    return providerAt(
      startChatServer,
      (baseURL) => openaiCompatible({ name: 'local', baseURL }),
      `${raw}data: [DONE]\n\n`,
    )
  }

  it.each([
    ['error', 'overloaded'],
    ['insufficient_system_resource', 'overloaded'],
    ['model_length', 'context-overflow'],
    ['abort', 'truncated'],
    ['constructor', 'truncated'],
  ])('that ends with %s fails as %s', async (reason, kind) => {
    const failure = await failureOf(await ending({ finish_reason: reason }))
    expect(failure).toMatchObject({ kind, message: expect.stringContaining(`finish_reason "${reason}"`) })
  })

  it('that the content filter cut off is refused', async () => {
    expect((await failureOf(await ending({ finish_reason: 'content_filter' }))).kind).toBe('refused')
  })

  it('that ends with an error keeps what the server says of it', async () => {
    const failure = await failureOf(
      await ending({ finish_reason: 'error', error: { message: 'The provider is gone.' } }),
    )
    expect(failure).toMatchObject({ kind: 'overloaded', message: expect.stringContaining('The provider is gone.') })
  })

  it.each([
    ['eos_token', 'end'],
    ['STOP', 'end'],
    ['function_call', 'end'],
    ['MAX_TOKENS', 'max-tokens'],
  ])('that ends with %s, as some servers say it, ends as %s', async (reason, stop) => {
    expect(await replyOf(await ending({ finish_reason: reason }))).toMatchObject({ stop })
  })

  it('whose counts are null leaves them unknown', async () => {
    const nothing = { prompt_tokens: null, completion_tokens: null, prompt_tokens_details: null }
    expect((await replyOf(await ending({ finish_reason: 'stop' }, nothing))).usage).toEqual({})
    const details = { prompt_tokens: 10, completion_tokens: 2, prompt_tokens_details: { cached_tokens: null } }
    expect((await replyOf(await ending({ finish_reason: 'stop' }, details))).usage).toEqual({ input: 10, output: 2 })
  })
})

describe('an answer of Claude', () => {
  const ending = (...deltas: readonly object[]): Promise<ModelProvider> => {
    const event = (data: { readonly type: string; readonly [field: string]: unknown }) => sse(data, data.type)
    const message = { id: 'm', type: 'message', role: 'assistant', model: 'small', content: [], usage: {} }
    const raw = [
      event({ type: 'message_start', message }),
      event({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: 'Half of the' } }),
      event({ type: 'content_block_stop', index: 0 }),
      ...deltas.map((delta) => event({ type: 'message_delta', delta, usage: { output_tokens: null } })),
      event({ type: 'message_stop' }),
    ]
    return providerAt(startAnthropicServer, (baseURL) => anthropic({ baseURL, apiKey: 'key' }), raw.join(''))
  }

  it.each([
    ['null', [{ stop_reason: null }], /without a stop_reason/],
    ['nothing', [], /without a stop_reason/],
    ['a reason that nobody knows', [{ stop_reason: 'tired' }], /stop_reason "tired"/],
  ])('that ends with %s fails as truncated', async (_, deltas, message) => {
    const failure = await failureOf(await ending(...deltas))
    expect(failure).toMatchObject({ kind: 'truncated', message: expect.stringMatching(message) })
  })

  it('keeps its reason when a later event has none, and unknown counts unknown', async () => {
    const { outcome } = await call(await ending({ stop_reason: 'end_turn' }, { stop_reason: null }))
    expect(outcome).toMatchObject({ ok: true, value: { stop: 'end', usage: {} } })
  })
})

describe('the word that ends an answer over Chat Completions', () => {
  it.each([
    ['model_context_window_exceeded', 'context-overflow'],
    ['sensitive', 'refused'],
    ['refusal', 'refused'],
    ['RECITATION', 'refused'],
    ['blocklist', 'refused'],
    ['PROHIBITED_CONTENT', 'refused'],
    ['guardrail_intervened', 'refused'],
    ['network_error', 'overloaded'],
    ['pause_turn', 'invalid-request'],
    ['MALFORMED_FUNCTION_CALL', 'truncated'],
    ['content_filter: RECITATION', 'refused'],
    ['function_call_filter: MALFORMED_FUNCTION_CALL', 'truncated'],
    ['FinishReason.SAFETY', 'refused'],
    ['content filter', 'refused'],
    ['server-error', 'overloaded'],
  ])('"%s" fails as %s', async (word, kind) => {
    const server = await startScriptedServer(() => chunks([{ content: 'Half' }], word))
    expect((await failureOf(chatWire.make(server.url))).kind).toBe(kind)
  })
})
