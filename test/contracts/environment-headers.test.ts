import type { ModelProvider } from 'entia'
import { anthropic, moonshot, ollama, openai, openaiCompatible } from 'entia/models'
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { startAnthropicServer } from '../servers/anthropic-server.ts'
import { startChatServer } from '../servers/chat-server.ts'
import type { Handler, LoopbackServer } from '../servers/loopback.ts'
import { startResponsesServer } from '../servers/responses-server.ts'
import { failureOf, replyOf } from './model-calls.ts'

afterEach(() => vi.unstubAllEnvs())

const apiKey = 'key-of-the-program'
const lines =
  'X-Team: secret-team\nauthorization: Bearer of-environment\n\nX-Api-Key: of-environment\r\nx-own: environment'

/** A server, and an environment that says all that the SDKs look for there. */
async function started(listen: (handler: Handler) => Promise<LoopbackServer>, customHeaders = lines) {
  const server = await listen(() => ({ text: 'Fine.' }))
  onTestFinished(() => server.close())
  for (const name of ['OPENAI_CUSTOM_HEADERS', 'ANTHROPIC_CUSTOM_HEADERS']) vi.stubEnv(name, customHeaders)
  for (const name of [
    'OPENAI_API_KEY',
    'OPENAI_ADMIN_KEY',
    'OPENAI_ORG_ID',
    'OPENAI_PROJECT_ID',
    'OPENAI_WEBHOOK_SECRET',
  ])
    vi.stubEnv(name, 'of-environment')
  for (const name of ['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN', 'ANTHROPIC_PROFILE', 'ANTHROPIC_WORKSPACE_ID'])
    vi.stubEnv(name, 'of-environment')
  return server
}

const elsewhere: readonly (readonly [
  name: string,
  listen: (handler: Handler) => Promise<LoopbackServer>,
  make: (baseURL: string) => ModelProvider,
])[] = [
  ['ollama', startChatServer, (baseURL) => ollama({ baseURL })],
  ['moonshot', startChatServer, (baseURL) => moonshot({ baseURL, apiKey })],
  ['a compatible server', startChatServer, (baseURL) => openaiCompatible({ name: 'local', baseURL, apiKey })],
  ['openai at another address', startResponsesServer, (baseURL) => openai({ baseURL, apiKey })],
  ['anthropic at another address', startAnthropicServer, (baseURL) => anthropic({ baseURL, apiKey })],
]

describe.each(elsewhere)('a request to %s', (_name, listen, make) => {
  it.each([lines, 'no colon', 'bad name: x', 'x-a: b\u0007\u{1F600}'])(
    'has nothing of the environment: %j',
    async (custom) => {
      const server = await started(listen, custom)
      vi.stubEnv('OPENAI_BASE_URL', 'http://127.0.0.1:1')
      vi.stubEnv('ANTHROPIC_BASE_URL', 'http://127.0.0.1:1')
      await replyOf(make(server.url))
      const [received] = server.requests
      expect(JSON.stringify(received?.headers)).not.toMatch(/environment|secret-team/)
      expect(received?.headers).not.toHaveProperty('x-team')
      expect(process.env['OPENAI_CUSTOM_HEADERS']).toBe(custom)
    },
  )
})

const own: readonly (readonly [
  name: string,
  variable: string,
  listen: (handler: Handler) => Promise<LoopbackServer>,
  make: () => ModelProvider,
])[] = [
  ['OPENAI', 'openai', startResponsesServer, () => openai({ apiKey, headers: { 'X-Own': 'program' } })],
  ['ANTHROPIC', 'anthropic', startAnthropicServer, () => anthropic({ apiKey, headers: { 'X-Own': 'program' } })],
]

describe.each(own)('a request to the address of %s itself', (prefix, name, listen, make) => {
  it('has the headers of the environment, but keys and headers of the program stay', async () => {
    const server = await started(listen)
    vi.stubEnv(`${prefix}_BASE_URL`, server.url)
    await replyOf(make())
    const headers = server.requests[0]?.headers
    expect(headers).toMatchObject({ 'x-team': 'secret-team', 'x-own': 'program' })
    expect(headers?.authorization).toBe(`Bearer ${apiKey}`)
    expect(headers).not.toHaveProperty('x-api-key')
  })

  it.each(['no colon and secret-value', 'bad name: secret-value', 'ok: 1\nx-a: secret-value\u{1F600}'])(
    'fails if they are malformed, and says where: %j',
    async (custom) => {
      const server = await started(listen, custom)
      vi.stubEnv(`${prefix}_BASE_URL`, server.url)
      const failure = await failureOf(make())
      expect(failure.kind).toBe('invalid-request')
      expect(failure.message).toContain(`The environment variable ${prefix}_CUSTOM_HEADERS must hold one header a line`)
      expect(failure.message).not.toContain('secret-value')
      expect(server.requests, name).toEqual([])
    },
  )
})

describe('a compatible server without an address', () => {
  it.each([undefined, '', ' '])('is refused, so that nothing goes to OpenAI: %j', (baseURL) => {
    expect(() => openaiCompatible({ name: 'local', ...{ baseURL: baseURL as string } })).toThrow(
      /openaiCompatible\(\): baseURL must be the address of the server, got /,
    )
  })

  it('is where it always is, if it has a name of its own', async () => {
    const asked: string[] = []
    const send: typeof fetch = async (input) => {
      asked.push(input instanceof Request ? input.url : String(input))
      return new Response('{}', { status: 400 })
    }
    await failureOf(ollama({ baseURL: undefined, fetch: send }))
    await failureOf(moonshot({ baseURL: undefined, apiKey, fetch: send }))
    expect(asked).toEqual(['http://localhost:11434/v1/chat/completions', 'https://api.moonshot.ai/v1/chat/completions'])
  })
})
