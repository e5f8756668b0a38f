import { execFileSync } from 'node:child_process'
import { symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, describe, expect, it, vi } from 'vitest'
import type { Json } from 'entia'
import type { PolicyConfig } from 'entia/runtime'
import { tempFolder } from '../../tools/temp-folder.ts'
import { toolsIn } from './tools-in.ts'

type Grep = (
  files: Readonly<Record<string, string | Uint8Array>>,
  input: Readonly<Record<string, Json>>,
  config?: PolicyConfig,
) => Promise<string[]>

async function grepIn(folder: string, input: Readonly<Record<string, Json>>, calls = toolsIn): Promise<string[]> {
  return (await calls(folder)('grep_files', input)).split('\n')
}

/** With the folder as the home folder and the working folder of a policy. */
async function grepUnder(folder: string, input: Json, config: PolicyConfig = {}, calls = toolsIn): Promise<string[]> {
  const policy = { channel: 'cli', cwd: folder, home: folder, configFolder: join(folder, 'own'), config } as const
  return (await calls(folder, { home: folder })('grep_files', input, { policy })).split('\n')
}

const byRipgrep: Grep = async (files, input, config) => {
  const folder = await tempFolder(files)
  return config === undefined ? grepIn(folder, input) : grepUnder(folder, input, config)
}

/** Tools that are loaded while packages are missing. */
let fresh: typeof toolsIn | undefined

/** Both packages and programs are missing. */
const byThread: Grep = async (files, input, config) => {
  vi.doMock('@vscode/ripgrep', () => Promise.reject(new Error('not installed')))
  vi.stubEnv('PATH', '/nowhere')
  try {
    if (fresh === undefined) {
      vi.resetModules()
      fresh = (await import('./tools-in.ts')).toolsIn
    }
    const folder = await tempFolder(files)
    return await (config === undefined ? grepIn(folder, input, fresh) : grepUnder(folder, input, config, fresh))
  } finally {
    vi.unstubAllEnvs()
    vi.doUnmock('@vscode/ripgrep')
  }
}

