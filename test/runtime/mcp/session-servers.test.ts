import { existsSync, readFileSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type ModelRequest, scripted, textOf, VirtualClock } from 'entia'
import { addObserver, type ChatSession, openSession, sessionSetup, type SetupOptions, turn } from 'entia/runtime'
import { describe, expect, it, onTestFinished } from 'vitest'
import { serverPromptHelp, serverPromptText } from '../../../src/cli/chat/server-prompt.ts'
import { SessionServers } from '../../../src/runtime/mcp/session-servers.ts'
import { tempFolder } from '../../tools/temp-folder.ts'
import { misfit } from './misfit.ts'

type Config = Readonly<Record<string, unknown>>

/** A user's home with a configuration, a server of which notes when it is started. */
async function home(config: (server: Config) => Config) {
  const folder = await tempFolder()
  const starts = join(folder, 'starts')
  const written = config({ ...misfit(), env: { MISFIT_STARTS: starts } })
  await mkdir(join(folder, 'config'), { recursive: true })
  await writeFile(join(folder, 'config/config.json'), JSON.stringify(written), { mode: 0o600 })
  const env = {
    HOME: folder,
    ...Object.fromEntries(names.map((name) => [`ENTIA_${name}_DIR`, join(folder, name.toLowerCase())])),
  }
  return { env, cwd: folder, starts: () => (existsSync(starts) ? readFileSync(starts, 'utf8').length : 0) }
}
const names = ['CONFIG', 'DATA', 'CACHE', 'STATE']

/** A chat session whose model calls tools in turn, one a step, and then ends its turn. Its servers run without a sandbox. */
async function chatting(at: Awaited<ReturnType<typeof home>>, options: SetupOptions = {}, key?: string) {
  const requests: ModelRequest[] = []
  const notices: string[] = []
  let calls: readonly Called[] = []
  const model = scripted((request) => {
    requests.push(request)
    const [next, ...rest] = calls
    calls = rest
    return next === undefined ? 'Done.' : { toolCalls: [{ name: next[0], arguments: next[1] ?? {} }] }
  })
  const { cwd, env } = at
  const host = { models: { script: model }, clock: new VirtualClock() }
  const onNotice = (notice: string): void => void notices.push(notice)
  const own = { onNotice, provider: 'script', model: 'm', tools: [], approve: () => true } as const
  const setup = { cwd, env, host, sandbox: 'off', ...own, ...options } as const
  const session = key === undefined ? await sessionSetup(setup) : await openSession({ ...setup, key })
  onTestFinished(() => session.close())
  const say = async (...next: Called[]): Promise<readonly string[]> => {
    calls = next
    await turn('go', session)
    return session.history.flatMap((message) => (message.role === 'tool' ? textOf(message) : [])).slice(-next.length)
  }
  return { notices, requests, say, session }
}
type Called = readonly [name: string, input?: Readonly<Record<string, never>>]

const shown = ({ tools }: ModelRequest): readonly string[] => tools.map(({ name }) => name)

function happened(session: ChatSession, type: string): Promise<unknown> {
  return new Promise((resolve) => session.runner.on(type as '*', resolve))
}

