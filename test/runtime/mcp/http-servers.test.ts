import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { connectMcp, mcpTools } from 'entia/mcp'
import { describe, expect, it, onTestFinished } from 'vitest'
import { mcpCommand } from '../../../src/cli/mcp-command.ts'
import { SignIns } from '../../../src/runtime/mcp/sign-in.ts'
import { rejection } from '../../behaviour/turns/driving.ts'
import { McpHttpServer } from '../../servers/mcp-http-server.ts'
import { tempFolder } from '../../tools/temp-folder.ts'
import { called } from './misfit.ts'

async function listening(options = {}): Promise<McpHttpServer> {
  const server = await new McpHttpServer(options).listen()
  onTestFinished(() => server.close())
  return server
}

describe('a server over HTTP', () => {
  it('whose connection is lost fails the call, and is connected again for the next', async () => {
    const server = await listening()
    const connection = await connectMcp({ url: server.url, headers: { 'x-key': 'k' } }, { name: 'web' })
    onTestFinished(() => connection.close())
    const tools = mcpTools(connection)
    expect(await called(tools, 'web__echo')).toBe('echo')
    for (const name of ['web__cuts', 'web__huge']) {
      expect(((await rejection(called(tools, name))) as Error).message).toMatch(
        /^The connection to the MCP server 'web' was lost: /,
      )
      expect(await called(tools, 'web__echo')).toBe('echo')
    }
    server.restart()
    await rejection(called(tools, 'web__echo'))
    expect(await called(tools, 'web__echo')).toBe('echo')
  })
})

describe('a server that wants its user to sign in', () => {
  /** A home in which it is configured, and the command line there. */
  async function signingIn() {
    const server = await listening({ wantsSignIn: true })
    const cwd = await tempFolder()
    const names = ['CONFIG', 'DATA', 'CACHE', 'STATE']
    const environment = {
      HOME: cwd,
      ...Object.fromEntries(names.map((name) => [`ENTIA_${name}_DIR`, join(cwd, name.toLowerCase())])),
    }
    await mkdir(join(cwd, 'config'))
    const config = { mcp: { servers: { web: { url: server.url }, local: { command: 'x' } } } }
    await writeFile(join(cwd, 'config/config.json'), JSON.stringify(config), { mode: 0o600 })
    const visits: Promise<unknown>[] = []
    const entia = async (...words: string[]) => {
      const said: string[] = []
      const write = (line: string): void => {
        said.push(line)
        // A browser: opens the page, and follows where it leads.
        const address = /\n(http:\S+authorize\S+)/.exec(line)?.[1]
        if (address !== undefined) visits.push(fetch(address).then((page) => page.text()))
      }
      const { signal } = new AbortController()
      const code = await mcpCommand(words, { environment, cwd, stdout: { write }, stderr: { write }, signal })
      return { code, said: said.join(''), visits: await Promise.all(visits) }
    }
    const state = join(cwd, 'state')
    const auth = new SignIns(state).provider('web', server.url)
    const connected = () => connectMcp({ url: server.url }, { name: 'web', auth })
    return { connected, entia, server, state }
  }

  it('says which line to type, is signed in to with PKCE by a browser, and later by a token that is refreshed', async () => {
    const { connected, entia, server, state } = await signingIn()
    expect(((await rejection(connected())) as Error).message).toBe(
      "The MCP server 'web' cannot be reached: it wants you to sign in. Type: entia mcp login web",
    )
    const { code, said, visits } = await entia('login', 'web')
    expect([code, visits]).toEqual([0, ['You may close this page and go back to the terminal.']])
    expect(said).toMatch(/You are signed in to web\.\n$/)
    expect(server.asked.filter((line) => line.startsWith('POST'))).toEqual([
      'POST /register',
      'POST /token authorization_code',
    ])
    const [file = ''] = await readdir(join(state, 'mcp'))
    expect((await stat(join(state, 'mcp', file))).mode & 0o777).toBe(0o600)
    // The token has run out.
    server.accessToken = 'another'
    const connection = await connected()
    onTestFinished(() => connection.close())
    expect(await called(mcpTools(connection), 'web__echo')).toBe('echo')
    expect(server.asked).toContain('POST /token refresh_token')
    expect(await readFile(join(state, 'mcp', file), 'utf8')).toContain(server.accessToken)
  })

  it('is listed with its state, and forgotten by logout', async () => {
    const { entia } = await signingIn()
    const before = await entia('list', '--json')
    expect(before.code).toBe(1)
    expect(JSON.parse(before.said)).toMatchObject({
      servers: [
        { name: 'web', isConnected: false, state: expect.stringContaining('entia mcp login web') as unknown },
        { name: 'local', isConnected: false, state: expect.stringContaining('ENOENT') as unknown },
      ],
    })
    await entia('login', 'web')
    expect((await entia('list')).said).toMatch(/web {2}http:.*\n {2}connected, 3 tools, 0 prompts\n/)
    expect((await entia('logout', 'web')).said).toBe('The sign-in to web is forgotten.\n')
    expect((await entia('logout', 'web')).said).toBe('You were not signed in to web.\n')
    expect((await entia('accept', 'web')).said).toBe('No tool of web has changed.\n')
    expect(((await rejection(entia('login', 'wed'))) as Error).message).toContain("Did you mean 'web'?")
    expect(((await rejection(entia('login', 'local'))) as Error).message).toContain('nothing to sign in to')
  })
})
