import { readdirSync, readFileSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { realClock, type ScriptedReply, textOf } from 'entia'
import { ToolRegistry } from 'entia/components'
import { type ApprovalCall, type ChatSession, openSession, sessionSetup, type SetupOptions, turn } from 'entia/runtime'
import { describe, expect, it, onTestFinished } from 'vitest'
import { script } from '../../runtime/chat/chatting.ts'
import { addFiles, tempFolder } from '../../tools/temp-folder.ts'
import { hasSandbox } from './confined.ts'

const running = (command: string, more: object = {}): ScriptedReply => ({
  toolCalls: [{ name: 'bash', arguments: { command, ...more } }],
})

interface Asked {
  readonly call: ApprovalCall
  readonly reason: string
}

interface PlaceOptions {
  /** The user's own file. @default one that trusts the project */
  readonly own?: (cwd: string) => object
  /** The project's file. */
  readonly project?: object
}

/** A home folder with a project in it that the user trusts. */
async function place({ own = (cwd) => ({ trustedFolders: [cwd] }), project }: PlaceOptions = {}) {
  const home = await tempFolder()
  const cwd = join(home, 'app')
  await mkdir(cwd)
  await addFiles(home, {
    'config/config.json': JSON.stringify(own(cwd)),
    ...(project !== undefined && { 'app/.entia/config.json': JSON.stringify(project) }),
  })
  const env = { ...process.env, HOME: home, ENTIA_CONFIG_DIR: join(home, 'config'), ENTIA_DATA_DIR: join(home, 'data') }
  const asked: Asked[] = []
  const notices: string[] = []
  const common = (replies: readonly ScriptedReply[]) => ({
    ...{ cwd, env, provider: 'script', model: 'm', host: { clock: realClock, models: script(replies).models } },
    approve: (call: ApprovalCall, { reason }: { readonly reason: string }) => {
      asked.push({ call, reason })
      return true
    },
    onNotice: (notice: string) => void notices.push(notice),
  })
  const session = async (replies: readonly ScriptedReply[], options: SetupOptions = {}): Promise<ChatSession> => {
    const made = await sessionSetup({ ...common(replies), tools: ['code', 'js'], ...options })
    onTestFinished(() => made.close())
    return made
  }
  return { home, cwd, asked, notices, session, common }
}

function results(session: ChatSession): readonly string[] {
  return session.history.filter(({ role }) => role === 'tool').map((message) => textOf(message))
}

/** Processes that this one has started. */
function children(): readonly string[] {
  const lists = readdirSync('/proc/self/task').map((thread) =>
    readFileSync(`/proc/self/task/${thread}/children`, 'utf8'),
  )
  return lists.flatMap((list) => list.match(/\d+/g) ?? []).toSorted()
}

const reasons = (asked: readonly Asked[]) => asked.map(({ reason }) => reason)

describe.runIf(hasSandbox)('a chat session with a sandbox', () => {
  it('asks about no command that stays inside, in a trusted folder', async () => {
    const { asked, session } = await place()
    const made = await session([
      running('echo 1 > a; eval "$(echo cat a)"'),
      { toolCalls: [{ name: 'run_js', arguments: { code: '1 + 1' } }] },
      running('echo x > ../out'),
      'Done.',
    ])
    await turn('Go.', made)
    expect(asked).toEqual([])
    expect(results(made)).toEqual(['1', '2', expect.stringContaining('[sandbox: it stopped a write')])
  })

  it('asks about each command that is to run outside, and remembers no answer', async () => {
    const { asked, session } = await place()
    const outside = running('echo x > ../out; cat ../out', { outsideSandbox: true })
    const made = await session([outside, outside, 'Done.'], {
      permissions: { bash: 'allow' },
    })
    await turn('Go.', made)
    expect(reasons(asked)).toEqual(['outside of the sandbox', 'outside of the sandbox'])
    expect(asked.map(({ call }) => call.mayRemember)).toEqual([false, false])
    expect(results(made)).toEqual(['x', 'x'])
  })

  it('asks as without one in a folder that is not trusted, and runs it inside after a yes', async () => {
    const { asked, session } = await place({ own: () => ({}) })
    const made = await session([running('echo x > ../out'), 'Done.'])
    await turn('Go.', made)
    expect(reasons(asked)).toEqual(['default: code/exec/cli'])
    expect(results(made)[0]).toContain('Read-only file system')
  })

  it('asks where the user wants to be asked, near credentials, and about personal data', async () => {
    const { asked, session } = await place()
    const made = await session([running('cat .env'), running('cat ~/Documents/a'), 'Done.'])
    await turn('Go.', made)
    expect(reasons(asked)).toEqual(['credential path: .env', 'default: personal/exec/cli'])
    for (const own of [{ permissions: { bash: 'ask' } }, { sandboxedCommands: 'ask' }]) {
      const other = await place({ own: (cwd) => ({ trustedFolders: [cwd], ...own }) })
      await turn('Go.', await other.session([running('true'), 'Done.']))
      expect(other.asked).toHaveLength(1)
    }
    const denying = await place({ own: (cwd) => ({ trustedFolders: [cwd], approvalMode: 'deny' }) })
    const denied = await denying.session([running('true'), 'Done.'])
    await turn('Go.', denied)
    expect(results(denied)).toEqual([expect.stringContaining('policy denied')])
  })

  it('lets no project loosen it, a trusted one neither', async () => {
    const project = {
      ...{ sandbox: 'off', sandboxedCommands: 'allow', allowedDomains: ['example.com'] },
      mcp: {
        servers: { own: { command: 'true', writePaths: ['/'], allowedDomains: ['example.com'], sandbox: false } },
      },
    }
    const own = (cwd: string) => ({ trustedFolders: [cwd], sandboxedCommands: 'ask' })
    const { asked, notices, session } = await place({ own, project })
    const made = await session([running('echo x > ../out'), 'Done.'])
    await turn('Go.', made)
    expect(asked).toHaveLength(1)
    expect(results(made)[0]).toContain('and no network.]')
    expect(notices[0]).toMatch(/^A project's configuration cannot let more out of the sandbox/)
    for (const key of ['sandbox', 'sandboxedCommands', 'allowedDomains', 'writePaths']) {
      expect(notices[0]).toMatch(new RegExp(String.raw`:\d+:\d+: .*${key}`))
    }
  })

  it('says to the model what the sandbox allows, and offers a way out of it', async () => {
    const { cwd, session } = await place()
    const { agent, world } = await session(['Done.'])
    const bash = world.read(agent, ToolRegistry).tools.find(({ name }) => name === 'bash')
    expect(bash?.description).toContain(`It runs in a sandbox. It allows writes in ${cwd}, $TMPDIR only`)
    expect(JSON.stringify(bash?.inputSchema)).toContain('outsideSandbox')
  })

  it('has none with sandbox: off, and all is as without', async () => {
    const { asked, session } = await place()
    const made = await session([running('echo x > ../out; cat ../out'), 'Done.'], { sandbox: 'off' })
    await turn('Go.', made)
    expect(reasons(asked)).toEqual(['default: code/exec/cli'])
    expect(results(made)).toEqual(['x'])
    const { agent, world } = made
    expect(JSON.stringify(world.read(agent, ToolRegistry))).not.toContain('andbox')
  })

  it('has it again after it was opened', async () => {
    const { common, session } = await place()
    const made = await session([running('echo 1'), 'Done.'])
    await turn('Go.', made)
    await made.close()
    const again = await openSession({
      ...common([running('echo x > ../out'), 'Done.']),
      key: made.key,
      tools: ['code'],
    })
    onTestFinished(() => again.close())
    await turn('Again.', again)
    expect(results(again).at(-1)).toContain('[sandbox: it stopped a write')
  })

  it.runIf(process.platform === 'linux')('starts nothing for it where no tool runs programs', async () => {
    const { session } = await place()
    // Of a chat that was closed just before, a process may still be about to end.
    const before = new Set(children())
    const started = (): readonly string[] => children().filter((child) => !before.has(child))
    await turn('Go.', await session(['Done.'], { tools: ['file', 'git'] }))
    expect(started()).toEqual([])
    await session(['Done.'], { tools: ['code'] })
    expect(started().length).toBeGreaterThan(0)
  })

  it('asks on channels where others ask', async () => {
    const { asked, session } = await place()
    await turn('Go.', await session([running('true'), 'Done.'], { channel: 'matrix' }))
    expect(reasons(asked)).toEqual(['default: code/exec/matrix'])
  })
})
