import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client, StreamableHTTPClientTransport, type ElicitResult } from '@modelcontextprotocol/client'
import { onTestFinished } from 'vitest'
import { type McpServerHandle, serve, type ServeOptions } from '../../../src/doors/mcp/index.ts'

export const token = 'a-token-that-tests-know'

/** A protocol era, as the official client names the way to it. */
export type Era = 'legacy' | '2026-07-28'
export const eras: readonly Era[] = ['legacy', '2026-07-28']

/** A home folder with a project in it, which is removed with the test; what the environment says points into it. */
export async function project() {
  const home = await mkdtemp(join(tmpdir(), 'entia-mcp-'))
  onTestFinished(() => rm(home, { recursive: true, force: true }))
  const cwd = join(home, 'app')
  await mkdir(cwd)
  const folders = Object.fromEntries(
    ['CONFIG', 'DATA', 'CACHE', 'STATE'].map((name) => [`ENTIA_${name}_DIR`, join(home, name.toLowerCase())]),
  )
  return { home, cwd, env: { HOME: home, PATH: process.env['PATH'] ?? '', ...folders } }
}

export type Project = Awaited<ReturnType<typeof project>>

/** A server on HTTP, which is closed with the test. */
export async function served(
  at: Project,
  options: ServeOptions = {},
): Promise<McpServerHandle & { readonly url: string }> {
  const server = await serve({ port: 0, token, cwd: at.cwd, env: at.env, onNotice: () => undefined, ...options })
  onTestFinished(() => server.close())
  return server as McpServerHandle & { readonly url: string }
}

/** The official client, of one era. @param elicit answers questions; absent: it offers no elicitation. @param send sends requests */
export async function clientOf(
  url: string,
  era: Era,
  elicit?: (message: string) => ElicitResult | Promise<ElicitResult>,
  send: typeof fetch = fetch,
): Promise<Client> {
  const capabilities = elicit === undefined ? {} : { elicitation: { form: {} } }
  const mode = era === 'legacy' ? era : { pin: era }
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode }, capabilities })
  if (elicit !== undefined) client.setRequestHandler('elicitation/create', ({ params }) => elicit(params.message))
  const requestInit = { headers: { authorization: `Bearer ${token}` } }
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit, fetch: send }))
  onTestFinished(() => client.close())
  return client
}

/** The text of a call's result. */
export async function called(client: Client, name: string, given: Record<string, unknown> = {}): Promise<string> {
  const { content } = await client.callTool({ name, arguments: given })
  return content.map((block) => (block.type === 'text' ? block.text : `[${block.type}]`)).join('\n')
}

/** Posts what a client would, or would not. */
export function posted(url: string, body: unknown, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(url, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
    },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
}

export const initialize = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
}
