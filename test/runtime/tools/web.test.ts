import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { Json } from 'entia'
import { tempFolder } from '../../tools/temp-folder.ts'
import { handlesIn } from '../../tools/calling.ts'
import { toolsIn } from './tools-in.ts'

/** A server on loopback; gives its `host:port`. */
async function server(listener: RequestListener): Promise<string> {
  const http = createServer(listener)
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void (http.closeAllConnections(), http.close()))
  return `127.0.0.1:${(http.address() as AddressInfo).port}`
}

const page = (body: string, type = 'text/html'): RequestListener => {
  return (_, response) => void response.setHeader('content-type', type).end(body)
}

describe('fetch_url', () => {
  it('refuses private addresses, in whatever form they are written', async () => {
    const call = toolsIn(await tempFolder())
    const hosts = [
      '127.0.0.1',
      '[::ffff:10.0.0.1]',
      '2130706433',
      '0x7f.1',
      '10.1.2.3',
      '100.64.0.1',
      '169.254.169.254',
    ]
    const more = [
      '0.0.0.0',
      '224.0.0.1',
      '[::1]',
      '[::]',
      '[fc00::1]',
      '[fe80::1]',
      '[::127.0.0.1]',
      '[64:ff9b::a00:1]',
    ]
    for (const host of [...hosts, ...more]) {
      const { hostname } = new URL(`http://${host}/`)
      const text = await call('fetch_url', { url: `http://${host}/` })
      expect(text.replace(/[[\]]/g, '')).toBe(`Error: private address refused: ${hostname.replace(/[[\]]/g, '')}`)
    }
    expect(await call('fetch_url', { url: 'http://localhost:3000/' })).toBe('Error: private address refused: localhost')
  })

  it('refuses other protocols, user names and what is no URL', async () => {
    const call = toolsIn(await tempFolder())
    expect(await call('fetch_url', { url: 'file:///x' })).toBe('Error: url must start with http: or https:, got file:')
    expect(await call('fetch_url', { url: 'http://a:b@example.com/' })).toMatch(/^Error: url must not have a user name/)
    expect(await call('fetch_url', { url: 'x' })).toBe('Error: url must be an absolute http: or https: URL')
  })

  it('reaches a private address that is allowed by host and port, and refuses a redirect to another', async () => {
    const inner = await server(page('secret', 'text/plain'))
    const outer = await server((request, response) => {
      if (request.url === '/go') return void response.writeHead(302, { location: `http://${inner}/` }).end()
      page('<h1>Hi</h1><p>See <a href="/b">this</a>.</p><script>no()</script>')(request, response)
    })
    const call = toolsIn(await tempFolder(), { allowPrivate: [outer] })
    expect(await call('fetch_url', { url: `http://${outer}/` })).toBe(`HI\n\nSee this [http://${outer}/b].`)
    expect(await call('fetch_url', { url: `http://${outer}/go` })).toBe('Error: private address refused: 127.0.0.1')
  })

  it('follows five redirects and no more', async () => {
    const host = await server((request, response) => {
      const left = Number(request.url?.slice(1))
      if (left === 0) return page('there', 'text/plain')(request, response)
      response.writeHead(302, { location: `/${left - 1}` }).end()
    })
    const call = toolsIn(await tempFolder(), { allowPrivate: [host] })
    expect(await call('fetch_url', { url: `http://${host}/5` })).toBe('there')
    expect(await call('fetch_url', { url: `http://${host}/6` })).toBe('Error: more than 5 redirects')
  })

  it('shows maxChars characters and says how many are missing, and where they are', async () => {
    const host = await server(page('x'.repeat(101), 'text/plain'))
    const call = toolsIn(await tempFolder(), { allowPrivate: [host] })
    const url = `http://${host}/`
    expect(await call('fetch_url', { url, maxChars: 101 }, { handles: handlesIn([]) })).toBe('x'.repeat(101))
    const note = '[1 characters left out; all of it: .h_001]'
    expect(await call('fetch_url', { url, maxChars: 100 }, { handles: handlesIn([]) })).toBe(
      `${'x'.repeat(100)}\n${note}`,
    )
  })

  it('gives the status and 500 characters of an error, and refuses what is no text', async () => {
    const host = await server((request, response) => {
      if (request.url === '/png') return page('x', 'image/png')(request, response)
      response.writeHead(404, { 'content-type': 'text/plain' }).end('y'.repeat(600))
    })
    const call = toolsIn(await tempFolder(), { allowPrivate: [host] })
    expect(await call('fetch_url', { url: `http://${host}/` })).toBe(`Error: 404 Not Found: ${'y'.repeat(500)}`)
    expect(await call('fetch_url', { url: `http://${host}/png` })).toBe('Error: not text: image/png')
  })

  it('stops reading after 5 MB', async () => {
    const host = await server(page('z'.repeat(6_000_000), 'text/plain'))
    const kept: Json[] = []
    const call = toolsIn(await tempFolder(), { allowPrivate: [host] })
    await call('fetch_url', { url: `http://${host}/` }, { handles: handlesIn(kept) })
    expect(kept[0]).toHaveLength(5_000_000 + '\n[stopped after 5 MB]'.length)
  })

  it('ends when it is cancelled', async () => {
    const asked = Promise.withResolvers<void>()
    const host = await server(() => asked.resolve())
    const abort = new AbortController()
    const call = toolsIn(await tempFolder(), { allowPrivate: [host] })
    const text = call('fetch_url', { url: `http://${host}/` }, { signal: abort.signal })
    await asked.promise
    abort.abort(new Error('cancelled'))
    await expect(text).rejects.toThrow('cancelled')
  })
})

