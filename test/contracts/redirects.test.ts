import type { ModelProvider } from 'entia'
import { anthropic, ollama, openai, openaiCompatible } from 'entia/models'
import { describe, expect, it } from 'vitest'
import { behaving, settled, worldWith } from '../behaviour/turns/driving.ts'
import { startPlainServer } from '../servers/plain-server.ts'
import { failureOf } from './model-calls.ts'

const apiKey = 'sk-0123456789-abcdefghij'
const providers: readonly (readonly [name: string, make: (baseURL: string) => ModelProvider])[] = [
  ['anthropic', (baseURL) => anthropic({ baseURL, apiKey, headers: { 'x-tenant': 'secret' } })],
  ['openai', (baseURL) => openai({ baseURL, apiKey })],
  ['local', (baseURL) => openaiCompatible({ name: 'local', baseURL, apiKey })],
]

/** Two servers: the first sends everybody to the second. */
async function redirecting(status: number, address: (host: string) => string | undefined) {
  const asked = { first: 0, second: 0 }
  const second = await startPlainServer((_, response) => {
    asked.second++
    response.end('{}')
  })
  const location = address(second.host)
  const first = await startPlainServer((_, response) => {
    asked.first++
    const headers = { 'x-should-retry': 'true', ...(location !== undefined && { location }) }
    response.writeHead(status, headers).end('the context window is over there')
  })
  return { asked, first, second }
}

describe.each(providers)('a call of %s', (name, make) => {
  it.each([301, 302, 303, 307, 308])(
    'that is redirected (%s) fails, and the other host gets nothing',
    async (status) => {
      const { asked, first, second } = await redirecting(status, (host) => `http://${host}/v1/messages?key=${apiKey}`)
      const failure = await failureOf(make(first.url))
      expect(failure).toEqual({
        kind: 'invalid-request',
        message:
          `${name} redirected the call (${status}) to ${second.host}. Redirects of model calls are refused. ` +
          'Set baseURL to the address that is to be called.',
      })
      expect(asked).toEqual({ first: 1, second: 0 })
    },
  )

  it.each([
    ['/elsewhere', 'another path of the same server'],
    [undefined, 'an unknown address'],
    ['http://', 'an unknown address'],
    ['//other.example/v1', 'other.example'],
    ['file:///etc/passwd', 'an address with file:'],
  ])('that is redirected to %s is told as one to %s', async (location, where) => {
    const { asked, first } = await redirecting(307, () => location)
    const failure = await failureOf(make(first.url))
    expect(failure).toMatchObject({
      kind: 'invalid-request',
      message: expect.stringContaining(`to ${where}. `) as string,
    })
    expect(asked.first).toBe(1)
  })

  it('for the list of its models follows no redirect either', async () => {
    const { asked, first } = await redirecting(307, (host) => `http://${host}/`)
    await expect(make(first.url).models?.()).rejects.toThrow(/307/)
    expect(asked).toEqual({ first: 1, second: 0 })
  })
})

describe('a turn whose model call is redirected', () => {
  it('fails at the first try, with a fetch of the program too', async () => {
    const { asked, first } = await redirecting(307, (host) => `http://${host}/v1`)
    const { world } = worldWith({ model: 'ollama/small' })
    const models = {
      ...behaving(() => 'Hi').models,
      ollama: ollama({ baseURL: `${first.url}/v1`, fetch: (...of) => fetch(...of) }),
    }
    const { told } = await settled(world, { models })
    expect(told('retry-scheduled')).toEqual([])
    expect(told('turn-ended')).toMatchObject([{ stop: 'failed' }])
    expect(asked).toEqual({ first: 1, second: 0 })
  })
})
