import { request } from 'node:http'
import { networkInterfaces } from 'node:os'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { agent, Runner, scripted, standardSystems, World } from '../../src/index.ts'
import { inspect, inspectorHandler, type InspectorPage, LivingSource, RunSource } from '../../src/inspector/index.ts'

let runner: Runner
let talker: number
let page: InspectorPage
beforeEach(async () => {
  const world = new World({ name: 'safe', seed: 1, systems: standardSystems() })
  talker = world.spawn(...agent({ model: 'script/x' }))
  runner = new Runner(world, { models: { script: scripted(() => 'Yes.') } })
  await runner.start()
  await runner.idle()
})
afterEach(async () => {
  await page.close()
  await runner.stop()
})

interface Reply {
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  readonly text: string
}

/** Asks as any program could: with any headers, a false Host among them. */
function ask(
  path: string,
  { body, headers = {}, method = 'GET' }: { method?: string; headers?: Record<string, string>; body?: string } = {},
): Promise<Reply> {
  const { hostname, port } = new URL(page.url)
  return new Promise((resolve, reject) => {
    const sent = request(
      { hostname, port, path, method, headers, setHost: headers['Host'] === undefined },
      (response) => {
        let text = ''
        response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
        response.on('error', reject)
        response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }))
      },
    )
    sent.on('error', reject)
    sent.end(body)
  })
}

const tokenOf = ({ url }: InspectorPage): string => new URLSearchParams(new URL(url).hash.slice(1)).get('token') ?? ''
const withToken = (): Record<string, string> => ({ Authorization: `Bearer ${tokenOf(page)}` })
const post = (): string => JSON.stringify({ do: 'post', world: 'safe', agent: talker, text: 'Hello' })

describe('the data of a page', () => {
  beforeEach(async () => {
    page = await inspect(runner, { actions: true })
  })

  it.each([
    ['without a token', {}],
    ['with a wrong token', { Authorization: 'Bearer wrong' }],
    ['with the token as a cookie', { Cookie: 'token=TOKEN' }],
    ['with an empty token', { Authorization: 'Bearer ' }],
    ['from another origin', { Authorization: 'Bearer TOKEN', Origin: 'https://elsewhere.example' }],
    ['from a page without an origin', { Authorization: 'Bearer TOKEN', Origin: 'null' }],
    ['by the name of another site', { Authorization: 'Bearer TOKEN', Host: 'elsewhere.example' }],
    [
      'by a name that only begins like this machine',
      { Authorization: 'Bearer TOKEN', Host: 'localhost.elsewhere.example' },
    ],
  ])('asked for %s is refused with 403, and nothing changes', async (_, given: Record<string, string>) => {
    const headers = Object.fromEntries(
      Object.entries(given).map(([name, value]) => [name, value.replace('TOKEN', tokenOf(page))]),
    )
    const { tick } = runner.world
    for (const route of ['source', 'worlds', 'ticks?world=safe', 'marks?world=safe', 'live', 'text', 'transcript']) {
      const reply = await ask(`/api/${route}`, { headers })
      expect({ route, status: reply.status }).toEqual({ route, status: 403 })
      expect(reply.text).not.toContain(tokenOf(page))
      expect(reply.text).not.toContain('script/x')
    }
    for (const [route, body] of [
      ['act', post()],
      ['summaries', '{"worlds":["safe"]}'],
    ] as const)
      expect((await ask(`/api/${route}`, { method: 'POST', headers, body })).status).toBe(403)
    await runner.idle()
    expect(runner.world.tick).toBe(tick)
  })

  it('is there for who has the token, and an action is done', async () => {
    expect(await ask('/api/source', { headers: withToken() })).toMatchObject({ status: 200 })
    const acted = await ask('/api/act', { method: 'POST', headers: withToken(), body: post() })
    expect(JSON.parse(acted.text)).toMatchObject({ ok: true })
    await runner.idle()
    expect(runner.world.tick).toBeGreaterThan(1)
  })

  it.each([
    ['/api/ticks?world=none', 404, 'no-such-world', 'Choose another one'],
    ['/api/ticks?world=safe&from=999', 400, 'invalid-argument', 'has no tick 999'],
    ['/api/ticks?world=safe&from=-1', 400, 'invalid-argument', 'from must be an integer ≥ 0'],
    ['/api/ticks?world=safe&from=1e9', 400, 'invalid-argument', 'from must be an integer ≥ 0'],
    ['/api/nothing', 404, 'not-found', 'nothing at api/nothing'],
    ['/api/../../etc/passwd', 404, 'not-found', ''],
    ['/%2e%2e/package.json', 404, 'not-found', ''],
  ])('asked for %s says what is wrong', async (path, status, code, message) => {
    const reply = await ask(path, { headers: withToken() })
    expect(reply.status).toBe(status)
    expect(JSON.parse(reply.text)).toEqual({ code, message: expect.stringContaining(message) })
  })

  it.each([
    ['no JSON', '{', 'must be JSON'],
    ['too much', `"${'x'.repeat(5_000_000)}"`, 'at most 4000000 characters'],
    ['a list of other things', '{"worlds":[1]}', 'must be a list of names'],
  ])('posted %s says what is wrong', async (_, body, message) => {
    const reply = await ask('/api/summaries', { method: 'POST', headers: withToken(), body })
    expect(reply.status).toBe(400)
    expect(JSON.parse(reply.text)).toMatchObject({ message: expect.stringContaining(message) })
  })
})

