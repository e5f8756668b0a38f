import fs from 'node:fs'
import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { dirname, join } from 'node:path'
import {
  defineTool,
  Limits,
  memoryStore,
  realClock,
  type ScriptedReply,
  SystemPrompt,
  textOf,
  VirtualClock,
} from 'entia'
import {
  type ChatSession,
  listSessions,
  newSession,
  openSession,
  removeSession,
  sessionSetup,
  type SetupOptions,
  turn,
} from 'entia/runtime'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { z } from 'zod'
import { rejection } from '../../behaviour/turns/driving.ts'
import { tempFolder } from '../../tools/temp-folder.ts'
import { script } from './chatting.ts'

/** A home folder with Entia's folders in it, and a project. */
async function home(files: Readonly<Record<string, string>> = {}) {
  const folder = await tempFolder()
  const cwd = join(folder, 'projects', 'app')
  await mkdir(cwd, { recursive: true })
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true })
    await writeFile(join(folder, name), text)
  }
  const env = {
    HOME: folder,
    ENTIA_CONFIG_DIR: join(folder, 'config'),
    ENTIA_DATA_DIR: join(folder, 'data'),
    ANTHROPIC_API_KEY: 'a-key',
    OPENAI_API_KEY: 'a-key',
    MOONSHOT_API_KEY: 'a-key',
  }
  return { cwd, env, folder }
}

/** A chat session of that home, without a sandbox; closed when the test is over. */
async function setUp(
  { cwd, env }: { cwd: string; env: NodeJS.ProcessEnv },
  options: SetupOptions = {},
): Promise<ChatSession> {
  const session = await sessionSetup({ cwd, env, sandbox: 'off', ...options })
  onTestFinished(() => session.close())
  return session
}

function answering(replies: readonly ScriptedReply[] = ['Well.']): SetupOptions {
  return { provider: 'script', model: 'm', host: { clock: new VirtualClock(), models: script(replies).models } }
}

function promptOf({ agent, world }: ChatSession): string {
  const { ending = '', template } = world.read(agent, SystemPrompt)
  return template + ending
}

const stepsOf = ({ agent, world }: ChatSession) => world.read(agent, Limits).maxSteps

describe('a new chat session', () => {
  it('has ten steps a turn, and is made without files, environment and network', () => {
    const read: string[] = []
    const own = process.env
    const watched = new Proxy(own, {
      get: (env, name) => {
        read.push(`env ${String(name)}`)
        return Reflect.get(env, name) as unknown
      },
    })
    const spies = (['readFileSync', 'openSync', 'statSync', 'readFile', 'open', 'stat'] as const).map((name) =>
      vi.spyOn(fs, name).mockImplementation(() => void read.push(name) as never),
    )
    const fetched = vi.spyOn(globalThis, 'fetch').mockImplementation(() => read.push('fetch') as never)
    try {
      process.env = watched
      syncBuiltinESMExports()
      const session = newSession()
      const { channel, history, model, planMode, provider } = session
      expect({ channel, history, planMode, provider }).toEqual({
        ...{ channel: 'cli', history: [], planMode: false, provider: 'anthropic' },
      })
      expect(model).toMatch(/^claude-/)
      expect(stepsOf(session)).toBe(10)
    } finally {
      process.env = own
      for (const spy of [...spies, fetched]) spy.mockRestore()
      syncBuiltinESMExports()
    }
    expect(read).toEqual([])
  })
})

