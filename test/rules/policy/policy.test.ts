import { describe, expect, it } from 'vitest'
import type { PolicyConfig } from '../../../src/protocol/policy.ts'
import type { PolicyCall } from '../../../src/rules/policy/call.ts'
import { assess, policy } from '../../../src/rules/policy/policy.ts'

const operations: Readonly<Record<string, 'read' | 'write' | 'exec'>> = {
  read_file: 'read',
  write_file: 'write',
  bash: 'exec',
  run_js: 'exec',
  cmd: 'exec',
  fetch_url: 'read',
}

function callOf(tool: string, given: Readonly<Record<string, string>>, more: Partial<PolicyCall> = {}): PolicyCall {
  const operation = operations[tool]
  return {
    tool,
    arguments: given,
    channel: 'cli',
    home: '/home/u',
    cwd: '/home/u/projects/app',
    declared: operation === undefined ? {} : { operation },
    facts: { real: {}, shell: { words: [], texts: [] } },
    ...more,
  }
}

const read = (path: string, more?: Partial<PolicyCall>) => callOf('read_file', { path }, more)
const write = (path: string, more?: Partial<PolicyCall>) => callOf('write_file', { path }, more)
const bash = (command: string, more?: Partial<PolicyCall>) => callOf('bash', { command }, more)

