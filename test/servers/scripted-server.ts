import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import { onTestFinished } from 'vitest'
import type { JsonBody } from './loopback.ts'

/** What a server says, byte for byte. */
export interface Said {
  /** @default 200 */
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  /** A text as it is, or JSON. */
  readonly body: unknown
  /** The connection stays open behind the body, and gets this again and again. */
  readonly goesOn?: string
  /** Bytes that go out by themselves, so that characters and events come apart. @default all at once */
  readonly pieceBytes?: number
}

export interface ScriptedServer {
  readonly url: string
  readonly bodies: readonly JsonBody[]
}

/** A server of any maker until the test is over: a text is a stream of events. @param count of the request, from 1 */
export async function startScriptedServer(
  answer: (body: JsonBody, count: number) => string | Said,
): Promise<ScriptedServer> {
  const bodies: JsonBody[] = []
  const server = createServer((request, response) => {
    const parts: Buffer[] = []
    request.on('data', (part: Buffer) => parts.push(part))
    request.once('end', () => {
      const body = JSON.parse(Buffer.concat(parts).toString()) as JsonBody
      bodies.push(body)
      const said = answer(body, bodies.length)
      const {
        body: sent,
        headers,
        status = 200,
        goesOn,
        pieceBytes,
      } = typeof said === 'string' ? ({ body: said } as Said) : said
      const type = typeof sent === 'string' ? 'text/event-stream' : 'application/json'
      response.writeHead(status, { 'content-type': type, ...headers })
      const text = typeof sent === 'string' ? sent : JSON.stringify(sent)
      if (pieceBytes !== undefined) return void inPieces(response, text, pieceBytes)
      if (goesOn === undefined) return void response.end(text)
      response.write(text)
      const timer = setInterval(() => response.write(goesOn), 50)
      response.once('close', () => clearInterval(timer))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, bodies }
}

async function inPieces(response: ServerResponse, text: string, pieceBytes: number): Promise<void> {
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; at += pieceBytes) {
    response.write(bytes.subarray(at, at + pieceBytes))
    await setImmediate()
  }
  response.end()
}

/** A refusal in the words of OpenAI and those like it. */
export function refusal(message: string, more: object = {}, status = 400): Said {
  return { status, body: { error: { message, type: 'invalid_request_error', ...more } } }
}
