import type { McpServer, WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server'
import type { Clock } from '../../engine/loop/clock.ts'
import type { McpServing } from './mcp-serving.ts'
import type { ServerCaller } from './server-caller.ts'

/** One session of a client of 2025-11-25 or older. */
interface HttpSession {
  readonly transport: WebStandardStreamableHTTPServerTransport
  readonly server: McpServer
  readonly caller: ServerCaller
  /** Requests that have no response yet. */
  running: number
  cancelTimer?: () => void
}

export interface HttpSessionsOptions {
  readonly serving: McpServing
  readonly clock: Clock
  readonly maxSessions: number
  readonly idleMs: number
  readonly maxBodyBytes: number
}

/** Sessions by `Mcp-Session-Id`, in the order of their use: each has a transport, a server and a caller of its own. */
export class HttpSessions {
  readonly #options: HttpSessionsOptions
  readonly #byId = new Map<string, HttpSession>()

  constructor(options: HttpSessionsOptions) {
    this.#options = options
  }

  get size(): number {
    return this.#byId.size
  }

  async fetch(request: Request): Promise<Response> {
    const id = request.headers.get('mcp-session-id')
    if (id !== null) {
      const session = this.#byId.get(id)
      if (session === undefined) return refused(404, -32_001, 'Session not found')
      return this.#answer(id, session, request)
    }
    if (!(await this.#begins(request))) {
      return refused(400, -32_000, 'Bad Request: Mcp-Session-Id header is required; a session begins with initialize')
    }
    if (this.#byId.size >= this.#options.maxSessions && !this.#endLongestIdle()) {
      return refused(503, -32_000, `All ${this.#options.maxSessions} sessions are at work; try again later`)
    }
    return this.#begin(request)
  }

  /** Tells all sessions that the list of tools is another one. */
  toolsChanged(): void {
    for (const { server } of this.#byId.values()) server.sendToolListChanged()
  }

  async close(): Promise<void> {
    await Promise.all([...this.#byId.keys()].map((id) => this.#end(id)))
  }

  async #begins(request: Request): Promise<boolean> {
    if (request.method !== 'POST') return false
    const body: unknown = await request
      .clone()
      .json()
      .catch(() => undefined)
    return (Array.isArray(body) ? body : [body]).some((message) =>
      this.#options.serving.sdk.isInitializeRequest(message),
    )
  }

  async #begin(request: Request): Promise<Response> {
    const { maxBodyBytes, serving } = this.#options
    const caller = serving.caller()
    const server = serving.serverFor(caller)
    const session: HttpSession = {
      server,
      caller,
      running: 1,
      transport: new serving.sdk.WebStandardStreamableHTTPServerTransport({
        sessionIdGenerator: () => crypto.randomUUID(),
        maxRequestBodySize: maxBodyBytes,
        onsessioninitialized: (id) => void this.#byId.set(id, session),
        onsessionclosed: (id) => this.#end(id),
      }),
    }
    await server.connect(session.transport)
    const response = await session.transport.handleRequest(request)
    const { sessionId } = session.transport
    if (sessionId === undefined) await server.close()
    else this.#done(sessionId, session)
    return response
  }

  async #answer(id: string, session: HttpSession, request: Request): Promise<Response> {
    // Used last.
    this.#byId.delete(id)
    this.#byId.set(id, session)
    session.cancelTimer?.()
    session.running++
    try {
      return await session.transport.handleRequest(request)
    } finally {
      this.#done(id, session)
    }
  }

  #done(id: string, session: HttpSession): void {
    session.running--
    if (session.running === 0) this.#endWhenIdle(id, session)
  }

  #endWhenIdle(id: string, session: HttpSession): void {
    if (this.#byId.get(id) !== session) return
    const { clock, idleMs } = this.#options
    session.cancelTimer?.()
    session.cancelTimer = clock.at(clock.now() + idleMs, () => {
      if (session.caller.isBusy) this.#endWhenIdle(id, session)
      else void this.#end(id)
    })
  }

  /** Makes room. False: all are at work. */
  #endLongestIdle(): boolean {
    const idle = [...this.#byId].find(([, { caller, running }]) => running === 0 && !caller.isBusy)
    if (idle === undefined) return false
    void this.#end(idle[0])
    return true
  }

  async #end(id: string): Promise<void> {
    const session = this.#byId.get(id)
    if (session === undefined) return
    this.#byId.delete(id)
    session.cancelTimer?.()
    await session.server.close()
    await session.caller.close()
  }
}

function refused(status: number, code: number, message: string): Response {
  return new Response(refusalBody(message, code), { status, headers: { 'Content-Type': 'application/json' } })
}

/** The answer to a refused request, as JSON-RPC has it. */
export function refusalBody(message: string, code = -32_000): string {
  return JSON.stringify({ jsonrpc: '2.0', error: { code, message }, id: null })
}
