import { randomBytes } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { Runner } from '../engine/loop/runner.ts'
import { localHosts } from '../runtime/http-guard.ts'
import { EntiaError } from '../base/entia-error.ts'
import { checkOptions, flag, type Shape } from '../base/option-shapes.ts'
import { type InspectorHandler, inspectorHandler } from './handler.ts'
import { LivingSource } from './living-source.ts'
import type { Source } from './source.ts'

/** Options of `inspect`. */
export interface InspectOptions {
  /** On loopback. 0: any that is free. @default 0 */
  readonly port?: number | undefined
  /** Whether a page may post, answer, cancel, pause and fork. @default false */
  readonly actions?: boolean | undefined
}

/** A page that is served. */
export interface InspectorPage {
  /** With the token in its fragment: who has the link may look. */
  readonly url: string
  /** Ends the server and all connections. Idempotent. The Runner goes on. */
  close(): Promise<void>
}

const port: Shape = {
  wanted: 'an integer from 0 to 65535',
  fits: (value) => Number.isInteger(value) && (value as number) >= 0 && (value as number) <= 65_535,
}

/**
 * Serves the inspector of a Runner's world and its sessions, or of another source, on loopback.
 * @throws `invalid-argument`; `address-in-use` for a port that another program has
 */
export async function inspect(of: Runner | Source, options: InspectOptions = {}): Promise<InspectorPage> {
  checkOptions('inspect', options, { port, actions: flag })
  const source = of instanceof Runner ? new LivingSource(of) : of
  const token = randomBytes(24).toString('base64url')
  const handler = inspectorHandler({ source, token, allowedHosts: localHosts, actions: options.actions })
  const server = createServer((request, response) => void answer(handler, request, response))
  await listening(server, options.port ?? 0)
  const { port: at } = server.address() as AddressInfo
  let closing: Promise<void> | undefined
  return {
    url: `http://127.0.0.1:${at}/#token=${token}`,
    close: () =>
      (closing ??= (async () => {
        const closed = new Promise<void>((resolve) => server.close(() => resolve()))
        await handler.close()
        server.closeAllConnections()
        await closed
      })()),
  }
}

function listening(server: Server, at: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EADDRINUSE') return reject(error)
      const what = `Port ${at} is in use by another program`
      reject(new EntiaError('address-in-use', `inspect: ${what}. Choose another one, or 0 for any.`))
    })
    server.listen(at, '127.0.0.1', resolve)
  })
}

async function answer(handler: InspectorHandler, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const gone = new AbortController()
  response.once('close', () => gone.abort())
  try {
    const { body, headers, status } = await handler(fetched(request, gone.signal))
    response.writeHead(status, Object.fromEntries(headers))
    if (body === null) return void response.end()
    for await (const piece of body as AsyncIterable<Uint8Array>) {
      if (response.destroyed) break
      if (!response.write(piece)) await drained(response)
    }
    response.end()
  } catch {
    // The page has gone, or the handler could not answer.
    response.destroy()
  }
}

function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      response.off('drain', end).off('close', end)
      resolve()
    }
    response.on('drain', end).on('close', end)
  })
}

function fetched(request: IncomingMessage, signal: AbortSignal): Request {
  const { headers, method = 'GET', url = '/' } = request
  const given = Object.entries(headers).map(([name, value]): [string, string] => [name, String(value)])
  const hasBody = method !== 'GET' && method !== 'HEAD'
  const address = `http://${headers.host ?? 'localhost'}${url}`
  return new Request(URL.canParse(address) ? address : `http://localhost${url}`, {
    method,
    headers: given,
    signal,
    ...(hasBody && { body: Readable.toWeb(request) as ReadableStream, duplex: 'half' as const }),
  })
}
