import { rename, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Json } from 'entia'
import type { PolicyConfig } from 'entia/runtime'
import { describe, expect, it } from 'vitest'
import { addFiles, tempFolder } from '../../tools/temp-folder.ts'
import { committed, git, repository } from './repositories.ts'
import { toolsIn } from './tools-in.ts'

/** Calls tools of git under a policy; a home folder above the working folder is `~`. */
function calling(cwd: string, config: PolicyConfig = {}, home = join(cwd, '..')) {
  const call = toolsIn(cwd, { home })
  const policy = { channel: 'cli', cwd, home, config } as const
  return (name: string, input: Json = {}) => call(name, input, { policy })
}

/** The names in the heads of a diff, and its notes. */
function headsOf(diff: string): readonly string[] {
  return diff
    .split('\n')
    .flatMap((line) => (line.startsWith('[') ? [line] : (/^diff --\w+ (.*)/.exec(line)?.slice(1) ?? [])))
}

const skipped = (count: number): string => `[${count} credential files skipped]`

describe('changes of files with credentials', () => {
  const files = { '.env': 'T=1\n', 'keys/tls.pem': 'one\n', 'a.txt': 'one\n' }
  const changed = { '.env': 'T=needle\n', 'keys/tls.pem': 'needle\n', 'a.txt': 'two\n' }

  it('are left out of git_diff and git_status, and counted', async () => {
    const folder = await repository(files)
    await addFiles(folder, changed)
    const call = calling(folder)
    expect(await call('git_status')).toBe(`## main\n M a.txt\n${skipped(2)}`)
    for (const input of [{}, { ref: 'HEAD' }, { file: '.' }, { ref: 'HEAD:a.txt', file: '.' }].slice(0, 3))
      expect(headsOf(await call('git_diff', input))).toEqual(['a/a.txt b/a.txt', skipped(2)])
    git(folder, 'add', '--force', '.')
    expect(headsOf(await call('git_diff', { staged: true }))).toEqual(['a/a.txt b/a.txt', skipped(2)])
    git(folder, 'commit', '--quiet', '--message=second')
    expect(headsOf(await call('git_diff', { ref: 'HEAD~1..HEAD' }))).toEqual(['a/a.txt b/a.txt', skipped(2)])
    await rm(join(folder, '.env'))
    expect(await call('git_diff')).toBe(skipped(1))
  })

  it('are left out by both names of a file that is renamed', async () => {
    const text = 'a\nb\nc\nd\ne\nf\n'
    const folder = await repository({ '.env': text, 'b.txt': text.toUpperCase() })
    await rename(join(folder, '.env'), join(folder, 'notes.txt'))
    await rename(join(folder, 'b.txt'), join(folder, 'server.key'))
    git(folder, 'add', '--force', '.')
    const call = calling(folder)
    expect(await call('git_diff', { staged: true })).toBe(skipped(2))
    expect(await call('git_status')).toBe(`## main\n${skipped(2)}`)
  })

  it('are shown where the call names the file, which it was judged by', async () => {
    const folder = await repository(files)
    await addFiles(folder, changed)
    expect(await calling(folder)('git_diff', { file: '.env' })).toContain('+T=needle')
  })

  it('are left out where they take the place of a file', async () => {
    const folder = await repository({ a: 'one\n' })
    await rm(join(folder, 'a'))
    await addFiles(folder, { 'a/.env': 'needle\n', 'a/b.txt': 'b\n' })
    git(folder, 'add', '--force', '.')
    expect(await calling(folder)('git_diff', { ref: 'HEAD' })).not.toContain('needle')
  })

  it('are left out whatever is in their names, and other names are shown', async () => {
    const folder = await tempFolder()
    const names = ['line\nbreak', 'quo"te', ':(top)x', '*', '[ab]', 'back\\slash', 'ümlaut', ' space ']
    const write = async (text: string) => {
      for (const name of names) await writeFile(join(folder, name), text)
      for (const name of names) await writeFile(join(folder, `${name}.pem`), text)
      for (const name of ['\xff', '\xfe.pem']) await writeFile(Buffer.from(`${folder}/${name}`, 'latin1'), text)
    }
    await write('one\n')
    committed(folder)
    await write('needle\n')
    const call = calling(folder)
    const diff = await call('git_diff')
    expect(diff.match(/^\+needle$/gm)).toHaveLength(names.length + 1)
    expect(headsOf(diff).filter((head) => head.includes('.pem'))).toEqual([])
    expect(headsOf(diff).at(-1)).toBe(skipped(names.length + 1))
    const status = (await call('git_status')).split('\n')
    expect(status).toHaveLength(names.length + 3)
    expect(status).toContain(' M line?break')
    expect(status.at(-1)).toBe(skipped(names.length + 1))
  })
})

