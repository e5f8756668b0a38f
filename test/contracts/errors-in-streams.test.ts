import { textOf } from 'entia'
import { describe, expect, it } from 'vitest'
import { sse } from '../servers/loopback.ts'
import { startScriptedServer } from '../servers/scripted-server.ts'
import { failureOf, replyOf } from './model-calls.ts'
import { chatWire, chunks, event, messagesWire, responsesWire, wiresOfOthers } from './wires-of-others.ts'

const openAI = (message: string, more: object = {}) => ({ error: { message, type: 'invalid_request_error', ...more } })

describe('an error within a stream', () => {
  it.each([
    [
      chatWire,
      `data: ${JSON.stringify(openAI('Rate limit. Please try again in 20s', { code: 'rate_limit_exceeded' }))}\n\n`,
    ],
    [messagesWire, event({ type: 'error', error: { type: 'rate_limit_error', message: 'Please try again in 20s.' } })],
    [
      responsesWire,
      event({
        type: 'response.failed',
        response: { status: 'failed', error: { code: 'rate_limit_exceeded', message: 'Please try again in 20s.' } },
      }),
    ],
  ])('of $name says how long to wait', async (wire, raw) => {
    const server = await startScriptedServer(() => raw)
    expect(await failureOf(wire.make(server.url))).toMatchObject({ kind: 'rate-limited', retryAfterMs: 20_000 })
  })

  it('that a server has no code for is an overflow if it says so', async () => {
    const server = await startScriptedServer(
      () =>
        `data: {"error":"Trying to keep the first 5000 tokens when context the overflows. The context length is only 4096 tokens"}\n\n`,
    )
    expect((await failureOf(chatWire.make(server.url))).kind).toBe('context-overflow')
  })

  it.each([
    ['of vLLM', { object: 'error', message: "This model's maximum context length is 4096 tokens.", code: 400 }],
    ['of Gemini', [{ error: { code: 400, message: 'The input token count exceeds the maximum.', status: 'X' } }]],
    ['of Ollama', { error: 'prompt too long; exceeded max context length by 4 tokens' }],
    ['of MiniMax', { base_resp: { status_code: 2013, status_msg: 'context window exceeds limit' } }],
    ['of LM Studio', { error: { message: 'The context length is only 4096.' } }, 'error'],
    ['of another', { code: 'context_length_exceeded', message: 'Too long.' }, 'error'],
    ['that is a text', 'the prompt is too long', 'error'],
  ])('is one in each form, from its first event on or later: %s', async (_, body, name?: string) => {
    const text = typeof body === 'string' ? body : JSON.stringify(body)
    const said = `${name === undefined ? '' : `event: ${name}\n`}data: ${text}\n\n`
    for (const wire of wiresOfOthers) {
      const begun = wire.text('Half').split('\n\n')[0] as string
      for (const raw of [said, `${begun}\n\n${said}`]) {
        const server = await startScriptedServer(() => raw)
        expect([wire.name, (await failureOf(wire.make(server.url))).kind]).toEqual([wire.name, 'context-overflow'])
        expect(server.bodies).toHaveLength(1)
      }
    }
  })

  it.each(['', chunks([{ content: 'Half' }]).split('\n\n')[0] + '\n\n'])(
    'in a field of its own is one, as llama.cpp writes it: behind %j',
    async (begun) => {
      const body = { code: 400, message: 'Too long.', type: 'exceed_context_size_error' }
      const server = await startScriptedServer(() => `${begun}error: ${JSON.stringify(body)}\n\n`)
      expect(await failureOf(chatWire.make(server.url))).toMatchObject({ kind: 'context-overflow' })
    },
  )

  it.each([
    ['rate_limit_exceeded', 'rate-limited'],
    ['context_length_exceeded', 'context-overflow'],
    ['server_error', 'overloaded'],
  ])('of the Responses API is an event by itself, flat: %s', async (code, kind) => {
    const raw = event({ type: 'error', code, message: 'So it is.', param: null, sequence_number: 3 })
    for (const said of [raw, raw.replace(/^event: error\n/, '')]) {
      const server = await startScriptedServer(() => said)
      const failure = await failureOf(responsesWire.make(server.url))
      expect(failure).toMatchObject({ kind, message: expect.stringContaining('So it is.') as string })
    }
  })

  it('is none where a text, an argument or an item of an answer has the word', async () => {
    const text = '{"error":{"message":"No."},"type":"error","status_code":1}'
    for (const wire of wiresOfOthers) {
      const server = await startScriptedServer(() => wire.text(text))
      expect(textOf((await replyOf(wire.make(server.url))).message)).toBe(text)
    }
    const odd = { choices: [], error: null, base_resp: { status_code: 0, status_msg: '' } }
    const server = await startScriptedServer(() => sse(odd) + chatWire.text('Fine.'))
    expect(textOf((await replyOf(chatWire.make(server.url))).message)).toBe('Fine.')
  })
})
