import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { builtinTools, type BuiltinToolsOptions } from 'entia/runtime'
import { describe, expect, it } from 'vitest'
import { repositoryFacts } from '../../../src/runtime/tools/git-repository.ts'
import { toolContext } from '../../tools/calling.ts'
import { addFiles, tempFolder } from '../../tools/temp-folder.ts'
import { git, repository as repositoryOf } from './repositories.ts'
import { toolsIn } from './tools-in.ts'

/** A repository with one commit of `a.txt` and `sub/b.txt`. */
const repository = () => repositoryOf({ 'a.txt': 'one\ntwo\n', 'sub/b.txt': 'b\n' })

describe('git_status', () => {
  it('shows the branch and what has changed', async () => {
    const folder = await repository()
    await addFiles(folder, { 'a.txt': 'changed', 'new.txt': '' })
    const call = toolsIn(folder)
    expect(await call('git_status', {})).toBe('## main\n M a.txt\n?? new.txt')
    expect(await call('git_status', { path: 'new.txt' })).toBe('## main\n?? new.txt')
    expect(await toolsIn(join(folder, '..'))('git_status', { path: folder })).toBe('## main\n M a.txt\n?? new.txt')
  })

  it('is an error where there is no repository', async () => {
    expect(await toolsIn(await tempFolder())('git_status', {})).toMatch(/^Error: git: fatal: not a git repository/)
    expect(await toolsIn('/nothing/there')('git_status', {})).toBe(
      'Error: git is not installed, or the folder does not exist.',
    )
  })
})

describe('git_diff', () => {
  it('shows what is not staged, what is, or what a ref differs in', async () => {
    const folder = await repository()
    await addFiles(folder, { 'a.txt': 'one\n2\n', 'sub/b.txt': 'bb\n' })
    git(folder, 'add', 'a.txt')
    const call = toolsIn(folder)
    expect(await call('git_diff', { contextLines: 0 })).toMatch(/^diff --git a\/sub\/b.txt[^]*@@ -1 \+1 @@\n-b\n\+bb$/)
    expect(await call('git_diff', { staged: true })).toMatch(/\n one\n-two\n\+2$/)
    expect(await call('git_diff', { ref: 'HEAD', file: 'a.txt' })).toMatch(/^diff --git a\/a.txt[^]* one\n-two\n\+2$/)
    expect(await call('git_diff', { file: '*.txt' })).toBe('[no output]')
    expect(await call('git_diff', { ref: 'nothing' })).toMatch(/^Error: git: fatal: bad revision 'nothing'/)
  })

  it('runs no program that the repository names: pager, diff, textconv, monitor, hook', async () => {
    const folder = await repository()
    const touch = `touch ${join(folder, 'ran')}`
    for (const [name, value] of [
      ['core.pager', touch],
      ['pager.diff', touch],
      ['diff.external', touch],
      ['diff.mine.command', touch],
      ['diff.mine.textconv', touch],
      ['core.fsmonitor', touch],
      ['log.showSignature', 'true'],
      ['gpg.program', touch],
    ] as const)
      git(folder, 'config', name, value)
    await addFiles(folder, { '.gitattributes': '*.txt diff=mine\n', 'a.txt': 'changed\n' })
    const env = { ...process.env, GIT_EXTERNAL_DIFF: touch, GIT_PAGER: touch }
    const call = toolsIn(folder, { env })
    expect(await call('git_diff', {})).toMatch(/\+changed$/)
    expect(await call('git_status', {})).toContain(' M a.txt')
    expect(await call('git_log', {})).toMatch(/first$/)
    expect(await readdir(folder)).not.toContain('ran')
  })
})

describe('a repository', () => {
  it('that sets filters of its own is found to run programs, one that has only those of the user is not', async () => {
    const home = await tempFolder({ '.gitconfig': '[filter "lfs"]\n\tclean = true\n' })
    const folder = await repository()
    const settings = { environment: () => ({ ...process.env, HOME: home }) }
    expect(await repositoryFacts(folder, settings, toolContext())).toEqual({ runsPrograms: false, reads: [] })
    git(folder, 'config', 'filter.x.clean', 'touch ran')
    expect(await repositoryFacts(folder, settings, toolContext())).toEqual({ runsPrograms: true, reads: [] })
  })
})