describe('changes below denied and personal folders', () => {
  it('are left out, and counted by their kind', async () => {
    const files = { 'secret/plan.txt': 'one\n', 'diary/may.txt': 'one\n', 'a.txt': 'one\n' }
    const folder = await repository(files)
    await addFiles(folder, { 'secret/plan.txt': 'x\n', 'secret/b.txt': 'x\n', 'diary/may.txt': 'x\n', 'a.txt': 'x\n' })
    const call = calling(folder, { deniedPaths: ['secret'], personalPaths: [join(folder, 'diary')] })
    const notes = ['[1 denied paths skipped]', '[1 personal paths skipped]']
    expect(headsOf(await call('git_diff'))).toEqual(['a/a.txt b/a.txt', ...notes])
    expect(await call('git_status')).toBe(
      ['## main', ' M a.txt', '[2 denied paths skipped]', '[1 personal paths skipped]'].join('\n'),
    )
    expect(headsOf(await call('git_diff', { file: 'diary' }))).toEqual(['a/diary/may.txt b/diary/may.txt'])
  })
})

describe('a revision', () => {
  it('may name a file of a commit that may be seen, and no other', async () => {
    const folder = await repository({
      '.env': 'needle\n',
      'a.txt': 'one\n',
      'sub/b.txt': 'b\n',
      'secret/plan.txt': 'needle\n',
    })
    const call = calling(folder, { deniedPaths: ['secret'] })
    for (const ref of ['HEAD:.env', ':.env', ':0:.env', 'HEAD:./.env', 'HEAD^{commit}:.env', 'HEAD@{0}:.env'])
      expect(await call('git_diff', { ref, file: 'a.txt' }), ref).toBe(
        `Error: ${ref} is left out: it is a credential file.`,
      )
    expect(await call('git_diff', { ref: 'HEAD:secret/plan.txt', file: 'a.txt' })).toBe(
      'Error: HEAD:secret/plan.txt is left out: it is a denied path.',
    )
    const blob = git(folder, 'rev-parse', 'HEAD:.env').trim()
    for (const ref of ['HEAD:secret', 'HEAD:', 'HEAD^{tree}', blob, 'HEAD:a.txt..HEAD:.env', 'HEAD:.env..HEAD:a.txt'])
      expect(await call('git_diff', { ref }), ref).toMatch(/ names no commit\. Give a commit, branch or range as ref/)
    expect(await call('git_diff', { ref: 'HEAD:sub/b.txt', file: 'a.txt' })).toMatch(/\n-b\n\+one$/)
    expect(await calling(join(folder, 'sub'))('git_diff', { ref: 'HEAD:./b.txt', file: '../a.txt' })).toMatch(
      /\n-b\n\+one$/,
    )
    expect(await calling(join(folder, 'sub'))('git_diff', { ref: 'HEAD:a.txt', file: 'b.txt' })).toMatch(/ is left out/)
    expect(await call('git_log', { ref: 'HEAD:a.txt' })).toBe('Error: HEAD:a.txt names no commit.')
    for (const ref of ['main', 'HEAD^!', ':/first', 'main...HEAD', '@{0}'])
      expect(await call('git_log', { ref }), ref).toMatch(/^(?:[^\n]*first|)$|^\[no output\]$/)
  })
})

describe('a repository that reaches beyond the working folder', () => {
  it('is shown as far as it lies in it', async () => {
    const mono = await repository({ 'infra/prod.txt': 'one\n', 'app/a.txt': 'one\n', 'app/sub/b.txt': 'one\n' })
    await addFiles(mono, { 'infra/prod.txt': 'needle\n', 'infra/new.txt': '', 'app/sub/b.txt': 'two\n' })
    const call = calling(join(mono, 'app'))
    const outside = '[1 files outside of the working folder skipped]'
    expect(headsOf(await call('git_diff'))).toEqual(['a/app/sub/b.txt b/app/sub/b.txt', outside])
    expect(await call('git_diff', { staged: true })).toBe('[no output]')
    expect(headsOf(await call('git_diff', { file: 'sub' }))).toEqual(['a/app/sub/b.txt b/app/sub/b.txt'])
    expect(await call('git_status')).toBe(`## main\n M sub/b.txt\n${outside}`)
    expect(await call('git_log')).toMatch(/first$/)
    git(mono, 'commit', '--quiet', '--message=second', '--', 'infra')
    expect(await call('git_log')).toMatch(/^[^\n]*first$/)
    expect(await call('git_log', { file: '..' })).toMatch(/second\n[^\n]*first$/)
  })

  it.for(['../..', '..'])('by core.worktree %s is shown as far as it lies in it', async (worktree) => {
    const home = await tempFolder({ '.ssh/config': 'needle\n', 'app/a.txt': 'one\n' })
    const folder = join(home, 'app')
    committed(folder)
    const blob = git(folder, 'rev-parse', 'HEAD:a.txt').trim()
    for (const path of ['.ssh/config', 'app/a.txt'])
      git(folder, 'update-index', '--add', '--cacheinfo', `100644,${blob},${path}`)
    git(folder, 'config', 'core.worktree', worktree === '..' ? home : '../..')
    await addFiles(folder, { 'a.txt': 'two\n' })
    const call = calling(folder)
    expect(headsOf(await call('git_diff'))).toEqual([
      'a/app/a.txt b/app/a.txt',
      '[2 files outside of the working folder skipped]',
    ])
    expect(await call('git_status')).not.toContain('.ssh')
    expect(headsOf(await call('git_diff', { file: '~' }))).not.toContain('a/.ssh/config b/.ssh/config')
  })

  it('by a core.worktree beside it is not shown', async () => {
    const home = await tempFolder({ 'Documents/diary.txt': 'needle\n', 'app/diary.txt': 'one\n' })
    committed(join(home, 'app'))
    git(join(home, 'app'), 'config', 'core.worktree', join(home, 'Documents'))
    for (const name of ['git_diff', 'git_status', 'git_log'])
      expect(await calling(join(home, 'app'))(name)).toMatch(/^Error: \. is not in the work tree of its repository/)
  })

  it('by a .git file that leads to a repository with core.worktree is shown as far as it lies in it', async () => {
    const home = await tempFolder({ '.ssh/config': 'needle\n', 'app/a.txt': 'one\n' })
    const folder = join(home, 'app')
    committed(folder)
    const blob = git(folder, 'rev-parse', 'HEAD:a.txt').trim()
    git(folder, 'update-index', '--add', '--cacheinfo', `100644,${blob},.ssh/config`)
    git(folder, 'config', 'core.worktree', '../..')
    await rename(join(folder, '.git'), join(folder, 'g'))
    await addFiles(folder, { '.git': 'gitdir: g\n' })
    expect(await calling(folder)('git_diff')).not.toContain('needle')
  })
})