describe('web_search', () => {
  it('asks Tavily with the key and gives title, URL and excerpt of each page', async () => {
    const asked: unknown[] = []
    const host = await server((request, response) => {
      let body = ''
      request.on('data', (chunk) => (body += String(chunk)))
      request.on('end', () => {
        asked.push(request.url, request.headers.authorization, JSON.parse(body))
        const results = [1, 2, 3].map((n) => ({ title: `t${n}`, url: `http://u${n}/`, content: `c${n}` }))
        response.end(JSON.stringify({ results }))
      })
    })
    const env = { TAVILY_API_KEY: 'k' }
    const call = toolsIn(await tempFolder(), { env, tavilyBaseUrl: `http://${host}/` })
    const text = await call('web_search', { query: 'q', max: 2 })
    expect(text).toBe('t1\nhttp://u1/\nc1\n\nt2\nhttp://u2/\nc2')
    expect(asked).toEqual(['/search', 'Bearer k', { query: 'q', max_results: 2 }])
  })

  it('says what is wrong with an answer', async () => {
    const host = await server((_, response) => void response.writeHead(200).end('{}'))
    const env = { TAVILY_API_KEY: 'k' }
    const call = toolsIn(await tempFolder(), { env, tavilyBaseUrl: `http://${host}` })
    expect(await call('web_search', { query: 'q' })).toMatch(/^Error: web search: malformed answer: /)
  })

  it('is declared only where its key is set; one named itself says that the key is missing', async () => {
    const folder = await tempFolder()
    const names = (env: NodeJS.ProcessEnv) =>
      toolsIn(folder, { env, tools: ['web'] }).tools.map(({ declaration }) => declaration.name)
    expect(names({ TAVILY_API_KEY: ' ' })).toEqual(['fetch_url'])
    expect(names({ TAVILY_API_KEY: 'k' })).toEqual(['web_search', 'fetch_url'])
    const call = toolsIn(folder, { env: {}, tools: ['web_search'] })
    expect(await call('web_search', { query: 'q' })).toBe('Error: TAVILY_API_KEY is not set.')
  })
})