describe('git_log', () => {
  it('lists commits, newest first, of a file and up to a number', async () => {
    const folder = await repository()
    await addFiles(folder, { 'a.txt': '' })
    git(folder, 'commit', '--quiet', '--all', '--message=second')
    const call = toolsIn(folder)
    expect(await call('git_log', {})).toMatch(/^[0-9a-f]+ \d{4}-\d\d-\d\d Ada: second\n[^\n]+ Ada: first$/)
    expect(await call('git_log', { n: 1 })).toMatch(/second$/)
    expect(await call('git_log', { file: 'sub/b.txt' })).toMatch(/^[^\n]*first$/)
    expect(await call('git_log', { ref: 'main~1' })).toMatch(/^[^\n]*first$/)
  })

  it('with ref --output=x is refused, and no file appears', async () => {
    const folder = await repository()
    const call = toolsIn(folder)
    for (const name of ['git_log', 'git_diff'])
      expect(await call(name, { ref: '--output=x' })).toBe(
        "Error: A ref must not start with '-' or hold a NUL character.",
      )
    expect(await readdir(folder)).not.toContain('x')
  })
})

describe('built-in tools', () => {
  const names = (tools: readonly string[]): string[] =>
    builtinTools({ cwd: '.', tools }).map(({ declaration }) => declaration.name)
  const file = ['read_file', 'write_file', 'replace_in_file', 'list_files', 'grep_files']

  it('named core are exactly the file, code and git tools', () => {
    expect(names(['core'])).toEqual([
      ...file,
      'bash',
      'shell_output',
      'shell_stop',
      'git_status',
      'git_diff',
      'git_log',
    ])
  })

  it('are granted by category and by name; an empty category is fine', () => {
    expect(names(['git_log', 'file'])).toEqual([...file, 'git_log'])
    expect(names(['memory'])).toEqual([])
    expect(names([])).toEqual([])
  })

  it("named ['fil'] are an error that names file", () => {
    expect(() => names(['fil'])).toThrow(
      expect.objectContaining({
        code: 'invalid-argument',
        message: expect.stringContaining("there is no tool or category 'fil'. Did you mean 'file'"),
      }),
    )
    expect(() => names(['constructor'])).toThrow("'constructor'. There are read_file, ")
  })

  it('say what they do and which arguments are paths, for a policy', () => {
    const declared = builtinTools({ cwd: '.' }).map(({ declaration }) => {
      const { name, category, operation, paths, restart } = declaration
      return [name, category, operation, paths?.join(), restart]
    })
    expect(declared).toEqual([
      ['read_file', 'file', 'read', 'path', 'pure'],
      ['write_file', 'file', 'write', 'path', 'once'],
      ['replace_in_file', 'file', 'write', 'path', 'once'],
      ['list_files', 'file', 'read', 'path', 'pure'],
      ['grep_files', 'file', 'read', 'path', 'pure'],
      ['bash', 'code', 'exec', '', 'once'],
      ['shell_output', 'code', 'read', '', 'pure'],
      ['shell_stop', 'code', 'read', '', 'keyed'],
      ['git_status', 'git', 'read', 'path', 'pure'],
      ['git_diff', 'git', 'read', 'file', 'pure'],
      ['git_log', 'git', 'read', 'file', 'pure'],
      ['run_js', 'js', 'exec', '', 'once'],
      ['js_help', 'js', 'read', '', 'pure'],
      ['installed_packages', 'js', 'read', '', 'pure'],
      ['read_handle', 'data', 'read', '', 'pure'],
      ['fetch_url', 'web', 'read', '', 'pure'],
      ['chat', 'chat', 'read', '', 'pure'],
      ['chat_models', 'chat', 'read', '', 'pure'],
      ...['spawn', 'query', 'collect'].map((does) => [`${does}_subagent`, undefined, undefined, undefined, 'pure']),
      ['list_subagents', undefined, undefined, undefined, 'pure'],
      ['kill_subagent', undefined, undefined, undefined, 'pure'],
    ])
  })

  it('are not made of wrong options', () => {
    expect(() => builtinTools({ cwd: '', folder: 'x' } as BuiltinToolsOptions)).toThrow(/cwd: .*folder: no such field/)
    expect(() => builtinTools({ cwd: '.', env: { A: 1 } as never })).toThrow('env: expected an object of texts')
  })

  it('take the environment of a process, which is no plain object', () => {
    const Environment = class {
      readonly PATH = '/bin'
    }
    expect(builtinTools({ cwd: '.', env: new Environment() as {}, tools: ['bash'] })).toHaveLength(1)
  })
})
