import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, readdir, readFile, symlink } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { tempFolder } from '../../tools/temp-folder.ts'
import { confined, hasSandbox, loopback } from './confined.ts'

function git(cwd: string, ...words: readonly string[]): string {
  const identity = ['-c', 'user.name=a', '-c', 'user.email=a@example.com', '-c', 'init.defaultBranch=main']
  return execFileSync('git', [...identity, ...words], { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
}

describe.runIf(hasSandbox)('a command in the sandbox', () => {
  it('writes in the project and in a temporary folder, and nowhere else', async () => {
    const { bash, cwd, home } = await confined()
    expect(await bash('mkdir -p src && echo 1 > src/a.ts && cat src/a.ts')).toBe('1')
    expect(await readFile(join(cwd, 'src/a.ts'), 'utf8')).toBe('1\n')
    expect(await bash('echo 2 > "$TMPDIR/b" && cat "$TMPDIR/b" && mktemp > /dev/null')).toBe('2')
    for (const path of [join(home, 'out'), '/tmp/entia-out', '/etc/entia-out', '../out']) {
      expect(await bash(`echo x > ${path}`)).toMatch(/Read-only file system\n\[exit 1\]\n\[sandbox: it stopped a write/)
    }
    expect(await readdir(home)).toEqual(['app'])
    await symlink(home, join(cwd, 'link'))
    expect(await bash('echo x > link/out')).toContain('Read-only file system')
  })

  it('does not write to what git, editors, shells and Entia run by themselves, whether or not it is there', async () => {
    const files = { 'app/.bashrc': '# mine\n', 'app/.vscode/tasks.json': '{}', 'app/.entia/config.json': '{}' }
    const { bash, cwd } = await confined({ files })
    git(cwd, 'init', '-q')
    const before = await readFile(join(cwd, '.git/config'), 'utf8')
    const paths = ['.git/hooks/pre-commit', '.git/config', '.bashrc', '.vscode/tasks.json', '.entia/config.json']
    const absent = ['.zshrc', '.profile', '.idea/a.xml', '.envrc', '.entia/skills/a', '.mcp.json']
    for (const path of [...paths, ...absent]) {
      expect(await bash(`mkdir -p "$(dirname ${path})"; echo x >> ${path}`), path).toMatch(/\[exit 1\]\n\[sandbox: /)
    }
    expect(await bash('mv .git other; rm -rf .git/hooks .entia; ln -sf /etc .vscode')).toContain('[sandbox: it stopped')
    expect(await readFile(join(cwd, '.git/config'), 'utf8')).toBe(before)
    expect(await readFile(join(cwd, '.bashrc'), 'utf8')).toBe('# mine\n')
    expect((await readdir(cwd)).toSorted()).toEqual(['.bashrc', '.entia', '.git', '.vscode'])
    // What git is for still works.
    const commit = 'git -c user.name=a -c user.email=a@example.com commit -qm one'
    expect(await bash(`echo 1 > a && git add a && ${commit} && git log --format=%s`)).toBe('one')
  })

  it('makes none of the names that editors, agents and shells look for', async () => {
    const { bash, cwd } = await confined({ prepare: (home) => void git(join(home, 'app'), 'init', '-q') })
    const names = [
      ...['.entia', '.vscode', '.idea', '.zed', '.helix', '.claude', '.codex', '.cursor', '.gemini', '.mcp.json'],
      ...['.envrc', '.gitconfig', '.bashrc', '.bash_profile', '.bash_login', '.bash_aliases', '.profile'],
      ...['.zshrc', '.zshenv', '.zprofile', '.zlogin'],
      ...['.git/hooks/post-commit', '.git/config.worktree', '.git/commondir'],
    ]
    const tries = ['rm -rf $f', 'mv $f y', 'ln -sfn /etc $f', 'rm -f $f', 'mkdir $f', 'echo x > $f/a', 'echo x >> $f']
    const made =
      'if [ -L $f ] || [ -s $f -a ! -d $f -a "$(cat $f 2> /dev/null)" != . ] || [ -e $f/a -o -e y ]; then echo "$f"; fi'
    expect(await bash(`for f in ${names.join(' ')}; do { ${tries.join('; ')}; } 2> /dev/null; ${made}; done`)).toBe(
      '[no output]',
    )
    expect(await readdir(cwd)).toEqual(['.git'])
  })

  it('does not write to hooks and configuration of repositories within', async () => {
    const { bash, cwd } = await confined()
    git(cwd, 'init', '-q')
    git(cwd, 'init', '-q', 'packages/inner')
    expect(await bash('echo x > packages/inner/.git/hooks/pre-commit')).toContain('Read-only file system')
    expect(await bash('git -C packages/inner config core.pager evil')).toMatch(/\[exit \d+\]\n\[sandbox: /)
    const { bash: other } = await confined({ files: { 'app/lib/.hg/requires': '' } })
    expect(await other('printf "[hooks]" > lib/.hg/hgrc')).toContain('Read-only file system')
  })

  it('does not write to the file that stands for a repository', async () => {
    const { bash, cwd } = await confined({
      prepare: (home) => {
        git(home, 'init', '-q', 'main')
        git(join(home, 'main'), 'commit', '--allow-empty', '-qm', 'one')
        git(join(home, 'main'), 'worktree', 'add', '-q', join(home, 'app', 'tree'))
      },
      project: 'app/tree',
    })
    expect(await bash('git log --format=%s; rm .git; echo gitdir: evil > .git')).toMatch(
      /^one\n[^]*\[exit 1\]\n\[sandbox: /,
    )
    expect(git(cwd, 'log', '--format=%s')).toBe('one\n')
  })

  it('leaves nothing that git or a folder shows, neither while it runs nor afterwards', async () => {
    const { call, cwd } = await confined()
    git(cwd, 'init', '-q')
    const started = await call('bash', { command: 'echo begun; sleep 60', background: true })
    const id = /sh_\w+/.exec(started)?.[0] ?? ''
    expect(started).toContain('begun')
    expect(git(cwd, 'status', '--porcelain')).toBe('')
    await call('shell_stop', { id })
    await expect.poll(() => readdir(cwd)).toEqual(['.git'])
  })

  it('does not read credentials, denied and personal paths', async () => {
    const files = {
      ...{
        '.ssh/id_rsa': 'secret',
        '.npmrc': 'secret',
        '.aws/credentials': 'secret',
        'entia/config/config.json': 'secret',
      },
      ...{ 'Documents/a': 'secret', 'customers/b': 'secret', 'app/.env': 'secret', 'app/src/.env.local': 'secret' },
      ...{ 'app/.env.example': 'harmless', 'app/a.ts': 'code', 'app/internal/c': 'secret' },
    }
    const { bash } = await confined({ files, config: { deniedPaths: ['~/customers', 'internal'] } })
    const all = await bash(String.raw`cd ..; find . -type f -exec cat {} \; 2>&1`)
    expect(all).not.toContain('secret')
    expect(all).toContain('harmless')
    expect(all).toContain('code')
    expect(await bash('cat ~/.ssh/id_rsa')).toMatch(/\[sandbox: it stopped reading \S*\/\.ssh\./)
    expect(await bash("node -p \"fs.readFileSync('.env', 'utf8')\"")).toMatch(
      /EACCES[^]*\[sandbox: it may have stopped/,
    )
  })

  it('reads its project also within a personal path', async () => {
    const files = { 'Documents/app/a.ts': 'code', 'Documents/letter': 'secret' }
    const { bash } = await confined({ files, project: 'Documents/app' })
    expect(await bash('cat a.ts; echo b > b.ts; cat b.ts; ls ..')).toBe('codeb\napp')
  })

  it('writes within the allowed paths alone', async () => {
    const { bash } = await confined({
      files: { 'app/src/a': '', 'app/b': '' },
      config: { allowedPaths: ['~/app/src'] },
    })
    expect(await bash('echo 1 > src/a && cat src/a')).toBe('1')
    expect(await bash('echo 1 > b')).toContain('Read-only file system')
  })

  it('reaches no server, on this machine neither', async () => {
    const { bash } = await confined()
    const { address, asked } = await loopback()
    expect(await bash(`curl -sS http://${address}`)).toMatch(/\[exit \d+\]$/)
    expect(await bash('curl -sS https://example.com')).toMatch(/\[sandbox: it stopped use of the network\./)
    expect(asked()).toBe(0)
  })

  it('reaches the servers that are allowed, and is told which others it was refused', async () => {
    const [one, other] = [await loopback(), await loopback()]
    const { bash } = await confined({ allowedDomains: [one.address] })
    // Programs leave this machine out of the proxy by themselves.
    expect(await bash(`unset NO_PROXY no_proxy; curl -sS http://${one.address}`)).toBe('let in')
    const refused = await bash(`unset NO_PROXY no_proxy; curl -sSf http://${other.address}`)
    expect(refused).toContain(`[sandbox: it stopped a connection to ${other.address}. `)
    expect(refused).toContain(`the network ${one.address} only`)
    expect(other.asked()).toBe(0)
  })

  it.runIf(process.platform === 'linux')('reaches them at once, also where the proxies begin late', async () => {
    const path = process.env['PATH'] ?? ''
    const socat = path.split(delimiter).find((folder) => existsSync(join(folder, 'socat'))) ?? ''
    const folder = await tempFolder({ socat: `#!/bin/sh\nsleep 0.3\nexec ${join(socat, 'socat')} "$@"\n` })
    await chmod(join(folder, 'socat'), 0o755)
    vi.stubEnv('PATH', `${folder}${delimiter}${path}`)
    onTestFinished(() => void vi.unstubAllEnvs())
    const { address } = await loopback()
    const { bash } = await confined({ allowedDomains: [address] })
    expect(await bash(`unset NO_PROXY no_proxy; curl -sS http://${address}`)).toBe('let in')
  })

  it('is started outside of it where the call says so', async () => {
    const { call, home } = await confined()
    expect(await call('bash', { command: 'echo x > ../out && cat ../out', outsideSandbox: true })).toBe('x')
    expect(existsSync(join(home, 'out'))).toBe(true)
  })

  it('is not started where a folder holds more than can be guarded', async () => {
    const files = Object.fromEntries(Array.from({ length: 1_001 }, (_, at) => [`app/d${at}/.env`, '']))
    const { bash } = await confined({ files })
    expect(await bash('touch begun')).toMatch(/^Error: .*was not started: the sandbox cannot be made: .*more than 1000/)
  })
})
