import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setImmediate, setTimeout } from 'node:timers/promises'
import type { TokenUsage } from '../../src/protocol/usage.ts'

/** An answer as a model gives it, in terms that every wire protocol can say. */
export interface Reply {
  /** `seal` is what proves it, or holds it encrypted. Without text the protocol sends it in its redacted form. */
  readonly thinking?: { readonly text: string; readonly seal?: string }
  readonly text?: string
  readonly toolCalls?: readonly { readonly id: string; readonly name: string; readonly arguments: string }[]
  readonly refusal?: string
  /** The model wrote up to its limit. */
  readonly stopsAtLimit?: boolean
  /** Counted as the framework counts; a server adds up what its protocol adds up. Absent: the server does not say. */
  readonly usage?: TokenUsage
  /** @default 0 */
  readonly latencyMs?: number
  /** Each byte goes out by itself, so that characters come apart. */
  readonly byteByByte?: boolean
  /**
   * How the stream ends, if not well: the socket breaks, the response ends before the answer does, nothing more comes,
   * or an error event stands in place of the end.
   */
  readonly ends?: 'broken' | 'early' | 'silent' | StreamError
}

/** Errors that a provider reports in mid-stream. */
export interface StreamError {
  readonly error: 'overloaded' | 'rate-limited' | 'context-overflow'
}

/** Errors that a provider answers instead of a stream. */
export interface HttpError {
  readonly failure:
    | 'unauthorized'
    | 'invalid-request'
    | 'context-overflow'
    | 'too-large'
    | 'rate-limited'
    | 'quota-spent'
    | 'overloaded'
    | 'bad-gateway'
  readonly message?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** A stream that is sent as it stands, for what no sound server says. */
export interface RawStream {
  readonly raw: string
}

export type Answer = Reply | HttpError | RawStream | 'silence'

/** A request that a server got. */
export interface Received {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  /** The body as text, byte for byte. */
  readonly text: string
  /** The body, parsed. */
  readonly body: JsonBody
  /** Resolves when the response has ended, or the client has gone. */
  readonly closed: Promise<void>
}

/** A request body as tests look into it. */
export interface JsonBody {
  readonly [field: string]: unknown
}

export type Handler = (received: Received) => Answer | Promise<Answer>

/** A server on this machine that speaks a provider's protocol. */
export interface LoopbackServer {
  /** What goes into an adapter's `baseURL`. */
  readonly url: string
  readonly requests: readonly Received[]
  close(): Promise<void>
}

/** How a provider says things. Events are whole server-sent events, with the empty line behind them. */
export interface Protocol {
  /** Behind the address, in `url`. */
  readonly basePath: string
  content(reply: Reply, received: Received): string[]
  /** What follows the content of a stream that ends well. */
  end(reply: Reply, received: Received): string[]
  streamError(error: StreamError): string
  httpError(error: HttpError): { readonly status: number; readonly body: unknown }
  /** What the real API would refuse in a request, in its words; `undefined`: nothing. */
  refusalOf(body: JsonBody): string | undefined
}

/** Answers that are given one after the other, each once. */
export function inTurn(...answers: readonly Answer[]): Handler {
  let next = 0
  return () => {
    const answer = answers[next++]
    if (answer === undefined) throw new Error(`The server has ${answers.length} answers and got another request.`)
    return answer
  }
}

function refused(message: string): HttpError {
  return { failure: 'invalid-request', message }
}

/** A list of a body, as tests look into it. */
export function listOf(value: unknown): readonly JsonBody[] {
  return Array.isArray(value) ? (value as readonly JsonBody[]) : []
}

/** Does a text hold nothing but white space? */
export function isBlank(text: unknown): boolean {
  return typeof text !== 'string' || text.trim() === ''
}

/** So many clients may connect at once: as many as the system has room for. */
const maxWaitingConnections = 4_096

/** Starts a server on a free port of the loopback interface. */
export async function startLoopback(protocol: Protocol, handler: Handler): Promise<LoopbackServer> {
  const requests: Received[] = []
  const server = createServer((request, response) => {
    void serve(request, response).catch((error: unknown) => {
      if (response.headersSent) response.destroy()
      else response.writeHead(500).end(JSON.stringify({ error: { message: String(error), type: 'loopback' } }))
    })
  })

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const closed = new Promise<void>((resolve) => response.once('close', resolve))
    const text = await bodyOf(request)
    if (request.method === 'GET') {
      sendJson(response, 200, { object: 'list', data: [{ id: 'small' }, { id: 'large' }], has_more: false })
      return
    }
    const body = JSON.parse(text) as JsonBody
    const received = { path: request.url ?? '', headers: request.headers, text, body, closed }
    requests.push(received)
    const refusal = protocol.refusalOf(body)
    const answer = refusal === undefined ? await handler(received) : refused(refusal)
    if (answer === 'silence') return
    if ('failure' in answer) {
      const { status, body } = protocol.httpError(answer)
      sendJson(response, status, body, answer.headers)
      return
    }
    if ('raw' in answer) {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).end(answer.raw)
      return
    }
    if (answer.latencyMs !== undefined) await setTimeout(answer.latencyMs)
    await stream(response, answer, received)
  }

  async function stream(response: ServerResponse, reply: Reply, received: Received): Promise<void> {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const events = protocol.content(reply, received)
    const { ends } = reply
    if (ends === undefined) events.push(...protocol.end(reply, received))
    else if (typeof ends === 'object') events.push(protocol.streamError(ends))
    const bytes = Buffer.from(events.join(''))
    if (reply.byteByByte === true) {
      for (const byte of bytes) {
        response.write(Uint8Array.of(byte))
        await setImmediate()
      }
    } else if (ends === 'broken' || ends === 'silent') {
      await new Promise<void>((resolve) => response.write(bytes, () => resolve()))
    } else response.write(bytes)
    if (ends === 'broken') response.destroy()
    else if (ends !== 'silent') response.end()
  }

  // A client that is busy for longer than a server keeps idle sockets sends its next request into one that is closed.
  server.keepAliveTimeout = 0
  // On a busy machine requests take as long as they take.
  server.headersTimeout = 0
  server.requestTimeout = 0
  const place = { port: 0, host: '127.0.0.1', backlog: maxWaitingConnections }
  await new Promise<void>((resolve) => server.listen(place, resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}${protocol.basePath}`,
    requests,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** One server-sent event. */
export function sse(data: unknown, name?: string): string {
  return `${name === undefined ? '' : `event: ${name}\n`}data: ${JSON.stringify(data)}\n\n`
}

/** A text in two deltas, as models never send it at once. */
export function halves(text: string): string[] {
  const characters = Array.from(text)
  const middle = Math.ceil(characters.length / 2)
  return [characters.slice(0, middle).join(''), characters.slice(middle).join('')].filter((half) => half !== '')
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString('utf8')
}

function sendJson(response: ServerResponse, status: number, body: unknown, headers: object = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
}
