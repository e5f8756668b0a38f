import { mkdir, rename, stat, symlink } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { fileTools, type FileToolsOptions } from 'entia'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { callText } from './calling.ts'
import { addFiles, tempFolder } from './temp-folder.ts'

const secret = 'a secret from outside'

/**
 * A folder `in` with `a.txt` and `sub/b.txt` beside a folder `out` with a secret, and links of all kinds between them.
 */
async function linkedFolders(): Promise<{ inside: string; outside: string }> {
  const parent = await tempFolder({
    'in/a.txt': 'text of a',
    'in/sub/b.txt': 'text of b',
    'in2/secret.txt': secret,
    'out/secret.txt': secret,
    'out/deep/secret.txt': secret,
  })
  const inside = join(parent, 'in')
  const outside = join(parent, 'out')
  const links: readonly [path: string, target: string][] = [
    ['good', 'a.txt'],
    ['good-folder', 'sub'],
    ['good-way', '../in/sub/../a.txt'],
    ['bad', '../out/secret.txt'],
    ['bad-absolute', join(outside, 'secret.txt')],
    ['bad-folder', '../out'],
    ['bad-chain', 'bad-folder/deep'],
    ['bad-dangling', '../out/nothing.txt'],
    ['bad-dangling-chain', 'bad-dangling'],
    ['dangling', 'nothing.txt'],
    ['loop', 'loop2'],
    ['loop2', 'loop'],
    ['sub/up', '..'],
    ['twice', 'again/again'],
    ['again', 'twice/twice'],
  ]
  for (const [path, target] of links) await symlink(target, join(inside, path))
  return { inside, outside }
}

