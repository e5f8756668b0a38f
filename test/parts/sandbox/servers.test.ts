import { readFileSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { realClock, type ScriptedReply, textOf } from 'entia'
import { sessionSetup, turn } from 'entia/runtime'
import { describe, expect, it, onTestFinished } from 'vitest'
import { script } from '../../runtime/chat/chatting.ts'
import { addFiles, tempFolder } from '../../tools/temp-folder.ts'
import { hasSandbox, loopback } from './confined.ts'

const program = join(import.meta.dirname, '../../programs/mcp-reaching.mjs')

/** Calls tools of the server `s` in a chat session of a project, and gives their results. */
async function called(
  calls: (home: string) => readonly (readonly [tool: string, input: object])[],
  own: { readonly server?: object; readonly config?: object; readonly project?: (home: string) => object } = {},
): Promise<readonly string[]> {
  const home = await tempFolder()
  const cwd = join(home, 'app')
  await mkdir(cwd)
  const server = { command: process.execPath, args: [program], ...own.server }
  const config = { trustedFolders: [cwd], mcp: { servers: { s: server } }, ...own.config }
  await addFiles(home, {
    'config/config.json': JSON.stringify(config),
    ...(own.project && { 'app/.entia/config.json': JSON.stringify(own.project(home)) }),
  })
  const env = {
    ...{ ...process.env, HOME: home, ENTIA_CONFIG_DIR: join(home, 'config'), ENTIA_DATA_DIR: join(home, 'data') },
    ENTIA_CACHE_DIR: join(home, 'cache'),
  }
  const replies = calls(home).map(([tool, input]): ScriptedReply => {
    return { toolCalls: [{ name: `s__${tool}`, arguments: input as never }] }
  })
  const host = { clock: realClock, models: script(replies).models }
  const setup = { cwd, env, host, provider: 'script', model: 'm', tools: ['read_file'], approve: () => true }
  const session = await sessionSetup({ ...setup, onNotice: () => {} })
  onTestFinished(() => session.close())
  await turn('Go.', session)
  return session.history.filter(({ role }) => role === 'tool').map((message) => textOf(message))
}

const writes = (home: string, name: string) => ['writes', { path: join(home, name) }] as const

describe.runIf(hasSandbox)('an MCP server in the sandbox', () => {
  it('writes in the project alone, and the model reads what was stopped', async () => {
    const [inside, outside, guarded] = await called((home) => [
      writes(home, 'app/a'),
      writes(home, 'out'),
      writes(home, 'app/.vscode/a'),
    ])
    expect(inside).toMatch(/^written: /)
    expect(outside).toMatch(/^EROFS: [^]*\n\[sandbox: it stopped a write outside of its folders/)
    expect(guarded).toMatch(/^EROFS: [^]*\n\[sandbox: /)
  })

  it('writes where the user lets it, and reaches the domains that the user names for it', async () => {
    const [one, other] = [await loopback(), await loopback()]
    const fetching = (address: string) => ['fetches', { url: `http://${address}/` }] as const
    const server = { writePaths: ['~/notes'], allowedDomains: [one.address] }
    const results = await called(
      (home) => {
        process.getBuiltinModule('node:fs').mkdirSync(join(home, 'notes'))
        return [writes(home, 'notes/a'), writes(home, 'out'), fetching(one.address), fetching(other.address)]
      },
      // Commands reach another one.
      { server, config: { allowedDomains: [other.address] } },
    )
    expect(results[0]).toMatch(/^written: /)
    expect(results[1]).toContain('EROFS')
    expect(results[2]).toBe('200 let in')
    expect(results[3]).toMatch(/^403 [^]*\[sandbox: it stopped a connection to 127\.0\.0\.1:\d+\. /)
  })

  it('has the rights of the program where the user says so', async () => {
    const results = await called((home) => [writes(home, 'out')], { server: { sandbox: false } })
    expect(results[0]).toMatch(/^written: /)
  })

  it('gets nothing more from a project, which cannot put a program in its place either', async () => {
    const project = (home: string) => ({
      mcp: { servers: { s: { writePaths: [home], allowedDomains: ['example.com'], sandbox: false } } },
    })
    expect((await called((home) => [writes(home, 'out')], { project }))[0]).toContain('EROFS')
    const other = () => ({ mcp: { servers: { s: { command: 'evil' } } } })
    const own = { server: { writePaths: ['~'] }, project: other }
    expect((await called((home) => [writes(home, 'out')], own))[0]).toMatch(/^written: /)
  })

  it('says what may have been in its way when it ends', async () => {
    const source = readFileSync(program, 'utf8').split('\n').slice(1).join('\n')
    const args = ['--input-type=module', '-e', `${source}\nwriteFileSync('/etc/out', 'x')`]
    const notices: string[] = []
    const home = await tempFolder({})
    const cwd = join(home, 'app')
    await mkdir(cwd)
    await addFiles(home, {
      'config/config.json': JSON.stringify({ mcp: { servers: { s: { command: process.execPath, args } } } }),
    })
    const env = { ...process.env, HOME: home, ENTIA_CONFIG_DIR: join(home, 'config'), ENTIA_CACHE_DIR: join(home, 'c') }
    const host = { clock: realClock, models: script([]).models }
    const session = await sessionSetup({
      ...{ cwd, env, host, provider: 'script', model: 'm', tools: [], store: false },
      onNotice: (notice) => notices.push(notice),
    })
    await turn('Go.', session)
    await session.close()
    expect(notices.join()).toMatch(
      /EROFS[^]* It ran in the sandbox\. It allows writes in [^]*allowedDomains and writePaths/,
    )
  })
})
