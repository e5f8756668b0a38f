import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'
import { sse } from './loopback.ts'

export interface OllamaServer {
  /** For `OLLAMA_HOST`. */
  readonly url: string
  /** Method and path of each request, in order. */
  readonly requests: readonly string[]
}

/** How the server answers; both may change while it runs. */
export interface OllamaAnswers {
  models: readonly string[]
  /** Answers nothing to `/api/tags`. @default false */
  isSilent?: boolean
}

/** Starts a server that lists models and answers every chat with `Local.`, as Ollama does. */
export async function startOllama(answers: OllamaAnswers): Promise<OllamaServer> {
  const requests: string[] = []
  const server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url}`)
    if (request.url === '/api/tags') {
      if (answers.isSilent === true) return
      const models = answers.models.map((name) => ({ name, model: name, size: 13_780_173_839 }))
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ models }))
      return
    }
    const frame = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 0, model: 'gpt-oss:20b' }
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(sse({ ...frame, choices: [{ index: 0, delta: { role: 'assistant', content: 'Local.' } }] }))
    response.write(sse({ ...frame, choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }))
    response.end('data: [DONE]\n\n')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests }
}
