import type { McpHttpHandler } from '@modelcontextprotocol/server'
import { realClock } from '../../engine/loop/clock.ts'
import { checkOptions } from '../../base/option-shapes.ts'
import { HttpGuard, localHosts } from '../../runtime/http-guard.ts'
import { HttpSessions, refusalBody } from './http-sessions.ts'
import { McpServing } from './mcp-serving.ts'
import type { ServerCaller } from './server-caller.ts'
import {
  handlerShapes,
  type HttpServerOptions,
  type McpHandlerOptions,
  type McpServerOptions,
  serverDefaults,
} from './server-options.ts'

/** An MCP server for an HTTP server of your own. */
export interface McpHandler {
  /** Answers one request, of either protocol era. Bound: it can be passed on by itself. */
  readonly fetch: (request: Request) => Promise<Response>
  /** Stops all calls, closes all sessions, and ends child processes. Idempotent. */
  readonly close: () => Promise<void>
}

/**
 * Makes tools, and programs with agents behind them, usable by MCP clients: a handler of web-standard requests, for Node by
 * `toNodeHandler` of `@modelcontextprotocol/node`. It refuses other host names than `hosts`, and requests without the token.
 *
 * @throws by its promise: `missing-peer`, `config-invalid`, `invalid-argument`
 */
export async function mcpHandler(options: McpHandlerOptions): Promise<McpHandler> {
  checkOptions('mcpHandler', options, handlerShapes)
  const { hosts = localHosts, token } = options
  const guard = new HttpGuard(hosts, token)
  const endpoint = new HttpEndpoint(await McpServing.setUp('mcpHandler', options), options)
  return {
    fetch: async (request) => {
      const { headers, url } = request
      const refusal = guard.refusal({
        authorization: headers.get('authorization'),
        host: headers.get('host') ?? new URL(url).host,
        origin: headers.get('origin'),
      })
      if (refusal === undefined) return endpoint.fetch(request)
      const { message, status } = refusal
      return new Response(refusalBody(message), {
        status,
        headers: { 'Content-Type': 'application/json', ...refusal.headers },
      })
    },
    close: () => endpoint.close(),
  }
}

/** Both protocol eras at one place: each request says by itself which it is of. */
export class HttpEndpoint {
  readonly #serving: McpServing
  readonly #sessions: HttpSessions
  /** Clients without sessions are one caller: they have the same token. */
  readonly #shared: ServerCaller
  readonly #stateless: McpHttpHandler
  readonly #maxBodyBytes: number
  #closed: Promise<void> | undefined

  constructor(serving: McpServing, options: McpServerOptions & HttpServerOptions) {
    const { maxBodyBytes, maxSessions, sessionIdleMs } = { ...serverDefaults, ...given(options) }
    this.#serving = serving
    this.#maxBodyBytes = maxBodyBytes
    const clock = options.runtime?.clock ?? realClock
    this.#sessions = new HttpSessions({ serving, clock, maxSessions, idleMs: sessionIdleMs, maxBodyBytes })
    this.#shared = serving.caller(sessionIdleMs)
    this.#stateless = serving.sdk.createMcpHandler(() => serving.serverFor(this.#shared), {
      legacy: 'reject',
      maxRequestBodySize: maxBodyBytes,
      maxSubscriptions: maxSessions,
    })
  }

  async fetch(request: Request): Promise<Response> {
    const options = { maxRequestBodySize: this.#maxBodyBytes }
    const isLegacy = await this.#serving.sdk.isLegacyRequest(request, undefined, options)
    return isLegacy ? this.#sessions.fetch(request) : this.#stateless.fetch(request)
  }

  async close(): Promise<void> {
    await (this.#closed ??= this.#end())
  }

  async #end(): Promise<void> {
    await Promise.all([this.#sessions.close(), this.#stateless.close()])
    await this.#shared.close()
    await this.#serving.close()
  }
}

/** Without those that are `undefined`. */
function given<T extends object>(options: T): { [Key in keyof T]: Exclude<T[Key], undefined> } {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as never
}
