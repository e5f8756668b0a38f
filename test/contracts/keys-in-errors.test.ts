import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { LastTurn, type ModelProvider, sqliteStore } from 'entia'
import { anthropic, openai, openaiCompatible } from 'entia/models'
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { withoutKeys } from '../../src/models/without-keys.ts'
import { settled, worldWith } from '../behaviour/turns/driving.ts'
import { startAnthropicServer } from '../servers/anthropic-server.ts'
import { startPlainServer } from '../servers/plain-server.ts'
import { failureOf, replyOf } from './model-calls.ts'

afterEach(() => vi.unstubAllEnvs())

const apiKey = String.raw`sk/"Quoted"\and+more=0123456789/ABCDEFGHIJ`
const header = 'gateway-secret-9876543210'
const headers = { 'X-Gateway': `Token ${header}`, 'anthropic-beta': 'context-1m-2025-08-07' }
const password = 'basic-auth-secret-13579'

const providers: readonly (readonly [name: string, make: (baseURL: string) => ModelProvider])[] = [
  ['anthropic', (baseURL) => anthropic({ baseURL, apiKey, headers })],
  ['openai', (baseURL) => openai({ baseURL, apiKey, headers })],
  ['local', (baseURL) => openaiCompatible({ name: 'local', baseURL, apiKey, headers })],
]

const forms = [
  apiKey,
  encodeURIComponent(apiKey),
  encodeURIComponent(apiKey).replaceAll(/%../g, (code) => code.toLowerCase()),
  JSON.stringify(apiKey),
  apiKey.slice(0, 20),
  apiKey.slice(-15),
  header,
  `Token ${header}`,
]

/** Every key in use in every way in which it may be quoted, and a word by which the text is found. */
const quoted = `SENTINEL ${forms.join(' and ')} END`

/** Parts of 12 characters of what is secret that stand in a text. */
function leaksIn(text: string): string[] {
  const secrets = [...forms, password]
  return secrets.flatMap((secret) =>
    Array.from({ length: secret.length - 11 }, (_, at) => secret.slice(at, at + 12)).filter(
      (part) => text.includes(part) || text.includes(JSON.stringify(part).slice(1, -1)),
    ),
  )
}

const json = (error: unknown) => JSON.stringify({ type: 'error', error })
const frames = (name: string, data: unknown) => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`

/** What a server may answer that quotes keys. */
const answers: readonly (readonly [what: string, status: number, body: string])[] = [
  ['message', 401, json({ message: quoted, type: 'authentication_error' })],
  ['message, beyond where it is cut', 401, json({ message: `SENTINEL ${'x'.repeat(970)}${apiKey}` })],
  ['type', 401, json({ message: 'SENTINEL', type: quoted })],
  ['code', 401, json({ message: 'SENTINEL', code: quoted, details: { error_code: quoted } })],
  ['body that is a page', 403, `<html><body>${quoted}</body></html>`],
  ['body that is an odd one', 400, JSON.stringify([quoted, { [apiKey]: quoted }])],
  [
    'error in its stream',
    200,
    frames('error', { type: 'error', error: { message: quoted, type: quoted, code: quoted } }),
  ],
  [
    'response that failed',
    200,
    frames('response.failed', {
      type: 'response.failed',
      response: { id: 'r', status: 'failed', output: [], error: { code: quoted, message: quoted } },
    }),
  ],
  ['stream that is no JSON', 200, `event: error\ndata: {SENTINEL ${quoted}\n\ndata: ${apiKey}\n\n`],
]

describe.each(providers)('an error of %s', (_name, make) => {
  it.each(answers)('that quotes keys in its %s leaves them nowhere', async (_what, status, body) => {
    const { url } = await startPlainServer((_, response) => {
      const type = status === 200 ? 'text/event-stream' : 'application/json'
      response.writeHead(status, { 'content-type': type }).end(body)
    })
    const folder = mkdtempSync(join(tmpdir(), 'entia-keys-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const store = sqliteStore({ folder })
    const { world, agent } = worldWith({ model: 'it/small', retry: false })
    const { events } = await settled(world, { store, models: { it: make(url) } })
    expect(world.read(agent, LastTurn)).toMatchObject({ stop: 'failed' })
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8', withFileTypes: true })
      .filter((file) => file.isFile())
      .map((file) => readFileSync(join(file.parentPath, file.name), 'latin1'))
    await store.close()
    const found = [[...world.snapshot()].join('\n'), JSON.stringify(events), files.join('\n')]
    expect(found.map(leaksIn)).toEqual([[], [], []])
    const isTold = status !== 200
    expect(found.map((text) => text.includes('SENTINEL') || !isTold)).toEqual([true, true, true])
  })

  it('that comes when its models are listed quotes no key', async () => {
    const { url } = await startPlainServer((_, response) => {
      response.writeHead(401, { 'content-type': 'application/json' }).end(json({ message: quoted, type: quoted }))
    })
    const listing = make(url).models?.()
    await expect(listing).rejects.toThrow(/SENTINEL \[key\]/)
    expect(leaksIn(inspect(await listing?.catch((error: unknown) => error), { depth: 9 }))).toEqual([])
  })

  it('keeps the words around a key', async () => {
    const message = `Key ${apiKey} of ${header} is bad (${encodeURIComponent(apiKey)}), beta context-1m-2025-08-07`
    const { url } = await startPlainServer((_, response) => {
      response.writeHead(401, { 'content-type': 'application/json' }).end(json({ message, type: 'nope' }))
    })
    expect((await failureOf(make(url))).message).toMatch(
      /: Key \[key\] of \[key\] is bad \(\[key\]\), beta context-1m-2025-08-07$/,
    )
  })

  it('that comes of an address with a password says nothing of the password', async () => {
    const failure = await failureOf(make(`http://user:${password}@127.0.0.1:1/v1`))
    expect(leaksIn(failure.message)).toEqual([])
  })
})