describe('tools of a folder', () => {
  it.each([
    'a.txt',
    './a.txt',
    'sub/../a.txt',
    'nothing/../a.txt',
    '../in/a.txt',
    'good',
    'good-way',
    'sub/up/a.txt',
    'sub/up/sub/up/good',
  ])('read what ends inside: %s', async (path) => {
    const { inside } = await linkedFolders()
    expect(await callText(fileTools({ folder: inside }).readFile, { path, lineNumbers: false })).toBe('text of a')
  })

  it.each([
    '..',
    '../out/secret.txt',
    '../in2/secret.txt',
    'sub/../../out/secret.txt',
    '../nothing.txt',
    '/etc/passwd',
    '/nothing',
    `/${'x'.repeat(290)}`,
    '/dev/null/x',
    'bad',
    'bad-absolute',
    'bad-folder',
    'bad-folder/secret.txt',
    'bad-folder/nothing.txt',
    'bad-folder/deep/../secret.txt',
    'bad-chain/secret.txt',
    'bad-dangling',
    'bad-dangling-chain',
    'sub/up/bad',
  ])('refuse what ends outside, there or not: %s', async (path) => {
    const { inside } = await linkedFolders()
    const { readFile, listFiles, grepFiles } = fileTools({ folder: inside })
    expect(await callText(readFile, { path })).toBe(`Error: ${path} is outside the folder.`)
    expect(await callText(listFiles, { path })).toBe(`Error: ${path} is outside the folder.`)
    expect(await callText(grepFiles, { path, pattern: '.' })).toBe(`Error: ${path} is outside the folder.`)
  })

  it.each([
    ['dangling', 'does not exist.'],
    ['nothing/at/all.txt', 'does not exist.'],
    ['a.txt/b', 'does not exist.'],
    ['x'.repeat(300), 'does not exist.'],
    ['loop', 'is a link that leads back to itself.'],
    ['loop/a.txt', 'is a link that leads back to itself.'],
    ['twice/again/twice', 'is a link that leads back to itself.'],
    ['a\0b', 'holds a NUL character.'],
  ])('say why they cannot read %j', async (path, reason) => {
    const { inside } = await linkedFolders()
    expect(await callText(fileTools({ folder: inside }).readFile, { path })).toBe(
      `Error: ${path.replace('\0', '')} ${reason}`,
    )
  })

  it('take names that begin with two dots for what they are', async () => {
    const folder = await tempFolder({ '..sub/a.txt': 'inside', '...': 'dots' })
    const { readFile } = fileTools({ folder })
    expect(await callText(readFile, { path: '..sub/a.txt' })).toBe('1\tinside')
    expect(await callText(readFile, { path: '...' })).toBe('1\tdots')
  })

  it('refuse paths that are too long for any system', async () => {
    const folder = await tempFolder()
    const text = await callText(fileTools({ folder }).readFile, { path: 'x/'.repeat(100_000) })
    expect(text).toBe(`Error: ${'x/'.repeat(150)} is too long for a path.`)
  })

  it('take absolute paths that end inside', async () => {
    const { inside } = await linkedFolders()
    const { readFile, listFiles } = fileTools({ folder: inside })
    expect(await callText(readFile, { path: join(inside, 'a.txt'), lineNumbers: false })).toBe('text of a')
    expect(await callText(listFiles, { path: join(inside, 'sub') })).toBe('sub/b.txt\nsub/up/')
  })

  it('may have a folder that is itself a link, and paths through that link', async () => {
    const { inside } = await linkedFolders()
    const folder = join(inside, 'good-folder')
    const { readFile } = fileTools({ folder })
    expect(await callText(readFile, { path: 'b.txt', lineNumbers: false })).toBe('text of b')
    expect(await callText(readFile, { path: join(folder, 'b.txt'), lineNumbers: false })).toBe('text of b')
    expect(await callText(readFile, { path: '../a.txt' })).toBe('Error: ../a.txt is outside the folder.')
  })

  it('may have a relative folder, which counts from the working folder that was when they were made', async () => {
    const parent = await tempFolder({ 'in/a.txt': 'text of a' })
    const before = process.cwd()
    process.chdir(parent)
    const { readFile } = fileTools({ folder: 'in' })
    process.chdir(before)
    expect(await callText(readFile, { path: 'a.txt', lineNumbers: false })).toBe('text of a')
  })

  it('may have a folder given as a URL, and one that is made later', async () => {
    const parent = await tempFolder()
    const { readFile } = fileTools({ folder: pathToFileURL(join(parent, 'later')) })
    const path = 'a.txt'
    expect(await callText(readFile, { path })).toBe(
      'Error: The folder of the file tools does not exist or cannot be read.',
    )
    await addFiles(parent, { 'later/a.txt': 'now' })
    expect(await callText(readFile, { path })).toBe('1\tnow')
  })

  it('follow no links while they walk', async () => {
    const { inside } = await linkedFolders()
    const { listFiles, grepFiles } = fileTools({ folder: inside })
    expect(await callText(listFiles, { recursive: true })).toBe(
      [
        'a.txt',
        'again',
        'bad',
        'bad-absolute',
        'bad-chain',
        'bad-dangling',
        'bad-dangling-chain',
        'bad-folder',
        'dangling',
        'good',
        'good-folder/',
        'good-way',
        'loop',
        'loop2',
        'sub/',
        'sub/b.txt',
        'sub/up/',
        'twice',
      ].join('\n'),
    )
    expect(await callText(grepFiles, { pattern: 'text|secret' })).toBe('a.txt:1: text of a\nsub/b.txt:1: text of b')
  })

  it('do not heed an ignore file that is a link', async () => {
    const { inside, outside } = await linkedFolders()
    await addFiles(outside, { rules: '*.txt' })
    await symlink('../out/rules', join(inside, '.gitignore'))
    expect(await callText(fileTools({ folder: inside }).listFiles, { pattern: 'a.txt' })).toBe('a.txt')
  })

  it('may see a whole disk', async () => {
    const { inside } = await linkedFolders()
    expect(await callText(fileTools({ folder: '/' }).readFile, { path: join(inside, 'a.txt') })).toBe('1\ttext of a')
  })

  it('never give a word from outside, whatever the path', async () => {
    const { inside, outside } = await linkedFolders()
    await mkdir(join(inside, '..sub'))
    const { readFile, listFiles, grepFiles } = fileTools({ folder: inside })
    const names = [
      '..',
      '.',
      '',
      'sub',
      'up',
      'in',
      'out',
      'in2',
      'deep',
      'secret.txt',
      'a.txt',
      'bad',
      'bad-folder',
      'bad-chain',
      'good-folder',
      'loop',
      'nothing',
      '..sub',
      '~',
    ]
    const part = fc.oneof(
      { weight: 9, arbitrary: fc.constantFrom(...names, basename(inside)) },
      fc.string({ maxLength: 5 }),
    )
    const paths = fc
      .tuple(fc.constantFrom('', '', '/', `${inside}/`, `${outside}/`, './'), fc.array(part, { maxLength: 7 }))
      .map(([start, parts]) => start + parts.join('/'))
      .filter((path) => path !== '')
    await fc.assert(
      fc.asyncProperty(paths, async (path) => {
        const texts = await Promise.all([
          callText(readFile, { path }),
          callText(listFiles, { path, recursive: true, hidden: true }),
          callText(grepFiles, { path, pattern: 'secret from' }),
        ])
        for (const text of texts) {
          if (text.startsWith('Error: ')) continue
          expect(text).not.toContain(secret)
          expect(text).not.toContain('secret.txt')
        }
      }),
      { numRuns: 400 },
    )
  })

  it('never give a word from outside while a folder is swapped for a link and back', { timeout: 60_000 }, async () => {
    const parent = await tempFolder({ 'in/sub/a.txt': 'text of a', 'out/a.txt': secret, 'out/secret.txt': secret })
    const [inside, sub, kept] = [join(parent, 'in'), join(parent, 'in/sub'), join(parent, 'kept')]
    await symlink('../out', join(parent, 'in/link'))
    const { readFile, listFiles, grepFiles } = fileTools({ folder: inside })
    const over = new AbortController()
    const swapping = (async () => {
      for (let round = 0; !over.signal.aborted; round++) {
        await rename(sub, kept)
        await rename(join(inside, 'link'), sub)
        await rename(sub, join(inside, 'link'))
        await rename(kept, sub)
        // Some reads find the folder at rest, most are cut across.
        for (let rest = round % 16; rest > 0; rest--) await stat(sub)
      }
    })()
    const texts = new Set<string>()
    for (let tries = 0; tries < 200; tries++) {
      const calls = [
        callText(readFile, { path: 'sub/a.txt' }),
        callText(grepFiles, { pattern: '.', path: 'sub' }),
        callText(listFiles, { path: 'sub' }),
      ]
      for (const text of await Promise.all(calls)) texts.add(text)
    }
    over.abort()
    await swapping
    expect([...texts].filter((text) => text.includes('secret'))).toEqual([])
    expect([...texts]).toEqual(expect.arrayContaining(['1\ttext of a', 'sub/a.txt']))
  })

  it.each([
    [{}, 'folder: '],
    [{ folder: '' }, 'folder: '],
    [{ folder: 'docs', writable: true }, 'writable: no such field is known'],
    [undefined, 'expected object'],
  ])('are not made of %j', (options, message) => {
    expect(() => fileTools(options as unknown as FileToolsOptions)).toThrow(
      expect.objectContaining({ code: 'invalid-argument', message: expect.stringContaining(message) }),
    )
  })

  it('are pure', () => {
    const tools = Object.values(fileTools({ folder: '.' }))
    expect(tools.map(({ declaration }) => [declaration.name, declaration.restart])).toEqual([
      ['read_file', 'pure'],
      ['list_files', 'pure'],
      ['grep_files', 'pure'],
    ])
  })
})
