import { chmod, stat, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readRuntimeConfig } from '../../../src/runtime/config/read-runtime-config.ts'
import { agentConfigOf, policyConfigOf, type RuntimeConfig } from '../../../src/runtime/config/runtime-config.ts'
import { EntiaError } from '../../../src/base/entia-error.ts'
import { addFiles, tempFolder } from '../../tools/temp-folder.ts'

/** The user's own file and the project's: a text, or a value. */
interface Files {
  readonly own?: unknown
  readonly project?: unknown
}

function textOf(content: unknown): string {
  return typeof content === 'string' ? content : JSON.stringify(content)
}

async function places({ own, project }: Files): Promise<{ readonly config: string; readonly cwd: string }> {
  const config = await tempFolder(own === undefined ? {} : { 'config.json': textOf(own) })
  const cwd = await tempFolder(project === undefined ? {} : { '.entia/config.json': textOf(project) })
  return { config, cwd }
}

async function read(files: Files, over?: RuntimeConfig) {
  const { config, cwd } = await places(files)
  return readRuntimeConfig({ cwd, folders: { config }, home: '/home/ada', over })
}

/** The lines of a refusal, without the folders. */
async function refusal(files: Files): Promise<readonly string[]> {
  const { config, cwd } = await places(files)
  const thrown: unknown = await readRuntimeConfig({ cwd, folders: { config } }).catch((error: unknown) => error)
  if (!(thrown instanceof EntiaError) || thrown.code !== 'config-invalid') throw new Error('it was read')
  return thrown.message.replaceAll(`${config}/`, '').replaceAll(`${cwd}/`, '').split('\n')
}