describe('a policy', () => {
  it('lets code be read anywhere, and asks before it is written on cli and matrix', () => {
    expect(policy(read('~/projects/app/a.ts'))).toEqual({
      model: 'cloud',
      approval: 'allow',
      reason: 'default: code/read/cli',
    })
    const approvals = (['cli', 'console', 'matrix'] as const).map(
      (channel) => policy(write('~/projects/app/a.ts', { channel })).approval,
    )
    expect(approvals).toEqual(['ask', 'allow', 'ask'])
  })

  it('denies on matrix that personal files are written', () => {
    const decision = policy(write('~/Documents/x', { channel: 'matrix' }))
    expect(decision).toEqual({ model: 'local', approval: 'deny', reason: 'default: personal/write/matrix' })
  })

  it('asks before a credential path whatever a config and a policy function say', () => {
    const call = read('~/.ssh/id_rsa', { hostAnswer: { approval: 'allow', model: 'cloud', reason: 'fine' } })
    const expected = { model: 'local', approval: 'ask', reason: 'credential path: ~/.ssh/id_rsa' }
    expect(policy(call, { permissions: { read_file: 'allow' }, dangerousTools: [], approvalMode: 'allow' })).toEqual(
      expected,
    )
    expect(assess(call)).toMatchObject({ onlyAPerson: true, mayRemember: false, marksSession: true })
    expect(policy({ ...call, channel: 'matrix' })).toEqual({ ...expected, approval: 'deny' })
  })

  it('compares whole names, and takes .. and links into account', () => {
    expect(policy(read('~/.sshfoo/x')).reason).toBe('default: other/read/cli')
    expect(policy(read('~/projects/../.ssh/x')).reason).toBe('credential path: ~/projects/../.ssh/x')
    const linked = { real: { '/home/u/projects/app/k/known_hosts': ['/home/u/.ssh/known_hosts'] } }
    expect(policy(read('k/known_hosts', { facts: linked })).reason).toBe('credential path: k/known_hosts')
    expect(policy(read('k/known_hosts')).reason).toBe('default: code/read/cli')
  })

  it.for(['.env', 'a/.env.local', '.env/x', '/etc/shadow', '/proc/self/environ', '~/.config/gh/hosts.yml', '~/.npmrc'])(
    'knows %s as a credential path',
    (path) => {
      expect(policy(read(path)).reason).toBe(`credential path: ${path}`)
    },
  )

  it.for(['.env.example', '.env.sample', '.env.local.template', '.environment', 'env', '/etc/shadow2', '~/.config'])(
    'knows that %s is none',
    (path) => {
      expect(policy(read(path)).reason).toMatch(/^default: (code|other)\/read/)
    },
  )

  it('ignores case on macOS and Windows alone', () => {
    const reasonOn = (pathStyle: 'posix' | 'darwin' | 'win32') => policy(read('~/.SSH/id', { pathStyle })).reason
    expect(reasonOn('posix')).toBe('default: other/read/cli')
    expect(reasonOn('darwin')).toBe('credential path: ~/.SSH/id')
    const windows = { pathStyle: 'win32', home: String.raw`C:\Users\u`, cwd: String.raw`C:\Users\u\app` } as const
    for (const path of [String.raw`..\.Ssh\id`, '.env. ', '.env::$DATA', 'c:/users/U/.aws'])
      expect(policy(read(path, windows)).reason, path).toBe(`credential path: ${path}`)
  })

  it.for([
    '~/.bash_history',
    '~/.zsh_history',
    '~/.local/share/fish/fish_history',
    '~/.python_history',
    '~/.node_repl_history',
    '~/.psql_history',
    '~/.mysql_history',
    '~/.sqlite_history',
    '~/.lesshst',
    '~/.codex/auth.json',
    '~/.claude/.credentials.json',
    '~/.gemini/oauth_creds.json',
    '~/.config/github-copilot/apps.json',
    '~/.config/rclone/rclone.conf',
    '~/.cargo/credentials.toml',
    '~/.config/containers/auth.json',
    '~/.local/share/keyrings/login.keyring',
    '~/.mozilla/firefox/p/logins.json',
    '~/.password-store/a.gpg',
    '~/.databrickscfg',
    '~/.config/doctl/config.yaml',
    '~/.terraform.d/credentials.tfrc.json',
    '~/.yarnrc.yml',
    '~/.config/op/config',
    '~/.fly/config.yml',
    '~/.gem/credentials',
    '~/.config/heroku/x',
    '~/.oci/config',
    '~/.kaggle/kaggle.json',
    '~/.config/hub',
    '~/.cache/huggingface/token',
    '~/.subversion/auth/x',
  ])('knows %s as one, by a tool and in a shell line', (path) => {
    expect(policy(read(path)).reason).toBe(`credential path: ${path}`)
    const words = [{ text: path, paths: [path.replace('~', '/home/u')], meansAllBelow: true }]
    const facts = { real: {}, shell: { words, texts: [] } }
    expect(policy(bash(`cat ${path}`, { facts })).reason).toBe(`credential path: ${path}`)
  })

  it.for([
    '.yarnrc.yml',
    '.bundle/config',
    '~/.claude/settings.json',
    '~/.cargo/env',
    'history.ts',
    'docs/history',
    '~/.mozillax',
  ])('knows that %s is none either', (path) => {
    expect(policy(read(path)).reason).toMatch(/^default: (code|other)\/read/)
  })

  it('counts further places of Entia as such, by their names in a program too', () => {
    const own = { ownPaths: ['/home/u/.data/entia/sessions', '/var/lib/entia/state'] }
    for (const path of ['~/.data/entia/sessions/a/transcript.jsonl', '/var/lib/entia/state/mcp-token'])
      expect(policy(read(path, own)).reason).toBe(`credential path: ${path}`)
    expect(policy(read('~/.data/entia/skills/a/SKILL.md', own)).reason).toBe('default: other/read/cli')
    const text = callOf('run_js', { code: "read(home + '/.data/entia/sessions/a')" }, own)
    expect(policy(text).reason).toBe('credential path: .data/entia/sessions')
  })

  it('notes that other data is read, however it is', () => {
    const words = (path: string, more = {}) => ({
      facts: { real: {}, shell: { words: [{ text: path, paths: [path], meansAllBelow: false, ...more }], texts: [] } },
    })
    const reads = (call: PolicyCall) => assess(call).readsOther
    expect(reads(read('/home/u/other/x'))).toBe(true)
    expect(reads(bash('cat ~/other/x', words('/home/u/other/x')))).toBe(true)
    expect(reads(callOf('unknown', { path: '~/other/x' }))).toBe(true)
    expect(reads(callOf('run_js', { code: "fs.readFileSync('../../other/x')" }))).toBe(true)
    expect(reads(callOf('run_js', { code: "fs.readFileSync('/home/u/other/x')" }))).toBe(true)
    expect(reads(write('~/other/x'))).toBe(false)
    expect(reads(bash('echo > ~/other/x', words('/home/u/other/x', { isWritten: true })))).toBe(false)
    expect(reads(bash('cat src/x', words('/home/u/projects/app/src/x')))).toBe(false)
    expect(reads(bash('/usr/bin/env node', words('/usr/bin/env')))).toBe(false)
    expect(reads(callOf('run_js', { code: "import('./a.ts'); '/api/v1'; 4 / 2 / 1" }))).toBe(false)
  })

  it("counts Entia's own config folder among the credentials", () => {
    const call = read('~/.config/entia/config.json', { configFolder: '/home/u/.config/entia' })
    expect(policy(call).reason).toBe('credential path: ~/.config/entia/config.json')
    const text = callOf('run_js', { code: "read('.config/entia/x')" }, { configFolder: '/home/u/.config/entia' })
    const odd = callOf('run_js', { code: "read('my-entia (1)/x')" }, { configFolder: '/home/u/my-entia (1)' })
    expect(policy(odd).reason).toMatch(/^credential path: /)
    expect(policy(text).reason).toBe('credential path: .config/entia')
  })

  it('marks a chat session that touched personal data, denied or not, and judges later calls as personal', () => {
    const config: PolicyConfig = { deniedPaths: ['~/Documents'] }
    const denied = assess(read('~/Documents/a'), config)
    expect(denied).toMatchObject({
      decision: { approval: 'deny', reason: 'denied path: ~/Documents' },
      marksSession: true,
    })
    const fetched = callOf('fetch_url', { url: 'https://a.example' }, { sticky: true })
    expect(policy(fetched)).toEqual({ model: 'local', approval: 'ask', reason: 'default: personal/read/cli' })
    expect(policy({ ...fetched, sticky: false }).approval).toBe('allow')
  })

  it('asks before the web is used after other data was read', () => {
    const call = callOf('fetch_url', { url: 'https://a.example' }, { hasReadOther: true })
    expect(policy(call)).toMatchObject({ approval: 'ask', model: 'cloud' })
    expect(policy(call, { permissions: { fetch_url: 'allow' } }).approval).toBe('allow')
  })

  it('denies denied paths and what lies outside of the allowed ones', () => {
    const config: PolicyConfig = { deniedPaths: ['~/projects/app/secret'], permissions: { read_file: 'allow' } }
    expect(policy(read('secret/a'), config)).toMatchObject({
      approval: 'deny',
      reason: 'denied path: ~/projects/app/secret',
    })
    const allowed: PolicyConfig = { allowedPaths: ['~/projects/app'] }
    expect(policy(read('/etc/hosts'), allowed)).toMatchObject({
      approval: 'deny',
      reason: 'outside the allowed paths: /etc/hosts',
    })
    expect(policy(read('a.ts'), allowed).approval).toBe('allow')
    expect(policy(read('k', { facts: { real: { '/home/u/projects/app/k': ['/etc/x'] } } }), allowed).approval).toBe(
      'deny',
    )
  })

  it('asks before a dangerous tool where there is a config, as it says', () => {
    const call = bash('npm test', { channel: 'console' })
    expect(policy(call)).toMatchObject({ approval: 'allow', reason: 'default: code/exec/console' })
    expect(policy(call, {})).toMatchObject({ approval: 'ask', reason: 'configured: bash' })
    expect(policy(call, { approvalMode: 'allow' }).approval).toBe('allow')
    expect(policy(call, { permissions: { bash: 'deny' } })).toMatchObject({
      approval: 'deny',
      reason: 'configured: bash',
    })
  })

  it('lets calls run that a rule of the config covers, and none that is held back for another reason', () => {
    const rules: PolicyConfig = { permissions: { write_file: { allow: [{ places: ['project'] }] } } }
    expect(policy(write('a.ts'), rules)).toMatchObject({ approval: 'allow', reason: 'configured: write_file' })
    for (const call of [
      write('/tmp/a'),
      write('.git/config'),
      write('~/.netrc'),
      write('a.ts', { sticky: true }),
      write('a.ts', { hostAnswer: { approval: 'ask' } }),
      write('a.ts', { facts: { real: {}, sandbox: 'outside' } }),
    ])
      expect(policy(call, rules).approval).toBe('ask')
    expect(policy(write('a.ts', { planMode: true }), rules).approval).toBe('deny')
    expect(policy(write('a.ts'), { ...rules, deniedPaths: ['a.ts'] }).approval).toBe('deny')
    expect(policy(write('a.ts'), { ...rules, approvalMode: 'deny' }).approval).toBe('deny')
  })

  it('asks at least about what no rule of its tool covers where the config says so', () => {
    const call = (path: string) => write(path, { channel: 'console' })
    const allow = [{ places: ['project' as const] }]
    const config: PolicyConfig = { dangerousTools: [], permissions: { write_file: { allow } } }
    expect(policy(call('~/src/b.ts'), config)).toMatchObject({
      approval: 'allow',
      reason: 'default: code/write/console',
    })
    const asking: PolicyConfig = { ...config, permissions: { write_file: { allow, otherwise: 'ask' } } }
    expect(policy(call('~/src/b.ts'), asking)).toMatchObject({ approval: 'ask', reason: 'configured: write_file' })
    expect(policy(call('b.ts'), asking).approval).toBe('allow')
  })

  it.for([
    ['/home/u/projects/app', 'allow'],
    ['~/projects/app/', 'allow'],
    ['~/projects', 'ask'],
    ['~/projects/app/src', 'ask'],
    ['~/projects/App', 'ask'],
  ] as const)('counts a rule for the folder %s alone: %s', ([folder, approval]) => {
    expect(policy(write('a.ts'), { permissions: { write_file: { allow: [{ folder }] } } }).approval).toBe(approval)
  })

  it('asks before an opaque body unless the tool is permitted', () => {
    const facts = { real: {}, shell: { words: [], texts: [], opaque: 'eval "$X"' } }
    const call = bash('eval "$X"', { channel: 'console', facts })
    expect(policy(call)).toMatchObject({ approval: 'ask', reason: 'opaque command: eval "$X"' })
    expect(policy(call, { permissions: { bash: 'allow' } }).approval).toBe('allow')
    expect(policy(bash('ls', { facts: undefined })).reason).toBe('opaque command: ls')
  })

  it('never lowers an ask about personal data', () => {
    expect(policy(read('~/Documents/a'), { permissions: { read_file: 'allow' } }).approval).toBe('ask')
  })

  it('denies all but reads in plan mode', () => {
    const decisions = [
      read('a', { planMode: true }),
      write('a', { planMode: true }),
      callOf('x', {}, { planMode: true }),
    ]
    expect(decisions.map((call) => policy(call).reason)).toEqual(['default: code/read/cli', 'plan mode', 'plan mode'])
  })

  it('lets the policy function answer instead of the table, and asks where it failed', () => {
    const answered = (hostAnswer: PolicyCall['hostAnswer']) => policy(write('a', { hostAnswer }))
    expect(answered({ approval: 'allow', model: 'local', reason: 'mine' })).toEqual({
      approval: 'allow',
      model: 'local',
      reason: 'mine',
    })
    for (const nonsense of [null, 'yes', { approval: 'maybe' }, 3, { approval: 'allow', extra: 1 }])
      expect(answered(nonsense)).toMatchObject({ approval: 'ask', reason: 'policy function failed' })
  })

  it('denies private data where a local model is enforced and none is known', () => {
    const config: PolicyConfig = { routing: 'enforce' }
    const reason = 'personal data needs a local model and none is configured'
    expect(policy(read('~/Documents/a'), config)).toEqual({ model: 'local', approval: 'deny', reason })
    expect(policy(read('~/Documents/a'), { ...config, localModel: 'ollama/x' }).approval).toBe('ask')
    expect(policy(read('a'), config).approval).toBe('allow')
  })

  it('treats a tool that declares no operation as unknown, and finds its paths under usual names', () => {
    expect(policy(callOf('x', {}))).toMatchObject({ approval: 'ask', reason: 'default: public/unknown/cli' })
    expect(policy(callOf('x', { target: '~/.aws/x' })).reason).toBe('credential path: ~/.aws/x')
    expect(
      policy(callOf('x', { other: '~/.aws/x' }, { declared: { operation: 'read', paths: ['other'] } })).reason,
    ).toBe('credential path: ~/.aws/x')
  })

  it('searches the text of a program for the names of credential paths', () => {
    const js = (code: string) => policy(callOf('run_js', { code })).reason
    expect(js("fs.readFile(os.homedir() + '/.ssh/id')")).toBe('credential path: .ssh')
    expect(js("read('.env.local')")).toBe('credential path: .env.local')
    expect(js('f(process.env.HOME, import.meta.env, g().env, a[0].env)')).toMatch(/^default/)
    expect(js("read('.env.example')")).toMatch(/^default/)
    expect(policy(callOf('cmd', { command: String.raw`type C:\Users\u\.aws\x` })).reason).toBe('credential path: .aws')
  })

  it('repeats 200 characters of a path at most', () => {
    const { reason } = policy(read(`~/.ssh/${'x'.repeat(10_000)}`))
    expect(reason).toHaveLength('credential path: '.length + 200)
    expect(policy(read('\0')).approval).toBe('allow')
    expect(policy({ ...read(''), arguments: null }).approval).toBe('allow')
    expect(policy({ ...read(''), arguments: ['a'] }).approval).toBe('allow')
  })
})

