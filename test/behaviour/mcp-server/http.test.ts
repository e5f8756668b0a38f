import { chmod, readFile, stat, writeFile } from 'node:fs/promises'
import { request } from 'node:http'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { mcpHandler } from '../../../src/doors/mcp/index.ts'
import type { Clock } from '../../../src/index.ts'
import { called, clientOf, initialize, posted, project, served, token } from './served.ts'

const modernHeaders = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/list' }

/** A clock that a test moves. */
class HandClock implements Clock {
  #nowMs = 0
  readonly #alarms = new Set<{ readonly atMs: number; readonly fire: () => void }>()
  readonly now = () => this.#nowMs
  readonly date = () => this.#nowMs

  at(atMs: number, fire: () => void): () => void {
    const alarm = { atMs, fire }
    this.#alarms.add(alarm)
    return () => void this.#alarms.delete(alarm)
  }

  move(ms: number): void {
    this.#nowMs += ms
    for (const alarm of [...this.#alarms]) if (alarm.atMs <= this.#nowMs && this.#alarms.delete(alarm)) alarm.fire()
  }
}

/** The status of a request with a header that `fetch` does not set. */
function statusOf(url: string, headers: Record<string, string>): Promise<number | undefined> {
  const all = { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers }
  return new Promise((resolve, reject) => {
    const asked = request(url, { method: 'POST', headers: all }, (response) => {
      response.resume()
      resolve(response.statusCode)
    })
    asked.once('error', reject)
    asked.end(JSON.stringify(initialize))
  })
}

describe('a server on HTTP', () => {
  it('refuses a Host or an Origin of another site', async () => {
    const { url } = await served(await project(), { tools: [] })
    expect(await statusOf(url, { host: 'evil.example' })).toBe(403)
    expect(await statusOf(url, { host: 'localhost.evil.example:80' })).toBe(403)
    expect((await posted(url, initialize, { origin: 'https://evil.example' })).status).toBe(403)
    expect((await posted(url, initialize, { origin: 'null' })).status).toBe(403)
    expect((await posted(url, initialize, { origin: 'http://localhost:5173' })).status).toBe(200)
  })

  it('takes the host names that it was given', async () => {
    const { url } = await served(await project(), { tools: [], hosts: ['tools.example'] })
    expect(await statusOf(url, { host: 'tools.example' })).not.toBe(403)
    expect(await statusOf(url, { host: 'localhost' })).toBe(403)
  })

  it('refuses a request without the token, on loopback too', async () => {
    const { url } = await served(await project(), { tools: [] })
    const without = await fetch(url, { method: 'POST', body: JSON.stringify(initialize) })
    expect([without.status, without.headers.get('www-authenticate')]).toEqual([401, 'Bearer'])
    for (const authorization of ['Bearer wrong-token-of-a-length', `Basic ${token}`, `Bearer ${token}x`, `Bearer`]) {
      expect((await posted(url, initialize, { authorization })).status, authorization).toBe(401)
    }
    expect((await posted(url, initialize)).status).toBe(200)
  })

  it('serves nothing but /mcp', async () => {
    const { url } = await served(await project(), { tools: [] })
    expect((await posted(url.replace('/mcp', '/'), initialize)).status).toBe(404)
    expect((await posted(`${url}x`, initialize)).status).toBe(404)
  })

  it.for([
    ['{"jsonrpc":', 400],
    ['[]', 400],
    ['"text"', 400],
    [{ jsonrpc: '2.0', id: 1, method: 'tools/list' }, 400],
    [{ nothing: true }, 400],
  ] as const)('answers the body %o with %i, and goes on', async ([body, status]) => {
    const { url } = await served(await project(), { tools: [] })
    expect((await posted(url, body)).status).toBe(status)
    expect((await posted(url, initialize)).status).toBe(200)
  })

  it('refuses a body that is too long, of either era', async () => {
    const { url } = await served(await project(), { tools: [], maxBodyBytes: 1_000 })
    const long = { ...initialize, params: { ...initialize.params, more: 'x'.repeat(1_000) } }
    expect((await posted(url, long)).status).toBe(413)
    expect((await posted(url, long, modernHeaders)).status).toBe(413)
  })

  it('answers a session that it does not know with 404, and one that was closed', async () => {
    const { url } = await served(await project(), { tools: [] })
    const list = { jsonrpc: '2.0', id: 2, method: 'tools/list' }
    expect((await posted(url, list, { 'mcp-session-id': 'unknown' })).status).toBe(404)
    const id = (await posted(url, initialize)).headers.get('mcp-session-id') ?? ''
    const session = { 'mcp-session-id': id, 'mcp-protocol-version': '2025-11-25' }
    expect((await posted(url, list, session)).status).toBe(200)
    const closed = await fetch(url, { method: 'DELETE', headers: { authorization: `Bearer ${token}`, ...session } })
    expect(closed.status).toBe(200)
    expect((await posted(url, list, session)).status).toBe(404)
  })

  it('keeps so many sessions: one more ends that which was idle longest', async () => {
    const { url } = await served(await project(), { tools: [], maxSessions: 3 })
    const ids: string[] = []
    for (let index = 0; index < 4; index++) {
      const response = await posted(url, initialize)
      await response.text()
      ids.push(response.headers.get('mcp-session-id') ?? '')
    }
    const list = { jsonrpc: '2.0', id: 2, method: 'tools/list' }
    const statuses = []
    for (const id of ids) statuses.push((await posted(url, list, { 'mcp-session-id': id })).status)
    expect(statuses).toEqual([404, 200, 200, 200])
  })

  it('ends a session after 30 idle minutes, counted from its last request', async () => {
    const clock = new HandClock()
    const { url } = await served(await project(), { tools: [], runtime: { clock } })
    const id = (await posted(url, initialize)).headers.get('mcp-session-id') ?? ''
    const status = async () => {
      const response = await posted(url, { jsonrpc: '2.0', id: 2, method: 'tools/list' }, { 'mcp-session-id': id })
      await response.text()
      return response.status
    }
    clock.move(29 * 60_000)
    expect(await status()).toBe(200)
    clock.move(29 * 60_000)
    expect(await status()).toBe(200)
    clock.move(30 * 60_000)
    expect(await status()).toBe(404)
  })

  it('forgets after 30 idle minutes what clients without sessions have touched', async () => {
    const clock = new HandClock()
    const at = await project()
    await writeFile(join(at.cwd, 'a.txt'), 'one')
    const { url } = await served(at, { tools: ['read_file'], runtime: { clock } })
    const client = await clientOf(url, '2026-07-28')
    expect(await called(client, 'read_file', { path: '~/Documents/x' })).toMatch('entia policy denied')
    // All that follows counts as personal.
    expect(await called(client, 'read_file', { path: 'a.txt' })).toMatch('[user declined: no approval channel')
    clock.move(30 * 60_000)
    expect(await called(client, 'read_file', { path: 'a.txt' })).toBe('1\tone')
  })
})

describe('the token of a server', () => {
  it('is made at the first start, kept for this user alone, and told once', async () => {
    const at = await project()
    const notices: string[] = []
    const options = { tools: [], token: undefined, onNotice: (text: string) => void notices.push(text) }
    await (await served(at, options)).close()
    const path = join(at.home, 'state/mcp-token')
    const made = (await readFile(path, 'utf8')).trim()
    expect(made).toMatch(/^[\w-]{43}$/)
    expect((await stat(path)).mode & 0o777).toBe(0o600)
    expect(notices[0]).toBe(`Clients need this bearer token, kept in ${path}: ${made}`)
    await chmod(path, 0o644)
    notices.length = 0
    const { url } = await served(at, options)
    expect(notices.slice(0, 2)).toEqual([
      `${path} could be read by others; it is for this user alone now.`,
      `Clients need the bearer token in ${path}.`,
    ])
    expect((await stat(path)).mode & 0o777).toBe(0o600)
    expect((await posted(url, initialize, { authorization: `Bearer ${made}` })).status).toBe(200)
  })

  it('is that of the environment, which is not kept', async () => {
    const at = await project()
    const env = { ...at.env, ENTIA_MCP_TOKEN: 'the-token-of-the-environment' }
    const { url } = await served(at, { tools: [], token: undefined, env })
    expect((await posted(url, initialize, { authorization: `Bearer ${env.ENTIA_MCP_TOKEN}` })).status).toBe(200)
    await expect(stat(join(at.home, 'state'))).rejects.toThrow('ENOENT')
    const short = served(at, { tools: [], token: undefined, env: { ...at.env, ENTIA_MCP_TOKEN: 'a b' } })
    await expect(short).rejects.toThrow(
      'ENTIA_MCP_TOKEN must be at least 16 printable ASCII characters without blanks, got 3 characters',
    )
  })
})

describe('a handler in a program of its own', () => {
  it('checks the host and the token, or leaves the token to the program', async () => {
    const at = await project()
    const asked = (url: string, headers: Record<string, string> = {}) =>
      new Request(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
        body: JSON.stringify(initialize),
      })
    const guarded = await mcpHandler({ token, tools: [], cwd: at.cwd, env: at.env })
    const open = await mcpHandler({ token: false, tools: [], cwd: at.cwd, env: at.env, hosts: ['tools.example'] })
    onTestFinished(async () => {
      await guarded.close()
      await open.close()
    })
    expect((await guarded.fetch(asked('http://localhost/any'))).status).toBe(401)
    expect((await guarded.fetch(asked('http://tools.example/'))).status).toBe(403)
    expect((await guarded.fetch(asked('http://localhost/', { authorization: `bearer ${token}` }))).status).toBe(200)
    expect((await open.fetch(asked('http://tools.example/'))).status).toBe(200)
  })
})
