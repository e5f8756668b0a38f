import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { resolve } from 'node:path'
import { Writable } from 'node:stream'
import { folders } from '../../runtime/config/folders.ts'
import { EntiaError } from '../../base/entia-error.ts'
import { checkOptions } from '../../base/option-shapes.ts'
import { noticesTo } from '../../runtime/notices.ts'
import { HttpGuard, type HttpRefusal, localHosts } from '../../runtime/http-guard.ts'
import { refusalBody } from './http-sessions.ts'
import { HttpEndpoint } from './mcp-handler.ts'
import { McpServing } from './mcp-serving.ts'
import { type ServeOptions, serverDefaults, serveShapes } from './server-options.ts'
import { nodeSdk, stdioSdk } from './server-sdk.ts'
import { serverToken } from './server-token.ts'

/** A server that is at work. */
export interface McpServerHandle {
  /** Where clients reach it; `undefined` for one on standard input and output. */
  readonly url: string | undefined
  /** Stops all calls, closes connections, and ends child processes. Idempotent. */
  readonly close: () => Promise<void>
  /** Resolves once it is closed: by `close`, or because standard input has ended. */
  readonly closed: Promise<void>
}

const path = '/mcp'

/**
 * Offers Entia's tools, or a program's own, to MCP clients: on standard input and output, or with a `port` by HTTP at `/mcp`.
 * Clients of 2026-07-28 and of 2025-11-25 and older have the same tools. Standard output then carries nothing else: what the
 * program writes to `process.stdout`, such as by `console.log`, goes to standard error.
 *
 * @throws by its promise: `missing-peer`, `config-invalid`, `invalid-argument`; `address-in-use` for a port that another program has
 */
export async function serve(options: ServeOptions = {}): Promise<McpServerHandle> {
  checkOptions('serve', options, serveShapes)
  return options.port === undefined ? serveStdio(options) : serveHttp(options, options.port)
}

async function serveStdio(options: ServeOptions): Promise<McpServerHandle> {
  const { serveStdio: begin, StdioServerTransport } = await stdioSdk('serve')
  const output = protocolOutput()
  const serving = await McpServing.setUp('serve', options).catch((error: unknown) => {
    output.putBack()
    throw error
  })
  const caller = serving.caller()
  const ended = Promise.withResolvers<void>()
  let closing: Promise<void> | undefined
  const close = (): Promise<void> =>
    (closing ??= (async () => {
      await handle.close()
      await serving.close()
      output.putBack()
      ended.resolve()
    })())
  const transport = new StdioServerTransport(process.stdin, output.stream, {
    maxBufferSize: options.maxBodyBytes ?? serverDefaults.maxBodyBytes,
  })
  const handle = begin(() => serving.serverFor(caller), { transport })
  process.stdin.once('end', () => void close())
  return { url: undefined, close, closed: ended.promise }
}

/**
 * Standard output for the protocol alone. What tools and their packages print, such as by `console.log`, goes to standard
 * error meanwhile: between two messages it would be read as one.
 */
function protocolOutput(): { readonly stream: Writable; readonly putBack: () => void } {
  const { stderr, stdout } = process
  const write = stdout.write.bind(stdout)
  stdout.write = stderr.write.bind(stderr)
  stdout.on('error', ignore)
  const stream = new Writable({
    decodeStrings: false,
    write: (chunk: string | Uint8Array, encoding, done) => void write(chunk, encoding, done),
  })
  const putBack = (): void => {
    stdout.write = write
    stdout.off('error', ignore)
  }
  return { stream, putBack }
}

/** A client that is gone is an error of the stream, which tells it on; without a listener it would end the process. */
function ignore(): void {}

async function serveHttp(options: ServeOptions, port: number): Promise<McpServerHandle> {
  const { cwd = '.', env = process.env, host = serverDefaults.host } = options
  const { maxRequests = serverDefaults.maxRequests } = options
  const onNotice = noticesTo(options.onNotice)
  const { toNodeHandler } = await nodeSdk('serve')
  const serving = await McpServing.setUp('serve', options)
  const token = options.token ?? (await serverToken(env, folders(env, resolve(cwd)), onNotice))
  const endpoint = new HttpEndpoint(serving, options)
  const answer = toNodeHandler(endpoint, { maxRequestBodySize: options.maxBodyBytes ?? serverDefaults.maxBodyBytes })
  const guard = new HttpGuard(
    [...(options.hosts ?? localHosts), ...(isEverywhere(host) ? [] : [bracketed(host)])],
    token,
  )
  let atWork = 0
  const server = createServer((request, response) => {
    const refusal = refusalOf(request, guard) ?? (atWork >= maxRequests ? tooMany : undefined)
    if (refusal !== undefined) return refuse(request, response, refusal)
    // A stream that waits for news is no work.
    const isWork = request.method === 'POST'
    if (isWork) {
      atWork++
      response.once('close', () => atWork--)
    }
    void answer(request as IncomingMessage & { method: string; url: string }, response)
  })
  await listening(server, port, host).catch(async (error: unknown) => {
    await endpoint.close()
    throw error
  })
  const ended = Promise.withResolvers<void>()
  let closing: Promise<void> | undefined
  const end = async (): Promise<void> => {
    const closed = new Promise((resolved) => server.close(resolved))
    await endpoint.close()
    server.closeAllConnections()
    await closed
    ended.resolve()
  }
  const url = `http://${bracketed(host)}:${(server.address() as AddressInfo).port}${path}`
  onNotice(`Serving MCP at ${url}`)
  return { url, close: () => (closing ??= end()), closed: ended.promise }
}

const tooMany: HttpRefusal = { status: 503, message: 'Too many requests at a time', headers: { 'Retry-After': '1' } }

function refusalOf(request: IncomingMessage, guard: HttpGuard): HttpRefusal | undefined {
  const { headers, url = '' } = request
  const refusal = guard.refusal({
    authorization: headers.authorization ?? null,
    host: headers.host ?? null,
    origin: headers.origin ?? null,
  })
  if (refusal !== undefined) return refusal
  return url === path || url.startsWith(`${path}?`) ? undefined : { status: 404, message: `The server is at ${path}` }
}

function refuse(request: IncomingMessage, response: ServerResponse, { headers, message, status }: HttpRefusal): void {
  // What is left of the body is dropped.
  request.resume()
  response.writeHead(status, { 'Content-Type': 'application/json', Connection: 'close', ...headers })
  response.end(refusalBody(message))
}

function listening(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolved, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(listenError(error, port, host)))
    server.listen(port, host, resolved)
  })
}

function listenError(error: NodeJS.ErrnoException, port: number, host: string): Error {
  const details = { host, port }
  if (error.code === 'EADDRINUSE') {
    const what = `serve: port ${port} of ${host} is in use by another program.`
    return new EntiaError('address-in-use', `${what} Choose another port, or 0 for any free one.`, details, {
      cause: error,
    })
  }
  const what = `serve: cannot listen at port ${port} of ${host}: ${error.message}`
  return new EntiaError('invalid-argument', `${what}. Choose another port or host.`, details, { cause: error })
}

function isEverywhere(host: string): boolean {
  return host === '0.0.0.0' || host === '::'
}

/** As it stands in a URL. */
function bracketed(host: string): string {
  return host.includes(':') ? `[${host}]` : host
}