describe('the setup of a chat session', () => {
  it('allows 50 steps a turn, or as many as the configuration says, or as many as its option says', async () => {
    const plain = await home()
    expect(stepsOf(await setUp(plain))).toBe(50)
    const configured = await home({ 'config/config.json': '{ "maxSteps": 20 }' })
    expect(stepsOf(await setUp(configured))).toBe(20)
    expect(stepsOf(await setUp(configured, { maxSteps: 5 }))).toBe(5)
  })

  it('takes the provider of its option, of the project, of the user, or Anthropic', async () => {
    expect((await setUp(await home())).provider).toBe('anthropic')
    const files = { 'config/config.json': '{ "provider": "openai" }' }
    expect((await setUp(await home(files))).provider).toBe('openai')
    const both = await home({ ...files, 'projects/app/.entia/config.json': '{ "provider": "ollama" }' })
    expect((await setUp(both)).provider).toBe('ollama')
    expect((await setUp(both, { provider: 'moonshot' })).provider).toBe('moonshot')
  })

  it('refuses a provider whose key is blank, and makes no request', async () => {
    const fetched = vi.spyOn(globalThis, 'fetch')
    onTestFinished(() => fetched.mockRestore())
    const { cwd, env } = await home()
    const blank = { ...env, ANTHROPIC_API_KEY: '  ' }
    expect(await rejection(sessionSetup({ cwd, env: blank }))).toMatchObject({
      code: 'missing-api-key',
      message: 'ANTHROPIC_API_KEY is not set. Set it, or choose another provider.',
    })
    const session = await setUp({ cwd, env: blank }, { provider: 'ollama', model: 'gpt-oss:20b' })
    expect(`${session.provider}/${session.model}`).toBe('ollama/gpt-oss:20b')
    expect((await setUp({ cwd, env: blank }, { validateApiKey: false })).provider).toBe('anthropic')
    expect(fetched).not.toHaveBeenCalled()
  })

  it('puts AGENTS.md of the repository and of the working folder into the prompt, the closest last', async () => {
    const place = await home({
      'projects/app/AGENTS.md': 'Rule of the app.',
      'projects/AGENTS.md': 'Rule of the repository.',
      'projects/.git/HEAD': 'ref: refs/heads/main\n',
    })
    const prompt = promptOf(await setUp(place))
    expect(prompt).toContain(place.cwd)
    expect(prompt.indexOf('Rule of the repository.')).toBeGreaterThan(0)
    expect(prompt.indexOf('Rule of the app.')).toBeGreaterThan(prompt.indexOf('Rule of the repository.'))
    const without = promptOf(await setUp(place, { loadProjectContext: false, system: 'Be brief.' }))
    expect(without).toBe('Be brief.')
  })

  it('says which AGENTS.md counts, that the user counts over it, and that subfolders may have one, unless none is to count', async () => {
    const place = await home({ 'projects/app/docs/AGENTS.md': 'Rule of the docs.' })
    const prompt = promptOf(await setUp(place))
    expect(prompt).toMatch(/The one closest to a file counts over those further up, and the user\s+over all of them\./)
    expect(prompt).not.toContain('Rule of the docs.')
    expect(promptOf(await setUp(place, { loadProjectContext: false }))).not.toContain('AGENTS.md')
  })

  it('reports all problems of the configuration at once', async () => {
    const wrong = await home({ 'config/config.json': '{ "maxStep": 5, "routing": "sometimes" }' })
    const error = await rejection(sessionSetup({ cwd: wrong.cwd, env: wrong.env }))
    expect(error).toMatchObject({ code: 'config-invalid' })
    expect((error as Error).message).toMatch(/maxStep[^]*routing/)
  })

  it('grants the tools that are named, with tools of the program among them', async () => {
    const look = defineTool({
      name: 'look',
      description: 'Looks.',
      input: z.object({}),
      restart: 'pure',
      run: () => '',
    })
    const { models, requests } = script(['Well.'])
    const host = { clock: new VirtualClock(), models }
    const session = await setUp(await home(), { ...answering(), host, tools: ['git', 'read_file', look] })
    await turn('Go.', session)
    const names = requests[0]?.tools.map(({ name }) => name) ?? []
    const ours = new Set(['read_file', 'write_file', 'bash', 'git_status', 'git_diff', 'git_log', 'look'])
    expect(names.filter((name) => ours.has(name))).toEqual(['read_file', 'git_status', 'git_diff', 'git_log', 'look'])
  })

  it.for(['state/mcp-token', 'state/mcp/tracker.json', 'sessions/other/transcript.jsonl', 'history.jsonl'])(
    "keeps Entia's own %s from its agent",
    async (name) => {
      const place = await home({ [`data/${name}`]: 'CANARY' })
      const reasons: string[] = []
      const read = { toolCalls: [{ name: 'read_file', arguments: { path: `~/data/${name}` } }] }
      const search = { toolCalls: [{ name: 'grep_files', arguments: { pattern: 'CANARY', path: '~/data' } }] }
      const session = await setUp(place, {
        ...answering([read, search, 'Done.']),
        store: false,
        approve: (_, { reason }) => reasons.push(reason) < 0,
      })
      await turn('Go.', session)
      expect(reasons[0]).toBe(`credential path: ~/data/${name}`)
      const found = session.history.filter(({ role }) => role === 'tool').map((message) => textOf(message))
      expect(found.join('\n')).not.toMatch(/: CANARY/)
    },
  )

  it('judges calls by the configuration', async () => {
    const place = await home({
      'config/config.json': '{ "permissions": { "write_file": "deny" } }',
      'projects/app/a.txt': 'x',
    })
    const calls = [{ name: 'write_file', arguments: { path: 'b.txt', content: 'x' } }]
    const session = await setUp(place, { ...answering([{ toolCalls: calls }, 'Done.']), channel: 'console' })
    await turn('Go.', session)
    const result = session.history.find(({ role }) => role === 'tool')
    expect(result?.content).toEqual([{ type: 'text', text: '[entia policy denied: configured: write_file]' }])
  })
})