describe('MCP servers of the configuration', () => {
  it('are connected once to learn their tools, and later when one is first called', async () => {
    const at = await home((server) => ({ mcp: { servers: { 'my server': server } } }))
    const first = await chatting(at)
    expect(await first.say(['my_server__echo', { said: 'hi' } as never])).toEqual(['echo: hi'])
    await first.session.close()
    expect(at.starts()).toBe(1)
    const second = await chatting(at)
    await second.say()
    expect(shown(second.requests[0] as ModelRequest)).toContain('my_server__echo')
    expect(at.starts()).toBe(1)
    expect(await second.say(['my_server__echo'])).toEqual(['echo: '])
    expect(at.starts()).toBe(2)
  })

  it('get the folders that the configuration names, relative to that of the chat', async () => {
    const at = await home((server) => ({ mcp: { servers: { misfit: { ...server, roots: ['sub', '/other'] } } } }))
    const { say } = await chatting(at)
    const [told = ''] = await say(['misfit__roots'])
    expect(told.match(/file:\/\/[^"]*/g)).toEqual([pathToFileURL(join(at.cwd, 'sub')).href, 'file:///other'])
  })

  it('have their calls judged by their names, and observed', async () => {
    const at = await home((server) => ({
      mcp: { servers: { s: server } },
      permissions: { s__pid: 'deny', s__echo: 'allow' },
    }))
    const { say, session } = await chatting(at, { approve: () => ({ approved: false, reason: 'not now' }) })
    const seen: unknown[] = []
    addObserver(session, ({ call, outcome }) => seen.push([call.tool, call.operation, outcome]))
    await say(['s__echo'], ['s__pid'], ['s__fails'])
    expect(seen).toEqual([
      ['s__echo', 'unknown', 'ran'],
      ['s__pid', 'unknown', 'deny'],
      ['s__fails', 'unknown', 'declined'],
    ])
  })

  it('that are not there cost one line, and no turn', async () => {
    const at = await home(() => ({ mcp: { servers: { gone: { command: 'no-such-program' }, none: {} } } }))
    const { notices, say, requests } = await chatting(at)
    await say()
    expect(requests).toHaveLength(1)
    expect(notices).toEqual([
      "The MCP server 'none' has neither command nor url, and is left out.",
      "The MCP server 'gone' cannot be reached: no-such-program cannot be started: ENOENT.",
    ])
  })

  it.for([
    ['all of it', 'allow'],
    ['some of its calls', { allow: [{ places: [] }] }],
  ])(
    'that describe a tool otherwise have what was allowed of it forgotten, now and later: %s',
    async ([, permission]) => {
      const at = await home((server) => ({ mcp: { servers: { s: server } }, permissions: { s__echo: permission } }))
      const asked: string[] = []
      const approve = ({ tool }: { readonly tool: string }) => {
        asked.push(tool)
        return { approved: true, remember: 'session' } as const
      }
      const { notices, say, session } = await chatting(at, { approve })
      await say(['s__echo'])
      expect(asked).toEqual([])
      const seen: unknown[] = []
      session.runner.on('tool-changed', ({ change, tool }) => seen.push([tool, change]))
      session.runner.on('prefix-broken', ({ component }) => seen.push(component))
      const changed = happened(session, 'tool-changed')
      await say(['s__changes'])
      await changed
      expect(asked).toEqual(['s__changes'])
      await say(['s__echo'], ['s__echo'])
      expect(seen).toEqual([['s__echo', 'changed'], 'ToolRegistry'])
      expect(asked).toEqual(['s__changes', 's__echo'])
      expect(notices).toEqual([expect.stringContaining('type: entia mcp accept s')])
      // What a person allowed meanwhile is forgotten too.
      const again = happened(session, 'tool-changed')
      await say(['s__changes'])
      await again
      await say(['s__echo'])
      expect(asked).toEqual(['s__changes', 's__echo', 's__echo'])
      await session.close()
      const later = await chatting(at, { approve })
      await later.say(['s__echo'])
      expect(asked).toEqual(['s__changes', 's__echo', 's__echo', 's__echo'])
    },
  )

  it('with more tools than a model is to be shown have them found by a search, and called as themselves', async () => {
    const at = await home((server) => ({ mcp: { servers: { s: server }, maxDeclared: 3 } }))
    const { requests, say, session } = await chatting(at)
    const seen: unknown[] = []
    addObserver(session, ({ call }) => seen.push([call.tool, call.arguments]))
    const inner = { name: 's__echo', arguments: { said: 'hi' } } as never
    const [found, echoed, direct, missing] = await say(
      ['find_tools', { query: 'says it again' } as never],
      ['call_tool', inner],
      ['s__echo', { said: 'by itself' } as never],
      ['call_tool', { name: 's__nothing', arguments: {} } as never],
    )
    expect(shown(requests[0] as ModelRequest).filter((name) => /__|_tool/.test(name))).toEqual([
      'find_tools',
      'call_tool',
    ])
    expect(new Set(requests.map((request) => JSON.stringify(request.tools))).size).toBe(1)
    expect(found).toMatch(/^s__echo\nThe MCP server 's' says of it: /)
    expect([echoed, direct]).toEqual(['echo: hi', 'echo: by itself'])
    expect(missing).toBe('Error: find_tools finds no tool named s__nothing. Search for it, or call it by itself.')
    expect(seen.slice(1, 3)).toEqual([
      ['s__echo', { said: 'hi' }],
      ['s__echo', { said: 'by itself' }],
    ])
  })

  it('ask the person who approves calls, where a yes is an answer', async () => {
    const at = await home((server) => ({ mcp: { servers: { s: server } } }))
    const asked: unknown[] = []
    const { say } = await chatting(at, { approve: ({ tool }, { reason }) => asked.push([tool, reason]) > 0 })
    expect(await say(['s__confirms'], ['s__elicits'])).toEqual([
      '{"action":"accept","content":{"sure":true}}',
      '{"action":"decline"}',
    ])
    expect(asked[1]).toEqual(['s__asks', "the MCP server 's' asks: Really?"])
  })

  it('are there when a stored chat session is opened again, those that are configured no more are not', async () => {
    const at = await home((server) => ({ mcp: { servers: { s: server } } }))
    const first = await chatting(at)
    await first.say(['s__echo'])
    await first.session.close()
    const again = await chatting(at, {}, 'latest')
    expect(await again.say(['s__echo'])).toEqual(['echo: '])
    expect(again.requests.map((request) => JSON.stringify(request.tools)).at(0)).toBe(
      JSON.stringify(first.requests.at(-1)?.tools),
    )
    await again.session.close()
    await writeFile(join(at.cwd, 'config/config.json'), '{}')
    const bare = await chatting(at, {}, 'latest')
    expect(await bare.say(['s__echo'])).toEqual(['Error: there is no tool named s__echo.'])
  })

  it('that never answer hold up the first turn once, and no closing', async () => {
    const at = await home(() => ({ mcp: { servers: { mute: misfit('mute') } } }))
    const first = await SessionServers.open({ ...served(at), patienceMs: 50 })
    await first.begin(() => {})
    await first.close()
    const second = await SessionServers.open({ ...served(at), patienceMs: 3_600_000 })
    let isBegun = false
    await second.begin(() => (isBegun = true))
    await second.close()
    expect(isBegun).toBe(true)
  })

  it('have prompts that are commands, with words for their arguments', async () => {
    const at = await home((server) => ({ mcp: { servers: { s: server } } }))
    const { say, session } = await chatting(at)
    await say()
    expect(serverPromptHelp(session)).toEqual(['/s:review number [tone]  Reviews it.'])
    expect(await serverPromptText('/s:review 12 very kind', session)).toBe('Review 12, very kind.')
    expect(await serverPromptText('/s:review tone=short 12', session)).toBe('Review 12, short.')
    expect(serverPromptText('/s:reviews 12', session)).toBeUndefined()
  })
})

function served({ cwd }: Awaited<ReturnType<typeof home>>) {
  const { args, command } = misfit('mute')
  return { servers: { mute: { command, args: [...args] } }, cwd, cache: join(cwd, 'cache'), onNotice: () => {} }
}
