import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'

/** A server on this machine that speaks no provider's protocol, until the test is over. */
export async function startPlainServer(
  listener: RequestListener,
): Promise<{ readonly url: string; readonly host: string }> {
  const server = createServer((request, response) => {
    request.resume()
    request.once('end', () => listener(request, response))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  return { url: `http://${host}`, host }
}