describe('chat sessions that were set up', () => {
  it('are stored under the data folder, listed, opened again and removed', async () => {
    const place = await home()
    const { cwd, env, folder } = place
    const first = await setUp(place, { ...answering(), approve: () => true })
    await turn('Hello.', first)
    await first.close()
    expect(await listSessions({ env })).toMatchObject([{ key: first.key, cwd, channel: 'cli', firstMessage: 'Hello.' }])
    expect(await readdir(join(folder, 'data', 'sessions', first.key))).toContain('transcript.jsonl')
    const { host } = answering(['Again.'])
    const later = await openSession({ key: 'latest', cwd, env, host })
    onTestFinished(() => later.close())
    expect(promptOf(later)).toBe(promptOf(first))
    expect(await turn('And now?', later)).toMatchObject({ reply: 'Again.' })
    expect(await rejection(openSession({ key: first.key.slice(0, 6), env, host }))).toMatchObject({
      code: 'session-in-use',
    })
    await later.close()
    expect(await rejection(removeSession('', { env }))).toMatchObject({ code: 'invalid-argument' })
    await removeSession(first.key.slice(0, 6), { env })
    expect(await listSessions({ env })).toEqual([])
    expect(await rejection(openSession({ key: first.key, env }))).toMatchObject({ code: 'unknown-session' })
  })

  it('hold what was said right before they were closed, as a turn that was cancelled', async () => {
    const place = await home()
    const { models } = script(() => new Promise(() => undefined))
    const host = { clock: new VirtualClock(), models }
    const session = await setUp(place, { provider: 'script', model: 'm', host })
    const asked = session.ask('Hello.')
    await session.close()
    expect(await asked).toMatchObject({ stop: 'cancelled' })
    const later = await openSession({ key: session.key, env: place.env, host })
    onTestFinished(() => later.close())
    expect(later.history.map((message) => textOf(message))).toEqual(['Hello.', '[turn cancelled]'])
  })

  it('need their key again when they are opened', async () => {
    const place = await home()
    const { env } = place
    const first = await setUp(place)
    await first.start()
    await first.close()
    const blank = { ...env, ANTHROPIC_API_KEY: '' }
    expect(await rejection(openSession({ key: first.key, env: blank }))).toMatchObject({ code: 'missing-api-key' })
    const later = await openSession({ key: first.key, env })
    await later.close()
    expect(later.cwd).toBe(place.cwd)
  })

  it('keep the values of run_js until they are closed, and end its process then', async () => {
    const running = (code: string) => ({ toolCalls: [{ name: 'run_js', arguments: { code } }] })
    const replies = [running('const pid = process.pid; pid'), running('pid + 1'), 'Done.']
    const host = { clock: realClock, models: script(replies).models }
    // In a sandbox a process has another number.
    const options = { sandbox: 'off', tools: ['js'], permissions: { run_js: 'allow' } } as const
    const session = await setUp(await home(), { ...answering(), host, ...options })
    await turn('Go.', session)
    const [first = '', second = ''] = session.history
      .filter(({ role }) => role === 'tool')
      .map((message) => textOf(message))
    const pid = Number(/\d+/.exec(first)?.[0])
    expect(second).toContain(String(pid + 1))
    await session.close()
    expect(() => process.kill(pid, 0)).toThrow('ESRCH')
  })

  it('may be kept elsewhere, or nowhere', async () => {
    const place = await home()
    const store = memoryStore()
    const kept = await setUp(place, { ...answering(), store })
    await turn('Hello.', kept)
    const lost = await setUp(place, { ...answering(), store: false })
    await turn('Hello.', lost)
    expect(await listSessions({ env: place.env })).toEqual([])
    expect((await store.list()).map(({ name }) => name)).toEqual([kept.key])
  })
})
