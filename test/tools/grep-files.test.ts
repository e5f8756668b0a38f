import { symlink, truncate } from 'node:fs/promises'
import { join } from 'node:path'
import { fileTools, type Json } from 'entia'
import { describe, expect, it } from 'vitest'
import { callText, callTool } from './calling.ts'
import { addSocket, tempFolder } from './temp-folder.ts'

/** Searches a folder with these files. */
async function grep(
  files: Readonly<Record<string, string | Uint8Array>>,
  input: Record<string, Json>,
): Promise<string[]> {
  const folder = await tempFolder(files)
  return (await callText(fileTools({ folder }).grepFiles, input)).split('\n')
}

describe('grep_files', () => {
  it('gives path, number and text of each matching line, in the order of paths', async () => {
    const files = { 'b.txt': 'no\n  needle 2\r\n', 'a/z.txt': 'needle', 'a.txt': 'x\nneedles\nneedle' }
    expect(await grep(files, { pattern: 'needle' })).toEqual([
      'a.txt:2: needles',
      'a.txt:3: needle',
      'a/z.txt:1: needle',
      'b.txt:2:   needle 2',
    ])
  })

  it('says so when nothing matches', async () => {
    expect(await grep({ 'a.txt': 'x' }, { pattern: 'y' })).toEqual(['[no matches]'])
    expect(await grep({}, { pattern: 'y' })).toEqual(['[no matches]'])
  })

  it('takes regular expressions of JavaScript, line by line', async () => {
    const files = { 'a.txt': 'const a = 1\nlet b = 22\nÄpfel' }
    expect(await grep(files, { pattern: '^(const|let) \\w = \\d$' })).toEqual(['a.txt:1: const a = 1'])
    expect(await grep(files, { pattern: '^\\p{Lu}' })).toEqual(['a.txt:3: Äpfel'])
    expect(await grep(files, { pattern: 'b\\ \\=' })).toEqual(['a.txt:2: let b = 22'])
  })

  it('tells upper from lower case unless asked not to', async () => {
    expect(await grep({ 'a.txt': 'ABC\nabc' }, { pattern: 'abc' })).toEqual(['a.txt:2: abc'])
    expect(await grep({ 'a.txt': 'ABC\nabc' }, { pattern: 'abc', ignoreCase: true })).toHaveLength(2)
  })

  it('takes a pattern as plain text when asked', async () => {
    const odd = 'f(x) = [a-z]+ {1} ^$ \\d . * ? | /'
    expect(await grep({ 'a.txt': `${odd}\nfx` }, { pattern: odd, literal: true })).toEqual([`a.txt:1: ${odd}`])
    expect(await grep({ 'a.txt': 'F(X)' }, { pattern: 'f(x)', literal: true, ignoreCase: true })).toEqual([
      'a.txt:1: F(X)',
    ])
  })

  it('tells what is wrong with a pattern', async () => {
    expect((await grep({ 'a.txt': '' }, { pattern: '(' }))[0]).toMatch(
      /^Error: The pattern is no regular expression \(.*Unterminated group\)\. literal=true takes it as text\.$/,
    )
  })

  it('gives lines around a match, with groups parted by --', async () => {
    const files = { 'a.txt': '1\n2\nx3\n4\nx5\n6\n7\n8\n9\nx10', 'b.txt': 'x1\n2' }
    expect(await grep(files, { pattern: 'x', context: 1 })).toEqual([
      'a.txt-2- 2',
      'a.txt:3: x3',
      'a.txt-4- 4',
      'a.txt:5: x5',
      'a.txt-6- 6',
      '--',
      'a.txt-9- 9',
      'a.txt:10: x10',
      '--',
      'b.txt:1: x1',
      'b.txt-2- 2',
    ])
  })

  it('searches one file, or the files below one folder', async () => {
    const files = { 'a/x.txt': 'needle', 'a/b/y.txt': 'needle', 'z.txt': 'needle' }
    expect(await grep(files, { pattern: 'needle', path: 'a' })).toEqual(['a/b/y.txt:1: needle', 'a/x.txt:1: needle'])
    expect(await grep(files, { pattern: 'needle', path: 'z.txt' })).toEqual(['z.txt:1: needle'])
    expect(await grep(files, { pattern: 'needle', glob: 'a/**/*.txt' })).toHaveLength(2)
    expect(await grep(files, { pattern: 'needle', path: 'a', glob: 'b/*.{md,txt}' })).toEqual(['a/b/y.txt:1: needle'])
  })

  it('cuts a line at 500 characters', async () => {
    expect(await grep({ 'a.txt': `x${'y'.repeat(600)}` }, { pattern: 'x' })).toEqual([
      `a.txt:1: x${'y'.repeat(499)} [101 characters left out]`,
    ])
  })

  it('searches a very long line only at its beginning, and says so', async () => {
    const files = { 'a.txt': `${'x'.repeat(9_995)}early late\n${'x'.repeat(10_000)}` }
    expect(await grep(files, { pattern: 'early' })).toHaveLength(2)
    expect(await grep(files, { pattern: 'late' })).toEqual([
      '[no matches]',
      '[1 lines searched only in their first 10000 characters]',
    ])
  })

  it('gives as many matches as the limit says, and whether there are more', async () => {
    const files = { 'a.txt': 'x\n'.repeat(3), 'b.txt': 'x\n'.repeat(300) }
    const found = await grep(files, { pattern: 'x' })
    expect(found).toHaveLength(201)
    expect(found.at(-1)).toBe('[200 matches shown; there are more: narrow pattern, path or glob]')
    expect(await grep(files, { pattern: 'x', limit: 303 })).toHaveLength(303)
    expect((await grep(files, { pattern: 'x', limit: 302 })).at(-1)).toMatch(/^\[302 matches shown/)
  })

  it('gives no more than fits under the cap', async () => {
    const found = await grep({ 'a.txt': `${'x'.repeat(400)}\n`.repeat(300) }, { pattern: 'x', limit: 1_000 })
    expect(found.join('\n').length).toBeLessThanOrEqual(50_000)
    expect(found.at(-1)).toBe(`[${found.length - 1} matches shown; there are more: narrow pattern, path or glob]`)
  })

  it('searches hidden files, but neither .git nor what ignore files name nor binary files', async () => {
    const files = {
      '.gitignore': 'dist\n',
      '.hidden/a.txt': 'needle',
      '.git/config': 'needle',
      'sub/.git': 'needle',
      'dist/a.txt': 'needle',
      'a.bin': Buffer.from('needle\0'),
      'b.txt': Buffer.from('\ufeffneedle', 'utf16le'),
    }
    expect(await grep(files, { pattern: 'needle' })).toEqual(['.hidden/a.txt:1: needle', 'b.txt:1: needle'])
  })

  it('never opens files with credentials, and says how many it passed by', async () => {
    const secret = [
      '.env',
      '.env.local',
      'sub/.ENV',
      'id_rsa',
      '.npmrc',
      'server.pem',
      '.ssh/config',
      '.aws/credentials',
    ]
    const open = ['.env.example', '.env.local.sample', '.env.template', 'environment', 'id_rsa.pub', 'pem.txt']
    const files = Object.fromEntries([...secret, ...open].map((path) => [path, 'needle']))
    const found = await grep(files, { pattern: 'needle' })
    expect(found.slice(0, -1)).toEqual(open.map((path) => `${path}:1: needle`))
    expect(found.at(-1)).toBe('[8 credential files skipped]')
    expect(await grep(files, { pattern: 'needle', path: '.env' })).toEqual([
      '[no matches]',
      '[1 credential files skipped]',
    ])
  })

  it.each([
    '.docker/config.json',
    '.dockercfg',
    '.env~',
    '.envrc',
    'prod.env',
    'id_rsa.bak',
    'id_ed25519.old~',
    '.id_rsa.swp',
    '#.netrc#',
    'credentials.json',
    'kubeconfig',
    'sub/kubeconfig.yaml',
    '.git/config',
    '.git/modules/lib/config',
    '.config/gh/hosts.yml',
    '.cargo/credentials.toml',
    'deploy.ppk',
    'service-account-7.json',
    'terraform.tfstate.backup',
  ])('never opens %s', async (path) => {
    expect(await grep({ [path]: 'needle' }, { pattern: 'needle', path })).toEqual([
      '[no matches]',
      '[1 credential files skipped]',
    ])
  })

  it.each([
    'config.json',
    'docker/config.json',
    'credentials.ts',
    'environment.ts',
    'env.ts',
    'notes.bak',
    'config',
    'keys.md',
  ])('opens %s, which only sounds like it', async (path) => {
    expect(await grep({ [path]: 'needle' }, { pattern: 'needle' })).toEqual([`${path}:1: needle`])
  })

  it('does not open a credential file through a link either', async () => {
    const folder = await tempFolder({ '.env': 'needle' })
    await symlink('.env', join(folder, 'settings'))
    const text = await callText(fileTools({ folder }).grepFiles, { pattern: 'needle', path: 'settings' })
    expect(text).toBe('[no matches]\n[1 credential files skipped]')
  })

  it('passes by what is neither file nor folder', async () => {
    const folder = await tempFolder({ 'a.txt': 'needle' })
    await addSocket(join(folder, 'socket'))
    const { grepFiles } = fileTools({ folder })
    expect(await callText(grepFiles, { pattern: 'needle' })).toBe('a.txt:1: needle')
    expect(await callText(grepFiles, { pattern: 'needle', path: 'socket' })).toBe('Error: socket is no regular file.')
  })

  it('gives up on a pattern that backtracks without end', async () => {
    const files = { 'a.txt': 'fine', 'b.txt': `${'a'.repeat(60)}!` }
    expect(await grep(files, { pattern: '^(a+)+$' })).toEqual([
      'Error: b.txt takes too long to match: the pattern backtracks without end. Write a simpler one.',
    ])
  })

  it('reads 256 MB at most', async () => {
    const folder = await tempFolder({ 'a.txt': 'needle\n'.repeat(2_000), 'b.txt': 'needle' })
    await truncate(join(folder, 'a.txt'), 300 * 1024 * 1024)
    const text = await callText(fileTools({ folder }).grepFiles, { pattern: 'nothing' })
    expect(text).toBe('[no matches]\n[stopped after 256 MB; narrow path or glob]')
  })

  it('tells how far it is, and stops on cancel', async () => {
    const folder = await tempFolder(
      Object.fromEntries(Array.from({ length: 501 }, (_, index) => [`${index}`, 'needle'])),
    )
    const reason = new Error('enough')
    const stop = new AbortController()
    const told: string[] = []
    const progress = (message: string): void => {
      told.push(message)
      stop.abort(reason)
    }
    const input = { pattern: 'needles', limit: 1_000 }
    await expect(callTool(fileTools({ folder }).grepFiles, input, { signal: stop.signal, progress })).rejects.toBe(
      reason,
    )
    expect(told).toEqual(['500 files searched, 0 matches'])
  })

  it('has 20 seconds', () => {
    expect(fileTools({ folder: '.' }).grepFiles.declaration.timeoutMs).toBe(20_000)
  })
})