describe('a key that no header can hold', () => {
  it.each<[string, (value: string) => ModelProvider]>([
    ['of anthropic', (value) => anthropic({ apiKey: value })],
    ['of openai', (value) => openai({ apiKey: value })],
    [
      'of a compatible server',
      (value) => openaiCompatible({ name: 'l', baseURL: 'http://127.0.0.1:1', apiKey: value }),
    ],
    ['in a header', (value) => anthropic({ apiKey: 'k', baseURL: 'http://127.0.0.1:1', headers: { 'x-key': value } })],
  ])('%s fails the call and is not quoted', async (_, make) => {
    const failure = await failureOf(make(`${header}\n${header}`))
    expect(failure.kind).toBe('invalid-request')
    expect(leaksIn(failure.message)).toEqual([])
    expect(failure.message).toMatch(/API key|x-key/)
  })

  it('is cleaned from what an SDK throws of itself', async () => {
    const refuse = (): never => {
      throw new TypeError(`No way: ${apiKey}`)
    }
    const failure = await failureOf(anthropic({ apiKey, baseURL: 'http://127.0.0.1:1', fetch: refuse }))
    expect(failure.message).toContain('No way: [key]')
  })
})

describe('a key of the environment', () => {
  it('is cleaned like any other', async () => {
    vi.stubEnv('OPENAI_API_KEY', apiKey)
    const { url } = await startPlainServer((_, response) => response.writeHead(401).end(json({ message: quoted })))
    const failure = await failureOf(openai({ baseURL: url }))
    expect(failure.message).toContain('SENTINEL [key]')
    expect(leaksIn(failure.message).filter((part) => apiKey.includes(part))).toEqual([])
  })
})

describe('a reply that quotes a key', () => {
  it('stays as it is', async () => {
    const server = await startAnthropicServer(() => ({ text: `Your key is ${apiKey}.` }))
    onTestFinished(() => server.close())
    const { message } = await replyOf(anthropic({ apiKey, baseURL: server.url }))
    expect(message.content).toMatchObject([{ text: `Your key is ${apiKey}.` }])
  })
})

describe('the text of an error', () => {
  it('keeps what is shorter than 12 characters', () => {
    expect(withoutKeys({ apiKey: 'short-key-1' })('short-key-1')).toBe('short-key-1')
    expect(withoutKeys({ apiKey: 'short-key-12' })('a short-key-12.')).toBe('a [key].')
  })

  it('is searched in a moment, however long it is', () => {
    const clean = withoutKeys({ apiKey: 'a'.repeat(100) })
    expect(clean('a'.repeat(10_000_000))).toBe('[key]')
  })
})
