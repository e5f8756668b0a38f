// An MCP server over stdio that writes where its call says and asks the proxy for what its call names. It speaks JSON-RPC by hand.
import { writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { createInterface } from 'node:readline'

const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
const answer = (id, said, isError = false) => send({ id, result: { content: [{ type: 'text', text: said }], isError } })

const calls = {
  writes(id, { path }) {
    try {
      writeFileSync(path, 'x')
      answer(id, `written: ${path}`)
    } catch (error) {
      answer(id, error.message, true)
    }
  },
  fetches(id, { url }) {
    const proxy = new URL(process.env.HTTP_PROXY ?? 'http://127.0.0.1:1')
    const auth = `Basic ${Buffer.from(decodeURIComponent(`${proxy.username}:${proxy.password}`)).toString('base64')}`
    const headers = { host: new URL(url).host, 'proxy-authorization': auth }
    request({ host: proxy.hostname, port: proxy.port, path: url, headers }, (response) => {
      response.setEncoding('utf8').on('data', (text) => answer(id, `${response.statusCode} ${text}`))
    })
      .on('error', (error) => answer(id, error.message, true))
      .end()
  },
}

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line)
  if (method === 'initialize') {
    const serverInfo = { name: 'reaching', version: '1' }
    send({ id, result: { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo } })
  } else if (method === 'tools/list') {
    const tools = Object.keys(calls).map((name) => ({ name, description: name, inputSchema: { type: 'object' } }))
    send({ id, result: { tools } })
  } else if (method === 'tools/call') calls[params.name](id, params.arguments ?? {})
  else if (id !== undefined) send({ id, error: { code: -32601, message: 'Method not found' } })
})