describe.each([
  ['by ripgrep', byRipgrep, 'missing closing parenthesis'],
  ['in a thread', byThread, 'Invalid regular expression: /(/: Unterminated group'],
])('grep_files %s', (_, grep, fault) => {
  afterAll(() => {
    if (fresh === undefined) return
    fresh = undefined
    vi.resetModules()
  })

  it('gives path, number and text of each matching line, in the order of paths', async () => {
    const files = { 'b.txt': 'no\n  needle 2\r\n', 'a/z.txt': 'needle', 'a.txt': 'x\nneedles\nneedle' }
    expect(await grep(files, { pattern: 'needle' })).toEqual([
      'a.txt:2: needles',
      'a.txt:3: needle',
      'a/z.txt:1: needle',
      'b.txt:2:   needle 2',
    ])
    expect(await grep(files, { pattern: 'nothing' })).toEqual(['[no matches]'])
  })

  it('refuses a pattern and a glob with a NUL character', async () => {
    const refused = ['Error: The pattern or glob holds a NUL character.']
    expect(await grep({ a: 'x' }, { pattern: '\0' })).toEqual(refused)
    expect(await grep({ a: 'x' }, { pattern: 'x', glob: 'a\0' })).toEqual(refused)
  })

  it('leaves out an ignored folder, .git and binary files, and searches hidden ones', async () => {
    const files = {
      '.gitignore': 'dist/\n*.log\n!keep.log\n',
      'dist/a.ts': 'needle',
      'sub/b.log': 'needle',
      'keep.log': 'needle',
      '.git/config': 'needle',
      '.hidden/c.ts': 'needle',
      'a.bin': Buffer.from('needle\0'),
      'utf16.txt': Buffer.from('\ufeffneedle', 'utf16le'),
    }
    expect(await grep(files, { pattern: 'needle' })).toEqual([
      '.hidden/c.ts:1: needle',
      'keep.log:1: needle',
      'utf16.txt:1: needle',
    ])
    expect(await grep(files, { pattern: 'needle', glob: '*.log' })).toEqual(['keep.log:1: needle'])
    expect(await grep(files, { pattern: 'needle', path: 'dist' })).toEqual(['dist/a.ts:1: needle'])
  })

  const closed = {
    'Documents/diary.txt': 'needle',
    'app/[secret]/deep/plan.txt': 'needle',
    'app/plan.txt': 'needle',
    'own/config.json': 'needle',
    '.ssh/known_hosts': 'needle',
    'other.txt': 'needle',
  }

  it('leaves out what a policy closes below, and says how much', async () => {
    const config = { deniedPaths: ['~/app/[secret]', '~/app/plan.txt', '~/nothing'] }
    const skipped = ['[2 credential files skipped]', '[2 denied paths skipped]', '[1 personal paths skipped]']
    expect(await grep(closed, { pattern: 'needle', path: '~' }, config)).toEqual(['other.txt:1: needle', ...skipped])
    expect(await grep(closed, { pattern: 'needle', path: 'app', glob: '**/*.txt' }, config)).toEqual([
      '[no matches]',
      '[2 denied paths skipped]',
    ])
  })

  it('searches a personal folder that a call names, and was judged by', async () => {
    const config = { personalPaths: ['~/Documents', '~/Documents/deep'], deniedPaths: ['~/Documents/never'] }
    const files = { ...closed, 'Documents/deep/a': 'needle', 'Documents/never/b': 'needle' }
    expect(await grep(files, { pattern: 'needle', path: 'Documents' }, config)).toEqual([
      'Documents/deep/a:1: needle',
      'Documents/diary.txt:1: needle',
      '[1 denied paths skipped]',
    ])
  })

  it('does not show a match in a .env that is not ignored, and says that it skipped one file', async () => {
    const files = { '.gitignore': 'ignored.env\n', '.env': 'needle', 'ignored.env': 'needle', 'a.ts': 'needle' }
    const skipped = '[1 credential files skipped]'
    expect(await grep(files, { pattern: 'needle' })).toEqual(['a.ts:1: needle', skipped])
    expect(await grep(files, { pattern: 'needle', path: '.env' })).toEqual(['[no matches]', skipped])
    expect(await grep({ '[x]*{a,b}!.pem': 'needle' }, { pattern: 'needle' })).toEqual(['[no matches]', skipped])
  })

  it('gives lines around matches, with groups parted by --', async () => {
    const files = { 'a.txt': '1\n2\nx3\n4\nx5\n6\n7\n8\n9\nx10', 'b.txt': 'x1\n2' }
    const found = ['a.txt-2- 2', 'a.txt:3: x3', 'a.txt-4- 4', 'a.txt:5: x5', 'a.txt-6- 6']
    const rest = ['--', 'a.txt-9- 9', 'a.txt:10: x10', '--', 'b.txt:1: x1', 'b.txt-2- 2']
    expect(await grep(files, { pattern: 'x', context: 1 })).toEqual([...found, ...rest])
    expect((await grep(files, { pattern: 'x', context: 1, limit: 2 })).slice(0, -1)).toEqual(found)
  })

  it('cuts a line at 500 characters', async () => {
    expect(await grep({ 'a.txt': `x${'y'.repeat(600)}` }, { pattern: 'x' })).toEqual([
      `a.txt:1: x${'y'.repeat(499)} [101 characters left out]`,
    ])
  })

  it('takes a pattern as text when asked, and ignores case when asked', async () => {
    const files = { 'a.txt': 'f(X)\n--files' }
    expect(await grep(files, { pattern: 'F(x)', literal: true, ignoreCase: true })).toEqual(['a.txt:1: f(X)'])
    expect(await grep(files, { pattern: '--files' })).toEqual(['a.txt:2: --files'])
  })

  it('says what is wrong with a pattern', async () => {
    expect(await grep({ 'a.txt': '' }, { pattern: '(' })).toEqual([
      `Error: The pattern is no regular expression (${fault}). literal=true takes it as text.`,
    ])
  })

  it('matches what stands before or behind', async () => {
    expect(await grep({ 'a.txt': 'xneedle\nneedle' }, { pattern: '(?<=x)needle' })).toEqual(['a.txt:1: xneedle'])
  })
})