describe('a repository of another kind', () => {
  it('is shown: a linked work tree, a submodule, one that is bare, one in the midst of a merge', async () => {
    const parent = await tempFolder({ 'main/a.txt': 'one\n' })
    const main = join(parent, 'main')
    committed(main)
    git(main, 'worktree', 'add', '--quiet', '-b', 'other', join(parent, 'linked'))
    await addFiles(parent, { 'linked/a.txt': 'two\n' })
    expect(headsOf(await calling(join(parent, 'linked'))('git_diff'))).toEqual(['a/a.txt b/a.txt'])
    git(join(parent, 'linked'), 'commit', '--quiet', '--all', '--message=second')

    git(main, 'submodule', 'add', '--quiet', join(parent, 'linked'), 'sub')
    await addFiles(main, { 'sub/a.txt': 'three\n' })
    expect(headsOf(await calling(join(main, 'sub'))('git_diff'))).toEqual(['a/a.txt b/a.txt'])
    expect(headsOf(await calling(main)('git_diff', { file: 'sub' }))).toEqual(['a/a.txt b/a.txt'])
    expect(await calling(main)('git_status')).toBe('## main\nA  .gitmodules\nA  sub')

    git(parent, 'clone', '--quiet', '--bare', main, 'bare')
    expect(await calling(join(parent, 'bare'))('git_log')).toMatch(/first$/)
    expect(headsOf(await calling(join(parent, 'bare'))('git_diff', { ref: 'main..other' }))).toEqual([
      'a/a.txt b/a.txt',
    ])

    git(main, 'commit', '--quiet', '--message=sub')
    await addFiles(main, { 'a.txt': 'four\n' })
    git(main, 'commit', '--quiet', '--all', '--message=third')
    expect(() => git(main, 'merge', '--quiet', 'other')).toThrow('Command failed')
    expect(headsOf(await calling(main)('git_diff'))).toEqual(['a.txt'])
    expect(await calling(main)('git_status')).toContain('\nUU a.txt')
  })

  it('does not change what is shown by its configuration', async () => {
    const folder = await repository({ 'a.txt': 'one\n', 'sub/b.txt': 'one\n' })
    for (const setting of [
      ...[
        'color.diff=always',
        'color.status=always',
        'diff.noprefix=true',
        'diff.mnemonicPrefix=true',
        'diff.relative=true',
      ],
      ...[
        'status.showUntrackedFiles=no',
        'status.branch=false',
        'log.follow=true',
        'log.date=raw',
        'diff.renames=false',
      ],
      ...[
        'diff.submodule=log',
        'diff.orderFile=../order',
        'status.renames=false',
        'core.pager=false',
        'format.pretty=raw',
      ],
    ])
      git(folder, 'config', ...(setting.split('=') as [string, string]))
    await addFiles(folder, { 'sub/b.txt': 'two\n', 'sub/new.txt': '' })
    const call = calling(join(folder, 'sub'))
    expect(await call('git_diff')).toMatch(/^diff --git a\/sub\/b.txt b\/sub\/b.txt\n/)
    expect(await call('git_status')).toBe('## main\n M b.txt\n?? new.txt')
    expect(await call('git_log', { file: 'b.txt' })).toMatch(/^[0-9a-f]+ \d{4}-\d\d-\d\d Ada: first$/)
  })

  it('is shown by a link to its folder', async () => {
    const folder = await repository({ 'a.txt': 'one\n' })
    const parent = await tempFolder()
    await symlink(folder, join(parent, 'link'))
    await addFiles(folder, { 'a.txt': 'two\n' })
    expect(headsOf(await calling(join(parent, 'link'))('git_diff'))).toEqual(['a/a.txt b/a.txt'])
    expect(await calling(parent)('git_status', { path: 'link' })).toBe('## main\n M a.txt')
  })
})