describe('a page', () => {
  it('that was not given actions takes none', async () => {
    page = await inspect(runner)
    const { tick } = runner.world
    const reply = await ask('/api/act', { method: 'POST', headers: withToken(), body: post() })
    expect(reply.status).toBe(403)
    expect(JSON.parse(reply.text)).toMatchObject({
      code: 'forbidden',
      message: expect.stringContaining('actions: true'),
    })
    await runner.idle()
    expect(runner.world.tick).toBe(tick)
  })

  it('says in every reply that it is not kept, framed, sniffed or named to others, and runs no script but its own', async () => {
    page = await inspect(runner)
    const headers = withToken()
    for (const [path, status] of [
      ['/', 200],
      ['/page.js', 200],
      ['/page.css', 200],
      ['/api/source', 200],
      ['/api/ticks?world=none', 404],
      ['/api/nothing', 404],
      ['/nothing', 404],
    ] as const) {
      const reply = await ask(path, { headers })
      expect({ path, status: reply.status }).toEqual({ path, status })
      expect({ path, ...reply.headers }).toMatchObject({
        path,
        'cache-control': 'no-store',
        'referrer-policy': 'no-referrer',
        'x-content-type-options': 'nosniff',
        'x-frame-options': 'DENY',
      })
      expect(reply.headers).not.toHaveProperty('set-cookie')
      expect(reply.headers).not.toHaveProperty('access-control-allow-origin')
      const policy = String(reply.headers['content-security-policy'])
      for (const part of [
        "default-src 'none'",
        "script-src 'self';",
        "frame-ancestors 'none'",
        "connect-src 'self'",
        'img-src',
      ])
        expect(policy).toContain(part)
      expect(policy).not.toMatch(/unsafe|\*|https?:/)
    }
    const refused = await ask('/api/source')
    expect(refused.headers).toMatchObject({ 'cache-control': 'no-store', 'x-frame-options': 'DENY' })
  })

  it('has no script, style or handler within its markup', async () => {
    page = await inspect(runner)
    const { text } = await ask('/')
    expect(text).not.toMatch(/<script(?![^>]*\bsrc=)|<style|\son\w+=|\sstyle=/i)
    expect(text).not.toMatch(/https?:\/\//)
  })

  it('is served on loopback alone', async () => {
    page = await inspect(runner)
    const { hostname, port } = new URL(page.url)
    expect(hostname).toBe('127.0.0.1')
    const others = Object.values(networkInterfaces())
      .flatMap((addresses) => addresses ?? [])
      .filter(({ family, internal }) => !internal && family === 'IPv4')
    for (const { address } of others) {
      await expect(fetch(`http://${address}:${port}/`), address).rejects.toThrow('fetch failed')
    }
  })

  it('has a token of its own each time, long enough not to be guessed, and in the fragment alone', async () => {
    page = await inspect(runner)
    const other = await inspect(runner)
    const { hash, pathname, search } = new URL(page.url)
    expect({ pathname, search }).toEqual({ pathname: '/', search: '' })
    expect(hash).toMatch(/^#token=[\w-]{32}$/)
    expect(tokenOf(other)).not.toBe(tokenOf(page))
    expect((await ask('/api/source', { headers: { Authorization: `Bearer ${tokenOf(other)}` } })).status).toBe(403)
    await other.close()
  })

  it('closes with all its streams, and the Runner goes on', async () => {
    page = await inspect(runner)
    const live = ask('/api/live?world=safe', { headers: withToken() })
    await expect.poll(async () => (await ask('/api/source', { headers: withToken() })).status).toBe(200)
    await page.close()
    await live.catch(() => undefined)
    await expect(ask('/')).rejects.toMatchObject({ code: 'ECONNREFUSED' })
    await runner.message(talker, 'Hello')
    await runner.idle()
  })

  it('costs its Runner nothing while no one looks: no tick and no event is told to it', async () => {
    const listening = (): boolean => runner.host.hearsTick(() => runner.host.driven.get('safe') as never) !== undefined
    page = await inspect(runner)
    expect(listening()).toBe(false)
    const gone = new AbortController()
    const { origin } = new URL(page.url)
    const live = await fetch(`${origin}/api/live?world=safe`, { headers: withToken(), signal: gone.signal })
    expect(live.status).toBe(200)
    await expect.poll(listening).toBe(true)
    gone.abort()
    await expect.poll(listening).toBe(false)
  })

  it('whose port another program has says so', async () => {
    page = await inspect(runner)
    const port = Number(new URL(page.url).port)
    await expect(inspect(runner, { port })).rejects.toMatchObject({
      code: 'address-in-use',
      message: expect.stringContaining(`Port ${port} is in use`),
    })
  })
})

describe('a handler for a server of one’s own', () => {
  beforeEach(async () => {
    page = await inspect(runner)
  })

  it('answers by the names that it was given alone, below its path', async () => {
    const source = new LivingSource(runner)
    const handler = inspectorHandler({ source, token: 'secret', allowedHosts: ['ops.example'], path: '/agents' })
    const get = (url: string, headers = {}): Promise<Response> => handler(new Request(url, { headers }))
    const authorization = 'Bearer secret'
    expect((await get('http://ops.example/agents/api/source', { authorization })).status).toBe(200)
    expect((await get('http://localhost/agents/api/source', { authorization })).status).toBe(403)
    expect((await get('http://ops.example/api/source', { authorization })).status).toBe(404)
    expect((await get('http://ops.example/agents/api/source', { authorization: 'Bearer Secret' })).status).toBe(403)
    const shown = await get('http://ops.example/agents/')
    expect(shown.status).toBe(200)
    expect(await shown.text()).toContain('page.js')
    await handler.close()
  })

  it('needs a token and names', () => {
    const source = new RunSource({ title: 'none', worlds: [] })
    for (const given of [{}, { token: '' }, { token: 'x' }, { token: 'x', allowedHosts: 'localhost' }])
      expect(() => inspectorHandler({ source, ...given } as never)).toThrow(/inspectorHandler/)
  })

  it('compares tokens in a time that says nothing of how they differ', () => {
    // What a clock cannot show in a test is read: one comparison of hashes of equal length, and no other of the token.
    const guard = readFileSync(join(import.meta.dirname, '../../src/runtime/http-guard.ts'), 'utf8')
    expect(guard.match(/#token/g)).toHaveLength(4)
    expect(guard).toContain('timingSafeEqual(digest(given), this.#token)')
  })
})