describe('grep_files', () => {
  it('says how many of how many matches it shows', async () => {
    const files = { 'b.txt': 'x\n'.repeat(3), 'a.txt': 'x\n'.repeat(1_338) }
    const found = await byRipgrep(files, { pattern: 'x' })
    expect(found).toHaveLength(201)
    expect(found.slice(-2)).toEqual(['a.txt:200: x', '[200 of 1341 shown]'])
    expect((await byRipgrep({ 'a.txt': 'x\n'.repeat(200_000) }, { pattern: 'x' })).at(-1)).toMatch(
      /^\[200 of more than \d{6} shown; narrow pattern, path or glob\]$/,
    )
  })

  it('searches one file, a folder, and folders elsewhere by their whole path', async () => {
    const folder = await tempFolder({ 'app/sub/a.txt': 'needle', 'other/b.txt': 'needle' })
    const app = join(folder, 'app')
    expect(await grepIn(app, { pattern: 'needle', path: 'sub/a.txt' })).toEqual(['sub/a.txt:1: needle'])
    expect(await grepIn(app, { pattern: 'needle', path: 'sub' })).toEqual(['sub/a.txt:1: needle'])
    expect(await grepIn(app, { pattern: 'needle', path: '../other' })).toEqual([`${folder}/other/b.txt:1: needle`])
    expect(await grepIn(app, { pattern: 'needle', path: 'nothing' })).toEqual(['Error: nothing does not exist.'])
    expect(await grepIn(app, { pattern: 'needle', path: '/dev/zero' })).toEqual([
      'Error: /dev/zero is no regular file.',
    ])
  })

  it('heeds the ignore files of the repository above the working folder', async () => {
    const folder = await tempFolder({ '.gitignore': 'dist/\n', 'app/dist/a.txt': 'needle', 'app/b.txt': 'needle' })
    execFileSync('git', ['init', '--quiet'], { cwd: folder })
    const app = join(folder, 'app')
    expect(await grepIn(app, { pattern: 'needle' })).toEqual(['b.txt:1: needle'])
    expect(await toolsIn(app)('list_files', { recursive: true })).toBe('b.txt')
  })

  it('leaves out closed places by where they really lie', async () => {
    const folder = await tempFolder({ 'vault/keys/a': 'needle', 'vault/mine/b': 'needle', 'vault/c': 'needle' })
    await symlink('vault/keys', join(folder, '.ssh'))
    await symlink('vault/mine', join(folder, 'mine'))
    expect(await grepUnder(folder, { pattern: 'needle' }, { deniedPaths: ['~/mine'] })).toEqual([
      'vault/c:1: needle',
      '[1 credential files skipped]',
      '[1 denied paths skipped]',
    ])
  })

  it('does not open a credential file through a link, and passes by pipes', async () => {
    const folder = await tempFolder({ '.env': 'needle', 'a.txt': 'needle' })
    await symlink('.env', join(folder, 'settings'))
    execFileSync('mkfifo', [join(folder, 'pipe')])
    const skipped = '[1 credential files skipped]'
    expect(await grepIn(folder, { pattern: 'needle', path: 'settings' })).toEqual(['[no matches]', skipped])
    expect(await grepIn(folder, { pattern: 'needle' })).toEqual(['a.txt:1: needle', skipped])
  })

  it('leaves out a line of more than 1 MB, and says so', async () => {
    expect(await byRipgrep({ 'a.txt': `${'x'.repeat(2_000_000)}needle\nneedle` }, { pattern: 'needle' })).toEqual([
      'a.txt:2: needle',
      '[1 lines with matches left out: they are longer than 1 MB]',
    ])
  })
})

describe('list_files', () => {
  it('leaves out an ignored folder, and says how many of how many it shows', async () => {
    const files = { '.gitignore': 'dist/\n', 'dist/a.ts': '', 'src/b.ts': '', 'c.ts': '' }
    const call = toolsIn(await tempFolder(files))
    expect(await call('list_files', { recursive: true })).toBe('c.ts\nsrc/\nsrc/b.ts')
    expect(await call('list_files', { recursive: true, limit: 1 })).toBe('c.ts\n[1 of 3 shown]')
  })

  it('shows folders elsewhere by their whole path', async () => {
    const folder = await tempFolder({ 'app/a.ts': '', 'other/sub/b.ts': '' })
    const call = toolsIn(join(folder, 'app'))
    expect(await call('list_files', { path: '../other' })).toBe(`${folder}/other/sub/`)
  })
})
