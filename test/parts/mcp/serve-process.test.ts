import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { watch, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { describe, expect, it, onTestFinished } from 'vitest'
import {
  called,
  clientOf,
  type Era,
  eras,
  project,
  type Project,
  posted,
  initialize,
} from '../../behaviour/mcp-server/served.ts'
import { processesWith } from '../../tools/running-processes.ts'
import { addFiles } from '../../tools/temp-folder.ts'

const root = join(import.meta.dirname, '../../..')
const program = ['--conditions=entia-source', join(root, 'src/cli/main.ts'), 'serve']

/** The official client of one era, and a server that it has started. */
async function overStdio(at: Project, era: Era, words: readonly string[] = []) {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [...program, '--cwd', at.cwd, ...words],
    env: at.env,
    stderr: 'pipe',
  })
  const client = new Client(
    { name: 'test', version: '1' },
    { versionNegotiation: { mode: era === 'legacy' ? era : { pin: era } } },
  )
  await client.connect(transport)
  onTestFinished(() => client.close())
  return client
}

/** A server in a process of its own, and all that it prints. */
function startedServer(at: Project, words: readonly string[], env: Record<string, string> = {}) {
  const child = spawn(process.execPath, [...program, '--cwd', at.cwd, ...words], { env: { ...at.env, ...env } })
  onTestFinished(() => void child.kill('SIGKILL'))
  const printed = { stdout: '', stderr: '' }
  child.stdout.setEncoding('utf8').on('data', (text: string) => (printed.stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (printed.stderr += text))
  return { child, printed, ended: once(child, 'close') as Promise<[number | null]> }
}

async function urlOf({
  child,
  printed,
}: {
  child: ChildProcess
  printed: { readonly stderr: string }
}): Promise<string> {
  for (;;) {
    const url = /Serving MCP at (\S+)/.exec(printed.stderr)?.[1]
    if (url !== undefined) return url
    await once(child.stderr as NonNullable<typeof child.stderr>, 'data')
  }
}

/** Waits until a file is there. */
async function appears(folder: string, name: string): Promise<void> {
  const changes = watch(folder)[Symbol.asyncIterator]()
  for (let next = changes.next(); !existsSync(join(folder, name)); next = changes.next()) await next
}

describe.for(eras)('entia serve on standard input and output, asked by a client of %s', (era) => {
  it('lists its tools and runs them, and ends with its client', async () => {
    const at = await project()
    await writeFile(join(at.cwd, 'a.txt'), 'one\ntwo\n')
    const client = await overStdio(at, era, ['--tools', 'file'])
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain('read_file')
    expect(await called(client, 'read_file', { path: 'a.txt' })).toBe('1\tone\n2\ttwo')
    expect(await called(client, 'read_file', { path: '/etc/hosts' })).toBe(
      '[entia policy denied: outside the working folder: /etc/hosts]',
    )
    await client.close()
  })
})

describe('entia serve', () => {
  it('prints nothing but the protocol on standard output, whatever a tool prints', async () => {
    const at = await project()
    const { child, printed, ended } = startedServer(at, ['--tools', 'bash,run_js', '--allow', 'bash,run_js'])
    const call = (id: number, name: string, given: object) => ({
      jsonrpc: '2.0',
      id,
      method: 'tools/call',
      params: { name, arguments: given },
    })
    const messages = [
      initialize,
      { jsonrpc: '2.0', method: 'notifications/initialized' },
      call(2, 'bash', { command: 'echo to stdout; echo to stderr >&2' }),
      call(3, 'run_js', { code: 'console.log("printed"); process.stdout.write("straight\\n"); 42' }),
    ]
    child.stdin.write(messages.map((message) => `${JSON.stringify(message)}\n`).join(''))
    const answers = () => printed.stdout.split('\n').filter((line) => line !== '')
    while (answers().length < 3) await once(child.stdout, 'data')
    child.stdin.end()
    expect(await ended).toEqual([0, null])
    const read = answers().map((line) => JSON.parse(line) as { readonly id: number })
    expect(new Set(read.map(({ id }) => id))).toEqual(new Set([1, 2, 3]))
  })

  it('gives the prints of a custom tool and of its package to standard error', async () => {
    const at = await project()
    const declaration = { name: 'greet', description: 'Greets.', inputSchema: { type: 'object' }, restart: 'once' }
    await addFiles(at.home, {
      'config/config.json': '{ "toolPackages": ["greeter"] }',
      'config/node_modules/greeter/package.json':
        '{ "name": "greeter", "type": "module", "entia": { "tools": "./tools.js" } }',
      'config/node_modules/greeter/tools.js': `console.log('LOADED')
        const call = () => {
          console.log('PRINTED')
          process.stdout.write('STRAIGHT')
          return { content: [{ type: 'text', text: 'hello' }] }
        }
        export default [{ declaration: ${JSON.stringify(declaration)}, call }]`,
    })
    const { child, printed, ended } = startedServer(at, ['--tools', 'greeter', '--allow', 'greet'])
    const messages = [
      initialize,
      { jsonrpc: '2.0', method: 'notifications/initialized' },
      { jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'greet', arguments: {} } },
    ]
    child.stdin.write(messages.map((message) => `${JSON.stringify(message)}\n`).join(''))
    while (!printed.stdout.includes('hello')) await once(child.stdout, 'data')
    child.stdin.end()
    expect(await ended).toEqual([0, null])
    const lines = printed.stdout.trimEnd().split('\n')
    expect(lines.map((line) => (JSON.parse(line) as { readonly id: number }).id)).toEqual([1, 2])
    expect(printed.stderr).toMatch(/LOADED\n[^]*PRINTED\nSTRAIGHT/)
  })

  it('goes on after lines that are no JSON', async () => {
    const at = await project()
    const { child, printed } = startedServer(at, ['--tools', 'file'])
    child.stdin.write(`this is no JSON\n{"jsonrpc"\n[]\n${JSON.stringify(initialize)}\n`)
    while (!printed.stdout.includes('"id":1')) await once(child.stdout, 'data')
    expect(printed.stdout).toMatch('"protocolVersion":"2025-11-25"')
  })

  it.for(['SIGTERM', 'SIGINT'] as const)(
    'on %s kills what its tools have started, and ends within seconds',
    async (signal) => {
      const at = await project()
      const token = 'a-token-that-tests-know'
      const server = startedServer(at, ['--port', '0', '--tools', 'bash', '--allow', 'bash'], {
        ENTIA_MCP_TOKEN: token,
      })
      const client = await clientOf(await urlOf(server), '2026-07-28')
      // Seen from outside, a process in the sandbox has another id.
      const sleep = `sleep ${400_000 + Math.trunc(performance.now())}`
      const command = `${sleep} & while :; do sleep 0.1; touch alive; done`
      client.callTool({ name: 'bash', arguments: { command } }).catch(() => undefined)
      // The shell says that it is at work.
      await appears(at.cwd, 'alive')
      expect(processesWith(sleep)).toHaveLength(1)
      server.child.kill(signal)
      expect(await server.ended).toEqual([0, null])
      expect(processesWith(sleep)).toEqual([])
      expect(server.printed.stdout).toBe('')
    },
  )

  it('says which port is in use, and ends', async () => {
    const at = await project()
    const first = startedServer(at, ['--port', '0', '--tools', 'file'])
    const { port } = new URL(await urlOf(first))
    const second = startedServer(at, ['--port', port, '--tools', 'file'])
    expect(await second.ended).toEqual([1, null])
    expect(second.printed.stderr).toMatch(`port ${port} of 127.0.0.1 is in use by another program`)
  })

  it('keeps 100 of 1,000 sessions, and answers to the end', async () => {
    const at = await project()
    const token = 'a-token-that-tests-know'
    const server = startedServer(at, ['--port', '0', '--tools', 'file'], { ENTIA_MCP_TOKEN: token })
    const url = await urlOf(server)
    const ids: string[] = []
    for (let index = 0; index < 1_000; index += 20) {
      const some = await Promise.all(Array.from({ length: 20 }, () => posted(url, initialize)))
      for (const response of some) {
        expect(response.status).toBe(200)
        await response.text()
        ids.push(response.headers.get('mcp-session-id') ?? '')
      }
    }
    const list = { jsonrpc: '2.0', id: 2, method: 'tools/list' }
    expect((await posted(url, list, { 'mcp-session-id': ids[0] ?? '' })).status).toBe(404)
    expect((await posted(url, list, { 'mcp-session-id': ids.at(-1) ?? '' })).status).toBe(200)
  })

  it('stops the call of a client that goes away in its midst', async () => {
    const at = await project()
    const token = 'a-token-that-tests-know'
    const server = startedServer(at, ['--port', '0', '--tools', 'bash', '--allow', 'bash'], { ENTIA_MCP_TOKEN: token })
    const url = await urlOf(server)
    const controller = new AbortController()
    const body = {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: {
        name: 'bash',
        arguments: { command: 'trap "echo gone > gone" TERM EXIT; touch begun; while :; do sleep 0.05; done' },
        _meta: {
          'io.modelcontextprotocol/protocolVersion': '2026-07-28',
          'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
          'io.modelcontextprotocol/clientCapabilities': {},
        },
      },
    }
    const call = fetch(url, {
      method: 'POST',
      signal: controller.signal,
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': 'tools/call',
        'mcp-name': 'bash',
      },
      body: JSON.stringify(body),
    })
    call.catch(() => undefined)
    await appears(at.cwd, 'begun')
    controller.abort()
    await appears(at.cwd, 'gone')
    await expect(call).rejects.toThrow('abort')
    const client = await clientOf(url, '2026-07-28')
    expect(await called(client, 'bash', { command: 'echo still there' })).toBe('still there')
  })
})
