import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

/** An MCP server over HTTP, spoken by hand, with an authorization server in front of it if it is to be signed in to. */
export class McpHttpServer {
  /** What was asked, such as `POST /token refresh_token`. */
  readonly asked: string[] = []
  /** Of the newest sign-in or refresh. */
  accessToken: string | undefined
  readonly #wantsSignIn: boolean
  readonly #server = createServer((request, response) => void this.#answer(request, response))
  readonly #challenges = new Map<string, string>()
  #issued = 0
  #session = 1

  constructor({ wantsSignIn = false } = {}) {
    this.#wantsSignIn = wantsSignIn
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  get url(): string {
    return `${this.origin}/mcp`
  }

  async listen(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
    return this
  }

  /** Forgets the sessions of its clients, as after a restart. */
  restart(): void {
    this.#session++
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? '/', this.origin)
    const body = await text(request)
    const json = (value: unknown, status = 200, headers = {}): void => {
      response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(value))
    }
    if (pathname === '/mcp') return this.#mcp(request, response, body, json)
    const { origin } = this
    if (pathname.startsWith('/.well-known/oauth-protected-resource'))
      return json({ resource: this.url, authorization_servers: [origin] })
    if (pathname === '/.well-known/oauth-authorization-server') {
      return json({
        issuer: origin,
        authorization_endpoint: `${origin}/authorize`,
        token_endpoint: `${origin}/token`,
        registration_endpoint: `${origin}/register`,
        response_types_supported: ['code'],
        grant_types_supported: ['authorization_code', 'refresh_token'],
        code_challenge_methods_supported: ['S256'],
        token_endpoint_auth_methods_supported: ['none'],
      })
    }
    if (pathname === '/register') {
      this.asked.push('POST /register')
      return json({ ...(JSON.parse(body) as object), client_id: 'client-1' }, 201)
    }
    if (pathname === '/authorize') {
      const code = `code-${++this.#issued}`
      this.#challenges.set(code, searchParams.get('code_challenge') ?? '')
      const back = new URL(searchParams.get('redirect_uri') ?? '')
      back.searchParams.set('code', code)
      back.searchParams.set('state', searchParams.get('state') ?? '')
      response.writeHead(302, { location: back.href }).end()
      return undefined
    }
    if (pathname === '/token') return this.#token(new URLSearchParams(body), json)
    return json({}, 404)
  }

  #token(asked: URLSearchParams, json: (value: unknown, status?: number) => void): void {
    const grant = asked.get('grant_type') ?? ''
    this.asked.push(`POST /token ${grant}`)
    const challenge = createHash('sha256')
      .update(asked.get('code_verifier') ?? '')
      .digest('base64url')
    const isProven = this.#challenges.get(asked.get('code') ?? '') === challenge
    const isKnown = grant === 'refresh_token' ? asked.get('refresh_token') === 'refresh-1' : isProven
    if (!isKnown) return json({ error: 'invalid_grant' }, 400)
    this.accessToken = `access-${++this.#issued}`
    return json({ access_token: this.accessToken, token_type: 'Bearer', expires_in: 3600, refresh_token: 'refresh-1' })
  }

  #mcp(
    request: IncomingMessage,
    response: ServerResponse,
    body: string,
    json: (value: unknown, status?: number, headers?: object) => void,
  ): void {
    const { authorization } = request.headers
    if (this.#wantsSignIn && (this.accessToken === undefined || authorization !== `Bearer ${this.accessToken}`)) {
      const metadata = `${this.origin}/.well-known/oauth-protected-resource`
      return json({}, 401, { 'www-authenticate': `Bearer resource_metadata="${metadata}"` })
    }
    if (request.method !== 'POST') return json({}, 405)
    const { id, method, params } = JSON.parse(body) as Asked
    this.asked.push(method)
    const session = request.headers['mcp-session-id']
    if (session !== undefined && session !== `session-${this.#session}`) return json({}, 404)
    if (id === undefined) return void response.writeHead(202).end()
    const answer = (result: unknown, headers = {}): void => json({ jsonrpc: '2.0', id, result }, 200, headers)
    const said = (value: string): void => answer({ content: [{ type: 'text', text: value }] })
    if (method === 'initialize') {
      const serverInfo = { name: 'web', version: '1' }
      return answer(
        { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo },
        { 'mcp-session-id': `session-${this.#session}` },
      )
    }
    if (method === 'tools/list') {
      const tool = (name: string) => ({ name, inputSchema: { type: 'object' } })
      return answer({ tools: ['echo', 'huge', 'cuts'].map(tool) })
    }
    if (method !== 'tools/call')
      return json({ jsonrpc: '2.0', id, error: { code: -32601, message: 'Method not found' } })
    if (params?.name === 'cuts') return void request.socket.destroy()
    if (params?.name !== 'huge') return said('echo')
    response.writeHead(200, { 'content-type': 'application/json' })
    const piece = 'x'.repeat(1 << 20)
    const more = (left: number): void => {
      if (left > 0 && !response.destroyed) response.write(piece, () => more(left - 1))
    }
    return more(100)
  }
}

interface Asked {
  readonly id?: number
  readonly method: string
  readonly params?: { readonly name?: string }
}
