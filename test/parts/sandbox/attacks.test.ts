import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, rmSync, symlinkSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { tempFolder } from '../../tools/temp-folder.ts'
import { confined, hasSandbox } from './confined.ts'

function git(cwd: string, ...words: readonly string[]): string {
  const settings = ['-c', 'user.name=a', '-c', 'user.email=a@example.com', '-c', 'protocol.file.allow=always']
  return execFileSync('git', [...settings, ...words], { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
}

/** A configuration of git that runs a command, as a shell makes it. */
const evilConfig = (folder: string) =>
  `mkdir -p ${folder}/objects ${folder}/refs; echo ref: refs/heads/main > ${folder}/HEAD; ` +
  String.raw`printf '[core]\n\tfsmonitor = "touch %s/pwned; false"\n' "$PWD" > ${folder}/config; `.replace(
    '${folder}',
    folder,
  )

describe.runIf(hasSandbox)('a command in the sandbox that wants to be run by git', () => {
  it('gives a repository no other folder for its configuration', async () => {
    const { bash, cwd } = await confined({ prepare: (home) => void git(join(home, 'app'), 'init', '-q') })
    const said = await bash(`${evilConfig('evil')} echo ../evil > .git/commondir`)
    expect(said).toMatch(/commondir: Read-only file system\n\[exit 1\]\n\[sandbox: it stopped a write/)
    expect(await bash('rm -f .git/commondir; mv .git/commondir x; echo x > .git/config.worktree')).toMatch(/\[exit 1\]/)
    git(cwd, 'status')
    expect(existsSync(join(cwd, 'pwned'))).toBe(false)
    expect(readdirSync(join(cwd, '.git'))).not.toContain('commondir')
  })

  it('leaves git as it is, inside and beside a command', async () => {
    const { bash, call, cwd } = await confined({ prepare: (home) => void git(join(home, 'app'), 'init', '-q') })
    await call('bash', { command: 'sleep 60', background: true })
    git(cwd, 'commit', '--allow-empty', '-qm', 'one')
    git(cwd, 'worktree', 'add', '-q', '../tree')
    expect(git(cwd, 'worktree', 'list')).toMatch(/app +\w+ \[\w+\]\n.*tree /)
    expect(git(cwd, 'rev-parse', '--path-format=absolute', '--git-common-dir')).toBe(`${join(cwd, '.git')}\n`)
    const identity = 'git -c user.name=a -c user.email=a@example.com'
    const work = `echo 1 > a && git add a && ${identity} commit -qm two && git branch b && ${identity} stash list && git gc -q`
    expect(await bash(`${work} && git log --format=%s && git fsck`)).toBe('two\none')
    expect(git(cwd, 'status', '--porcelain')).toBe('')
  })

  it('does not turn a submodule to another repository', async () => {
    const { bash, cwd } = await confined({
      prepare: (home) => {
        git(home, 'init', '-q', 'lib')
        git(join(home, 'lib'), 'commit', '--allow-empty', '-qm', 'one')
        git(join(home, 'app'), 'init', '-q')
        git(join(home, 'app'), 'submodule', 'add', '-q', join(home, 'lib'), 'vendor/lib')
      },
    })
    const said = await bash(`${evilConfig('evil')} rm vendor/lib/.git; echo "gitdir: $PWD/evil" > vendor/lib/.git`)
    expect(said).toMatch(/\[exit 1\]\n\[sandbox: it stopped a write/)
    const config = await bash(
      'mv vendor other; echo x >> .git/modules/vendor/lib/config; git -C vendor/lib config a.b c',
    )
    expect(config).toMatch(/\[exit \d+\]\n\[sandbox: it stopped a write/)
    git(cwd, 'status')
    expect(existsSync(join(cwd, 'pwned'))).toBe(false)
  })

  it('does not write to a repository in a folder whose name is a pattern', async () => {
    const { bash, cwd } = await confined({ prepare: (home) => void git(join(home, 'app'), 'init', '-q', 'a/[id]') })
    const before = await readFile(join(cwd, 'a/[id]/.git/config'), 'utf8')
    await bash("echo x >> 'a/[id]/.git/config'; mv 'a/[id]' a/id; echo x >> a/id/.git/config; echo 1 > 'a/[id]/file'")
    expect(await readFile(join(cwd, 'a/[id]/.git/config'), 'utf8')).toBe(before)
    expect(readdirSync(join(cwd, 'a/[id]'))).toContain('file')
  })
})

describe.runIf(hasSandbox)('a command in the sandbox that wants out', () => {
  it('gives no library to the programs that make the sandbox', async () => {
    const out = await tempFolder()
    // The loader of a program leaves a file, where the program may write there.
    const env = { LD_DEBUG: 'files', LD_DEBUG_OUTPUT: join(out, 'x'), LD_LIBRARY_PATH: '/nowhere' }
    const { bash } = await confined({ env })
    expect(await bash('echo "$LD_DEBUG_OUTPUT=$LD_LIBRARY_PATH"')).toContain(`${out}/x=/nowhere`)
    expect(readdirSync(out)).toEqual([])
  })

  it('does not change the packages that make it', async () => {
    const root = join(import.meta.dirname, '../../..')
    const name = 'node_modules/@anthropic-ai/sandbox-runtime'
    onTestFinished(() => rmSync(join(root, name, 'planted'), { force: true }))
    const { bash } = await confined({ project: root })
    expect(await bash(`touch ${name}/planted`)).toContain('Read-only file system')
    // What should not work is taken back at once.
    expect(await bash('mv node_modules modules && mv modules node_modules')).toMatch(/\[exit 1\]/)
  })

  it('sees no process of the host, neither its environment nor its files', async () => {
    const { bash, home } = await confined({ files: { '.ssh/id_rsa': 'secret' } })
    const all = `for each in /proc/[0-9]*; do cat $each/root${home}/.ssh/id_rsa; tr '\\0' '\\n' < $each/environ; done 2>/dev/null`
    const printed = await bash(`${all}; ls -d /proc/${process.pid} 2>&1; ls /proc/1/root${home}/.ssh`)
    expect(printed).not.toContain('secret')
    expect(printed).toContain('ls: cannot access')
    expect(await bash(`kill -0 ${process.pid}`)).toMatch(/No such process/)
  })

  it('reaches no socket, neither of a file nor an abstract one', async () => {
    const { bash, cwd } = await confined()
    let asked = 0
    for (const path of [join(cwd, 'agent.sock'), `\0entia-${process.pid}`]) {
      const server = createServer(() => asked++).listen(path)
      onTestFinished(() => void server.close())
      const code = `require('net').connect(${JSON.stringify(path)}).on('error', (e) => console.log(e.code)).on('connect', () => console.log('in'))`
      expect(await bash(`node -e ${JSON.stringify(code).replaceAll('$', '\\$')}`)).toMatch(/^E[A-Z]+$/)
    }
    expect(asked).toBe(0)
  })

  it('reads no file with secrets behind a link', async () => {
    const { bash } = await confined({
      files: { 'shared/env': 'secret', 'app/config/env': 'secret' },
      prepare: (home) => {
        symlinkSync('../shared/env', join(home, 'app/.env'))
        symlinkSync('env', join(home, 'app/config/.env.production'))
      },
    })
    expect(await bash('cat .env config/.env.production config/env ../shared/env; true')).not.toContain('secret')
  })

  it('puts no link in the place of what is guarded, however many run at once', async () => {
    const { bash, cwd, home } = await confined({ files: { 'app/.claude/a': '' } })
    const names = '.vscode .idea .entia .claude .envrc'
    const attempts = Array.from({ length: 20 }, (_, at) => {
      return bash(
        `for n in ${names}; do rm -rf $n; rmdir $n; mv $n x${at}; ln -s ${home} $n; mkdir -p $n/y; done 2>/dev/null; echo ${at}`,
      )
    })
    expect((await Promise.all(attempts)).map((each) => each.split('\n')[0])).toEqual(
      attempts.map((_, at) => String(at)),
    )
    expect(readdirSync(cwd)).toEqual(['.claude'])
    expect([readdirSync(join(cwd, '.claude')), readdirSync(home)]).toEqual([['a'], ['app']])
  })
})

describe.runIf(hasSandbox)('a project in the sandbox', () => {
  it.each(['with blanks', `it's "quoted" $HOME`, 'two\nlines', 'Grüße 🐝', '-rf'])(
    'may be named %j',
    async (project) => {
      const { bash, cwd, home } = await confined({ project, files: { [`${project}/.env`]: 'secret' } })
      expect(await bash('echo 1 > a; cat a; pwd')).toBe(`1\n${cwd}`)
      expect(await bash('cat .env; echo x > .vscode')).toMatch(/\[exit 1\]/)
      expect(await bash('cat .env')).not.toContain('secret')
      expect(await bash('echo x > ../out')).toContain('Read-only file system')
      expect(readdirSync(home)).toEqual([project])
    },
  )

  it('may be the home folder', async () => {
    const files = {
      '.ssh/id_rsa': 'secret',
      '.aws/credentials': 'secret',
      'Documents/a': 'secret',
      '.bashrc': '# mine',
    }
    const { bash, cwd } = await confined({ project: '.', files })
    expect(await bash('cat ~/.ssh/id_rsa ~/.aws/credentials ~/Documents/a; true')).not.toContain('secret')
    const planted = 'mkdir -p .ssh; echo x > .ssh/authorized_keys; echo x >> .bashrc; mv .ssh s; mkdir .ssh'
    expect(await bash(planted)).toContain('[exit 1]')
    const run = ['.config/fish/config.fish', '.config/autostart/a.desktop', '.config/systemd/user/a.service', 'bin/ls']
    const own = ['entia/config/config.json', 'entia/data/skills/a/SKILL.md', 'entia/cache/a', 'entia/state/a']
    const more = ['.local/bin/ls', '.bash_logout', '.zlogout', '.cshrc', '.kshrc', '.login', '.xprofile', '.inputrc']
    const tried = [...run, ...own, ...more].map(
      (path) => `mkdir -p "$(dirname ${path})"; echo x > ${path} && echo made`,
    )
    expect(await bash(tried.join('; '))).not.toMatch(/^made/m)
    expect([readdirSync(join(cwd, '.ssh')), await readFile(join(cwd, '.bashrc'), 'utf8')]).toEqual([
      ['id_rsa'],
      '# mine',
    ])
  })

  it('may have allowed paths that are files, or are not there', async () => {
    const config = { allowedPaths: ['~/app/notes.md', '~/app/build'] }
    const { bash } = await confined({ files: { 'app/notes.md': '' }, config })
    expect(await bash('echo 1 > notes.md; cat notes.md')).toBe('1')
    expect(await bash('echo 1 > other')).toContain('Read-only file system')
  })
})