describe('a policy for clients of an MCP server', () => {
  const mcp = { channel: 'mcp' } as const

  it('decides as on cli inside the working folder', () => {
    expect(policy(read('a.ts', mcp))).toEqual({ model: 'cloud', approval: 'allow', reason: 'default: code/read/mcp' })
    expect(policy(write('a.ts', mcp)).approval).toBe('ask')
    expect(policy(bash('ls', mcp)).approval).toBe('ask')
  })

  it('denies paths outside of it, and credentials', () => {
    expect(policy(read('/etc/hosts', mcp))).toMatchObject({
      approval: 'deny',
      reason: 'outside the working folder: /etc/hosts',
    })
    expect(policy(read('.env', mcp))).toMatchObject({ approval: 'deny', reason: 'credential path: .env' })
  })
})

describe('a file that holds secrets by its name', () => {
  it.for(['id_ed25519', 'certs/server.pem', 'a/credentials.json', '.envrc', 'terraform.tfstate', '.git/config'])(
    'is a credential path as an argument: %s',
    (path) => {
      expect(policy(read(path)).reason).toBe(`credential path: ${path}`)
    },
  )

  it.for(['id_ed25519.pub', 'credentials.ts', 'a/config', 'key.ts'])('is none: %s', (path) => {
    expect(policy(read(path)).reason).toBe('default: code/read/cli')
  })
})
