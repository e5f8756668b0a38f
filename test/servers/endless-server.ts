import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'

/** What a server sends that never ends. */
export interface Endless {
  /** @default 200 */
  readonly status?: number
  readonly type?: string
  /** Comes first, and once. */
  readonly head?: string
  /** Comes again and again. */
  readonly piece: string
}

export interface EndlessServer {
  readonly url: string
  /** Requests so far. */
  readonly requests: () => number
  /** Resolves when the client has closed all connections so far. */
  readonly closed: () => Promise<unknown>
  /** Most memory that the process took while this was sent, beyond what it took before, in bytes. */
  readonly grownBytes: () => number
}

/** A server on this machine that answers whatever it is asked, as fast as it is read, and never ends; closed with the test. */
export async function startEndless({ status = 200, type = 'text/event-stream', head = '', piece }: Endless) {
  const responses: Promise<unknown>[] = []
  const before = process.memoryUsage.rss()
  let most = before
  const pump = async (response: ServerResponse): Promise<void> => {
    response.writeHead(status, { 'content-type': type }).write(head)
    const closed = once(response, 'close')
    responses.push(closed)
    while (!response.destroyed) {
      most = Math.max(most, process.memoryUsage.rss())
      if (!response.write(piece)) await Promise.race([once(response, 'drain'), closed])
    }
  }
  const server = createServer((_, response) => void pump(response).catch(() => undefined))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  const made: EndlessServer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests: () => responses.length,
    closed: () => Promise.all(responses),
    grownBytes: () => most - before,
  }
  return made
}