describe('the configuration of the runtime', () => {
  it('is empty without files', async () => {
    expect(await read({})).toEqual({ config: {}, sources: [], notices: [] })
  })

  it("is the user's own, then the project's, then what is laid over: objects merge, all else replaces", async () => {
    const own = {
      maxSteps: 30,
      permissions: { bash: 'deny', git_log: 'ask' },
      tools: ['core', 'web'],
      provider: 'openai',
    }
    const project = { maxSteps: 20, permissions: { git_log: 'deny' }, tools: ['core'], provider: 'ollama' }
    const { config, notices, sources } = await read({ own, project }, { maxSteps: 5 })
    expect(config).toEqual({
      ...{ maxSteps: 5, permissions: { bash: 'deny', git_log: 'deny' }, tools: ['core'], provider: 'ollama' },
    })
    expect(notices).toEqual([])
    expect(sources.map((path) => path.replace(/.*entia-files-\w+\//, ''))).toEqual([
      'config.json',
      '.entia/config.json',
    ])
  })

  it('may have comments, a byte order mark, Windows line ends, and either spelling of a key', async () => {
    const own = '\uFEFF// Mine\r\n{\r\n  "max_steps": 7, /* few */\r\n  "localModels": ["qwen3"],\r\n}\r\n'
    expect((await read({ own })).config).toEqual({ maxSteps: 7, localModels: ['qwen3'] })
  })

  it('has one provider with its model: a later one takes the place of both', async () => {
    const own = { provider: 'openai', model: 'gpt-6-luna' }
    expect((await read({ own, project: { provider: 'ollama' } })).config).toEqual({ provider: 'ollama' })
    expect((await read({ own, project: { model: 'ollama/qwen3' } })).config).toEqual({ model: 'ollama/qwen3' })
    expect((await read({ own, project: { model: 'gpt-6-astra' } })).config).toEqual({
      ...{ provider: 'openai', model: 'gpt-6-astra' },
    })
  })

  it('is split into what the policy and what an agent reads', async () => {
    const own = {
      ...{ approvalMode: 'deny', permissions: { bash: 'ask' }, routing: 'enforce', deniedPaths: ['~/x'], model: 'a/b' },
      ...{ ceilings: { maxTurnCostUsd: 1 }, subagents: { enabled: true, exposeOverMcp: true } },
    }
    const { config } = await read({ own })
    expect(policyConfigOf(config)).toEqual({
      ...{ approvalMode: 'deny', permissions: { bash: 'ask' }, routing: 'enforce', deniedPaths: ['~/x'] },
    })
    expect(agentConfigOf(config)).toEqual({
      ...{ approvalMode: 'deny', model: 'a/b', ceilings: { maxTurnCostUsd: 1 }, subagents: { enabled: true } },
    })
  })
})

describe('a configuration that cannot be used', () => {
  it('has the wrong key named with file, line and column, and the nearest key', async () => {
    const [line = ''] = await refusal({ project: '{\n  // Few.\n  "maxStep": 5\n}' })
    expect(line).toMatch(
      /^\.entia\/config\.json:3:3: maxStep: expected one of .*, got a key that is not known\. Did you mean 'maxSteps'\?$/,
    )
  })

  it('has all problems of both files named at once', async () => {
    const own = '{ "maxSteps": 0,\n  "permissions": { "bash": "yes" },\n  "passEnv": "HOME" }'
    const project = { providers: { mine: { api: 'openai', baseUrl: 'localhost' } }, routing: 'loose' }
    expect(await refusal({ own, project })).toEqual([
      'config.json:1:3: maxSteps: expected an integer ≥ 1, got 0.',
      'config.json:2:20: permissions.bash: expected allow, ask or deny, got "yes".',
      'config.json:3:3: passEnv: expected a list of environment variables, got "HOME".',
      '.entia/config.json:1:23: providers.mine.api: expected openai-chat, openai-responses or anthropic, got "openai".',
      '.entia/config.json:1:38: providers.mine.baseUrl: expected an address that begins with http:// or https://, got "localhost".',
      '.entia/config.json:1:15: providers.mine: expected the key default_model in it, got an object without.',
      '.entia/config.json:1:62: routing: expected advisory or enforce, got "loose".',
    ])
  })

  it.for<[string, object]>([
    ['tools', { tools: [7] }],
    ['fetch.allowPrivate', { fetch: { allowPrivate: ['localhost'] } }],
    ['mcp.servers.a.url', { mcp: { servers: { a: { url: 'x' } } } }],
    ['subagents.defaultPreset', { subagents: { defaultPreset: 'all' } }],
    ['workspace.maxRetrievedChars', { workspace: { maxRetrievedChars: 32_001 } }],
    ['providers["a/b"]', { providers: { 'a/b': { api: 'anthropic', baseUrl: 'http://x', defaultModel: 'm' } } }],
  ])('may be wrong in %s', async ([key, own]) => {
    expect((await refusal({ own }))[0]).toContain(`: ${key}: expected `)
  })

  it.for(['a\nEntia: all is allowed', 'a\u2028b', 'a\tb', '\u001b[2Ja', 'a\u202eb', 'a\u200bb', 'a\r'])(
    'may be wrong in a name that no line shows as it is: %j',
    async (name) => {
      const [line = '', ...more] = await refusal({ own: { mcp: { servers: { [name]: { command: 'true' } } } } })
      expect([line, ...more]).toEqual([
        expect.stringMatching(/: mcp\.servers\[.*: expected a server's name without line/),
      ])
      expect(line).not.toMatch(/[\p{Cc}\p{Cf}\u2028]/u)
      const provider = { api: 'anthropic', baseUrl: 'http://x', defaultModel: 'm' }
      expect((await refusal({ own: { providers: { [name]: provider } } }))[0]).toContain(': expected a name without ')
    },
  )

  it.for<[object, string]>([
    [
      { trustedFolders: ['/a', '.'] },
      'trustedFolders: expected a list of folders, each absolute or beginning with ~/, got a list whose entry 2 is ".".',
    ],
    [{ tools: ['file', 7] }, 'tools: expected a list of tools and categories, got a list whose entry 2 is 7.'],
    [
      { fetch: { allowPrivate: ['a'] } },
      'fetch.allowPrivate: expected a list of servers as host:port, got a list whose entry 1 is "a".',
    ],
  ])('has the wrong entry of a list named: %j', async ([own, message]) => {
    expect((await refusal({ own }))[0]?.endsWith(` ${message}`)).toBe(true)
  })

  it('is refused when it is far too long', async () => {
    expect((await refusal({ own: ' '.repeat(10_000_000) }))[0]).toMatch(/at most 1048576 bytes, got 10000000\.$/)
  })

  it('archives only with subagents, whichever file says which', async () => {
    const lines = await refusal({ own: { archival: { enabled: true } }, project: { maxSteps: 3 } })
    expect(lines[0]).toContain('archival.enabled requires subagents.enabled')
  })
})

describe("a user's own file with secrets in it", () => {
  it('is closed to others, which is told', async () => {
    const own = { mcp: { servers: { notes: { url: 'http://127.0.0.1:1', headers: { authorization: 'Bearer x' } } } } }
    const { config: folder, cwd } = await places({ own })
    const path = join(folder, 'config.json')
    await chmod(path, 0o644)
    const { notices } = await readRuntimeConfig({ cwd, folders: { config: folder } })
    expect(notices[0]).toBe(`${path} may hold secrets, and others could read it. Its mode is 0600 now.`)
    expect((await stat(path)).mode & 0o777).toBe(0o600)
    expect((await readRuntimeConfig({ cwd, folders: { config: folder } })).notices).toEqual([])
  })
})

describe("a project's file in a folder that is not trusted", () => {
  const servers = { mine: { api: 'openai-chat', baseUrl: 'http://127.0.0.1:1/v1', defaultModel: 'm' } }

  /** What counts of it beside the user's own file, and the keys that are named as ignored. */
  async function counted(project: object, own: object = {}) {
    const { config, notices } = await read({ own, project })
    const lines = notices.join('\n').split('\n')
    return { config, ignored: lines.flatMap((line) => /^ {2}\S+:\d+:\d+: (\S+)/.exec(line)?.[1] ?? []) }
  }

  it.for<[string, object]>([
    ['permissions.bash', { permissions: { bash: 'allow' } }],
    ['permissions.bash', { permissions: { bash: { allow: [{ command: 'make' }] } } }],
    ['permissions.git_log', { permissions: { git_log: { allow: [], otherwise: 'ask' } } }],
    ['approvalMode', { approvalMode: 'allow' }],
    ['providers', { providers: servers }],
    ['fetch', { fetch: { allowPrivate: ['localhost:1'] } }],
    ['mcp', { mcp: { servers: { a: { command: 'a' } } } }],
    ['toolPackages', { toolPackages: ['a'] }],
    ['passEnv', { passEnv: ['A_TOKEN'] }],
    ['sandbox', { sandbox: 'off' }],
    ['allowedDomains', { allowedDomains: ['example.com'] }],
    ['trustedFolders', { trustedFolders: ['/'] }],
    ['subagents.exposeOverMcp', { subagents: { exposeOverMcp: true } }],
    ['subagents.mcpSpendCapUsd', { subagents: { mcpSpendCapUsd: 6 } }],
    ['subagents.mcpSpendCapUsd', { subagents: { mcpSpendCapUsd: null } }],
    ['codePaths', { codePaths: ['~/Documents'] }],
    ['maxSteps', { maxSteps: 51 }],
    ['localModels', { localModels: ['gpt-oss:20b', 'gpt-oss:120b-cloud'] }],
    ['context.prices', { context: { prices: { x: { input: 0 } } } }],
  ])('cannot set %s', async ([key, project]) => {
    const { config, ignored } = await counted({ ...project, model: 'a/b' })
    expect(ignored).toEqual([key])
    // All else counts.
    expect(config.model).toBe('a/b')
    const [section = '', inner] = key.split('.')
    const left = config[section as keyof RuntimeConfig] as Readonly<Record<string, unknown>> | undefined
    expect(inner === undefined ? left : left?.[inner]).toBeUndefined()
  })

  it.for<[string, object, object]>([
    ['a tool that the user denies', { permissions: { bash: 'ask' } }, { permissions: { bash: 'deny' } }],
    ['a dangerous tool, where the mode denies it', { permissions: { bash: 'ask' } }, { approvalMode: 'deny' }],
    [
      'what single calls get',
      { permissions: { bash: { allow: [{ command: 'make' }] } } },
      { permissions: { bash: { allow: [{ command: 'ls' }] } } },
    ],
    ['more paths', { allowedPaths: ['/'] }, { allowedPaths: ['~/work'] }],
    ['a path beside', { allowedPaths: ['~/work/../other'] }, { allowedPaths: ['~/work'] }],
    ['more tools', { tools: ['all'] }, { tools: ['file'] }],
    ['advice instead of enforcement', { routing: 'advisory' }, { routing: 'enforce' }],
    ['a question', { sandboxedCommands: 'allow' }, { sandboxedCommands: 'ask' }],
    ['a sandbox where there may be none', { sandbox: 'auto' }, { sandbox: 'require' }],
    ['a higher ceiling', { ceilings: { maxTurnCostUsd: 2 } }, { ceilings: { maxTurnCostUsd: 1 } }],
  ])('cannot give back %s', async ([, project, own]) => {
    const { config, ignored } = await counted(project, own)
    expect(ignored).toHaveLength(1)
    expect(config).toEqual(own)
  })

  it('may tighten', async () => {
    const project = {
      ...{ permissions: { bash: 'deny', git_log: 'ask' }, approvalMode: 'deny', maxSteps: 5, tools: ['file'] },
      ...{
        allowedPaths: ['~/work/app'],
        codePaths: ['~/src/app'],
        routing: 'enforce',
        ceilings: { maxTurnCostUsd: 1 },
        ...{ sandbox: 'require', sandboxedCommands: 'ask', allowedDomains: [] },
      },
      subagents: { exposeOverMcp: false, mcpSpendCapUsd: 1 },
    }
    expect(await counted(project, { allowedPaths: ['~/work'] })).toMatchObject({ config: project, ignored: [] })
  })

  it("may have a tool ask that is allowed, wholly or in the user's own rules", async () => {
    const project = { permissions: { bash: 'ask', edit: { allow: [], otherwise: 'ask' } } }
    const own = { permissions: { bash: { allow: [{ command: 'make' }] }, edit: 'allow' } }
    expect(await counted(project, own)).toEqual({ config: project, ignored: [] })
  })

  it('cannot widen lists of paths by links: before .., to what is not there yet, or as they are', async () => {
    const parent = await tempFolder({
      'config/config.json': JSON.stringify({ allowedPaths: ['~/work'], codePaths: ['~/work'] }),
      'home/work/app/.entia/config.json': '',
      'elsewhere/deep/file': '',
    })
    const cwd = join(parent, 'home/work/app')
    await symlink(join(parent, 'elsewhere/deep'), join(cwd, 'l'))
    await symlink('../../../elsewhere/later', join(cwd, 'later'))
    const keptOf = async (path: string) => {
      await addFiles(cwd, { '.entia/config.json': JSON.stringify({ allowedPaths: [path], codePaths: [path] }) })
      const folders = { config: join(parent, 'config') }
      const { config } = await readRuntimeConfig({ cwd, folders, home: join(parent, 'home') })
      return [config.allowedPaths, config.codePaths].map((list) => list?.includes(path))
    }
    for (const path of ['l', 'l/..', 'l/../..', './l/../x', 'later', 'later/..', `${cwd}/l/..`, '~/work/app/l/..'])
      expect(await keptOf(path), path).toEqual([false, false])
    for (const path of ['.', 'src', 'src/../x', 'none/..', '~/work'])
      expect(await keptOf(path), path).toEqual([true, true])
  })

  it('is not trusted by a name that leads to two places', async () => {
    const parent = await tempFolder({
      'app/.entia/config.json': JSON.stringify({ permissions: { bash: 'allow' } }),
      'elsewhere/deep/file': '',
      'elsewhere/.entia/config.json': JSON.stringify({ permissions: { bash: 'allow' } }),
    })
    await symlink(join(parent, 'elsewhere/deep'), join(parent, 'app/l'))
    await addFiles(parent, { 'config/config.json': JSON.stringify({ trustedFolders: [`${parent}/app/l/..`] }) })
    for (const folder of ['app', 'elsewhere', 'app/l/..']) {
      const { config } = await readRuntimeConfig({
        ...{ cwd: `${parent}/${folder}`, folders: { config: join(parent, 'config') }, home: parent },
      })
      expect(config.permissions, folder).toBeUndefined()
    }
  })

  it('only adds to the lists of denied and personal paths and of dangerous tools', async () => {
    const project = { deniedPaths: ['~/keys'], personalPaths: ['~/diary'], dangerousTools: ['deploy'] }
    const alone = await counted(project)
    expect(alone).toEqual({
      config: {
        deniedPaths: ['~/keys'],
        personalPaths: ['~/Documents', '~/Downloads', '~/diary'],
        dangerousTools: ['bash', 'cmd', 'run_js', 'write_file', 'replace_in_file', 'deploy'],
      },
      ignored: [],
    })
    const own = { deniedPaths: ['/etc'], personalPaths: ['~/mail'], dangerousTools: ['bash'] }
    expect((await counted(project, own)).config).toEqual({
      deniedPaths: ['/etc', '~/keys'],
      personalPaths: ['~/mail', '~/diary'],
      dangerousTools: ['bash', 'deploy'],
    })
  })

  it('says all of it once the user trusts the folder', async () => {
    const project = { permissions: { bash: 'allow' }, providers: servers, deniedPaths: [] }
    const { config: folder, cwd } = await places({ project, own: { deniedPaths: ['/etc'] } })
    const before = await readRuntimeConfig({ cwd, folders: { config: folder } })
    expect(before.config).toEqual({ deniedPaths: ['/etc'] })
    expect(before.notices[0]?.match(/: (permissions\.bash|providers)$/gm)).toEqual([
      ': permissions.bash',
      ': providers',
    ])
    const trusting = await tempFolder({
      'config.json': JSON.stringify({ trustedFolders: [cwd], deniedPaths: ['/etc'] }),
    })
    const after = await readRuntimeConfig({ cwd, folders: { config: trusting } })
    expect(after.config).toEqual({ ...project, trustedFolders: [cwd] })
    expect(after.notices).toEqual([])
  })
})

describe("a project's file in a trusted folder", () => {
  const server = { command: 'notes', writePaths: ['/'], allowedDomains: ['example.com'], sandbox: false }

  /** What counts, and the keys that are named as ignored. */
  async function counted(project: object, own: object) {
    const cwd = await tempFolder({ '.entia/config.json': JSON.stringify(project) })
    const config = await tempFolder({ 'config.json': JSON.stringify({ ...own, trustedFolders: [cwd] }) })
    const { config: all, notices } = await readRuntimeConfig({ cwd, folders: { config } })
    const lines = notices.join('\n').split('\n')
    return { config: all, ignored: lines.flatMap((line) => /^ {2}\S+:\d+:\d+: (\S+)/.exec(line)?.[1] ?? []) }
  }

  it('does not loosen the sandbox', async () => {
    const project = { sandbox: 'off', sandboxedCommands: 'allow', allowedDomains: ['a.com', 'b.com'], maxSteps: 99 }
    const own = { sandboxedCommands: 'ask', allowedDomains: ['a.com'] }
    const { config, ignored } = await counted(project, own)
    expect(config).toMatchObject({ ...own, maxSteps: 99 })
    expect(config.sandbox).toBeUndefined()
    expect(ignored).toEqual(['allowedDomains', 'sandbox', 'sandboxedCommands'])
  })

  it('tightens it', async () => {
    const project = { sandbox: 'require', sandboxedCommands: 'ask', allowedDomains: ['a.com'] }
    expect(await counted(project, { allowedDomains: ['a.com', 'b.com'] })).toMatchObject({
      config: project,
      ignored: [],
    })
  })

  it('names no more for a server of its own than its program', async () => {
    const { config, ignored } = await counted({ mcp: { servers: { notes: server } } }, {})
    expect(config.mcp?.servers).toEqual({ notes: { command: 'notes' } })
    expect(ignored.map((key) => key.split('.').at(-1))).toEqual(['allowedDomains', 'sandbox', 'writePaths'])
  })

  it('puts no other program in the place of a server that the user lets out', async () => {
    const own = { mcp: { servers: { notes: server, other: { command: 'other' } } } }
    const project = { mcp: { servers: { notes: { args: ['evil'] }, other: { args: ['-v'] } } } }
    const { config, ignored } = await counted(project, own)
    expect(config.mcp?.servers).toEqual({ notes: server, other: { command: 'other', args: ['-v'] } })
    expect(ignored).toEqual(['mcp.servers.notes'])
  })
})
