import { execFileSync } from 'node:child_process'
import {
  chmod,
  chown,
  type FileHandle,
  link,
  lstat,
  open,
  readFile,
  stat,
  symlink,
  truncate,
  utimes,
  writeFile,
} from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import type { Json } from 'entia'
import { addFiles, tempFolder } from '../../tools/temp-folder.ts'
import { handlesIn } from '../../tools/calling.ts'
import { toolsIn } from './tools-in.ts'

const numbered = (count: number): string => Array.from({ length: count }, (_, index) => `line ${index + 1}\n`).join('')

/** What all open files are made of. */
async function fileHandles(path: string): Promise<FileHandle> {
  await using handle = await open(path)
  return Object.getPrototypeOf(handle) as FileHandle
}

describe('read_file', () => {
  it('shows the first 2,000 lines of 57,312 and says so; exactly 2,000 lines have no note', async () => {
    const call = toolsIn(await tempFolder({ 'long.txt': numbered(57_312), 'exact.txt': numbered(2_000) }))
    const lines = (await call('read_file', { path: 'long.txt', lineNumbers: false })).split('\n')
    expect(lines).toHaveLength(2_001)
    expect(lines.slice(-2)).toEqual(['line 2000', '[lines 1-2000 of 57312; read on with from=2001]'])
    expect(await call('read_file', { path: 'exact.txt', lineNumbers: false })).toBe(numbered(2_000).trimEnd())
  })

  it('of 1 GB shows the beginning without counting its lines, and costs what it shows', async () => {
    const folder = await tempFolder({ 'big.txt': numbered(1_000_000) })
    await truncate(join(folder, 'big.txt'), 1_000_000_000)
    const call = toolsIn(folder)
    const read = vi.spyOn(await fileHandles(join(folder, 'big.txt')), 'read')
    onTestFinished(() => read.mockRestore())
    const text = await call('read_file', { path: 'big.txt', lineNumbers: false })
    expect(text.endsWith('line 2000\n[lines 1-2000; 1.0 GB; read on with from=2001]')).toBe(true)
    expect(read.mock.calls.length).toBeLessThan(10)
  })

  it('reads any path: absolute, above the working folder, in the home folder, through a link', async () => {
    const home = await tempFolder({ 'app/a.ts': 'in the folder', 'other/b.ts': 'beside it' })
    await symlink(join(home, 'other'), join(home, 'app/link'))
    const call = toolsIn(join(home, 'app'), { home })
    for (const path of ['../other/b.ts', '~/other/b.ts', join(home, 'other/b.ts'), 'link/b.ts'])
      expect(await call('read_file', { path, lineNumbers: false })).toBe('beside it')
    expect(await call('read_file', { path: '~x' })).toBe('Error: ~x does not exist.')
  })

  it('refuses what no text can be read of', async () => {
    const folder = await tempFolder({ 'sub/a': '', 'a.bin': Buffer.from('text\0more') })
    execFileSync('mkfifo', [join(folder, 'pipe')])
    const call = toolsIn(folder)
    expect(await call('read_file', { path: 'pipe' })).toBe('Error: pipe is no regular file.')
    expect(await call('read_file', { path: '/dev/zero' })).toBe('Error: /dev/zero is no regular file.')
    expect(await call('read_file', { path: 'a.bin' })).toBe('Error: a.bin is a binary file.')
    expect(await call('read_file', { path: 'a\0b' })).toBe('Error: ab holds a NUL character.')
    expect(await call('read_file', { path: 'x'.repeat(10_000) })).toBe(
      `Error: ${'x'.repeat(300)} is too long for a path.`,
    )
    expect(await call('read_file', { path: 'sub' })).toBe('Error: sub is a folder, not a file.')
  })
})

describe('write_file', () => {
  it('makes a file and its folders, then replaces it, and says which and how many bytes', async () => {
    const folder = await tempFolder()
    const call = toolsIn(folder)
    expect(await call('write_file', { path: 'a/b/c.txt', content: 'häß' })).toBe('Wrote 5 bytes to a/b/c.txt (new).')
    expect(await call('write_file', { path: 'a/b/c.txt', content: '' })).toBe('Wrote 0 bytes to a/b/c.txt (replaced).')
    expect(await readFile(join(folder, 'a/b/c.txt'), 'utf8')).toBe('')
  })

  it('keeps the mode of a file and writes through links, those that lead nowhere yet too', async () => {
    const folder = await tempFolder({ 'run.sh': 'old' })
    await chmod(join(folder, 'run.sh'), 0o750)
    await symlink('run.sh', join(folder, 'link'))
    await symlink('later.txt', join(folder, 'dangling'))
    const call = toolsIn(folder)
    await call('write_file', { path: 'link', content: 'new' })
    await call('write_file', { path: 'dangling', content: 'made' })
    expect((await lstat(join(folder, 'link'))).isSymbolicLink()).toBe(true)
    expect(await readFile(join(folder, 'run.sh'), 'utf8')).toBe('new')
    expect((await stat(join(folder, 'run.sh'))).mode & 0o777).toBe(0o750)
    expect(await readFile(join(folder, 'later.txt'), 'utf8')).toBe('made')
  })

  it('refuses a file that was read and then changed outside, until it is read again', async () => {
    const folder = await tempFolder({ 'a.txt': 'one', 'unread.txt': 'one' })
    const call = toolsIn(folder)
    await call('read_file', { path: 'a.txt' })
    await addFiles(folder, { 'a.txt': 'two', 'unread.txt': 'two' })
    const refusal = 'Error: a.txt changed since it was last read. Read it again.'
    expect(await call('write_file', { path: 'a.txt', content: 'mine' })).toBe(refusal)
    expect(await call('replace_in_file', { path: 'a.txt', old: 'two', new: 'mine' })).toBe(refusal)
    expect(await readFile(join(folder, 'a.txt'), 'utf8')).toBe('two')
    expect(await call('write_file', { path: 'unread.txt', content: 'mine' })).toMatch('replaced')
    await call('read_file', { path: 'a.txt' })
    expect(await call('write_file', { path: 'a.txt', content: 'mine' })).toMatch('replaced')
    expect(await call('write_file', { path: 'a.txt', content: 'mine again' })).toMatch('replaced')
  })

  it('sees a change of the same size whose time was set back', async () => {
    const folder = await tempFolder({ 'a.txt': 'one' })
    const call = toolsIn(folder)
    await call('read_file', { path: 'a.txt' })
    const { atime, mtime } = await stat(join(folder, 'a.txt'))
    await writeFile(join(folder, 'a.txt'), 'two')
    await utimes(join(folder, 'a.txt'), atime, mtime)
    expect(await call('write_file', { path: 'a.txt', content: '' })).toMatch('changed since it was last read')
  })

  it('makes a file anew that was read and then removed', async () => {
    const folder = await tempFolder({ 'a.txt': 'one' })
    const call = toolsIn(folder)
    await call('read_file', { path: 'a.txt' })
    execFileSync('rm', [join(folder, 'a.txt')])
    expect(await call('write_file', { path: 'a.txt', content: 'x' })).toBe('Wrote 1 bytes to a.txt (new).')
  })

  it('refuses folders, pipes, devices, and paths that lead through a file', async () => {
    const folder = await tempFolder({ 'sub/a': '' })
    execFileSync('mkfifo', [join(folder, 'pipe')])
    const call = toolsIn(folder)
    expect(await call('write_file', { path: 'sub', content: '' })).toBe('Error: sub is a folder.')
    expect(await call('write_file', { path: 'pipe', content: '' })).toBe('Error: pipe is no regular file.')
    expect(await call('write_file', { path: '/dev/null', content: '' })).toBe('Error: /dev/null is no regular file.')
    expect(await call('write_file', { path: 'sub/a/b', content: '' })).toMatch(/^Error: sub\/a\/b /)
    expect(await call('write_file', { path: 'x/'.repeat(5_000), content: '' })).toMatch('is too long for a path.')
  })
})

describe('a file that is written over', () => {
  it.for<[what: string, before: string, content: string, after: string, keeps?: string]>([
    ['CRLF', 'a\r\nb\r\n', 'a\nX\nb\n', 'a\r\nX\r\nb\r\n', 'CRLF line ends'],
    ['LF', 'a\nb\n', 'a\nX\n', 'a\nX\n'],
    ['a byte order mark', '\ufeffa\n', 'b\n', '\ufeffb\n', 'the byte order mark'],
    ['a byte order mark that is given', '\ufeffa\n', '\ufeffb\n', '\ufeffb\n'],
    ['a newline at its end', 'a\nb\n', 'a\nc', 'a\nc\n', 'the newline at its end'],
    ['no newline at its end', 'a', 'b', 'b'],
    ['line ends that are given', 'a\nb\n', 'a\r\nb\r\n', 'a\r\nb\r\n'],
    [
      'all of it',
      '\ufeffa\r\nb\r\n',
      'b',
      '\ufeffb\r\n',
      'CRLF line ends, the newline at its end, the byte order mark',
    ],
    [
      'mixed line ends',
      'a\nb\r\nc\nd\r\ne\n',
      'new\na\nb\nX\nd\nY\ne\n',
      'new\na\nb\r\nX\nd\r\nY\r\ne\n',
      'mixed line ends',
    ],
    ['CR', 'a\rb\r', 'a\nX', 'a\rX\r', 'CR line ends, the newline at its end'],
    ['CR that is given', 'a\nb\n', 'a\rb', 'a\rb\r'],
    ['nothing', '', 'a\r\nb', 'a\r\nb'],
  ])('keeps %s, on the second write too, and says so', async ([, before, content, after, keeps]) => {
    const folder = await tempFolder({ 'a.txt': before })
    const call = toolsIn(folder)
    const expected = `(replaced).${keeps === undefined ? '' : ` It keeps ${keeps}.`}`
    expect(await call('write_file', { path: 'a.txt', content })).toContain(expected)
    expect(await readFile(join(folder, 'a.txt'), 'utf8')).toBe(after)
    await call('write_file', { path: 'a.txt', content: `first\n${content}` })
    expect(await readFile(join(folder, 'a.txt'), 'utf8')).toMatch(/^\ufeff?first[\r\n]/)
    await call('write_file', { path: 'a.txt', content })
    expect(await readFile(join(folder, 'a.txt'), 'utf8')).toBe(after)
  })

  it('keeps UTF-16', async () => {
    const folder = await tempFolder({ 'a.txt': Buffer.from('\ufeffold\r\n', 'utf16le') })
    const said = await toolsIn(folder)('write_file', { path: 'a.txt', content: 'new\n' })
    expect(said).toBe(
      'Wrote 12 bytes to a.txt (replaced). It keeps CRLF line ends, the byte order mark, its encoding, UTF-16LE.',
    )
    expect(await readFile(join(folder, 'a.txt'))).toEqual(Buffer.from('\ufeffnew\r\n', 'utf16le'))
  })

  it('keeps its line ends where its encoding is not known, and is in UTF-8 then', async () => {
    const folder = await tempFolder({ 'a.txt': Buffer.from('s\u00fc\u00df\r\nb\r\n', 'latin1') })
    const said = await toolsIn(folder)('write_file', { path: 'a.txt', content: 's\u00fc\u00df\nc\n' })
    expect(said).toMatch(/\(replaced\)\. It keeps CRLF line ends\. It was not in UTF-8 before, and is now\.$/)
    expect(await readFile(join(folder, 'a.txt'), 'utf8')).toBe('s\u00fc\u00df\r\nc\r\n')
  })

  it.for<[string, (text: string) => Buffer]>([
    ['UTF-16LE', (text) => Buffer.from(text, 'utf16le')],
    ['UTF-16BE', (text) => Buffer.from(text, 'utf16le').swap16()],
  ])('keeps %s without a byte order mark', async ([encoding, encoded]) => {
    const folder = await tempFolder({ 'a.txt': encoded('one\r\nGr\u00fc\u00dfe \ud83d\udc1d\r\nthree\r\n') })
    const call = toolsIn(folder)
    expect(await call('read_file', { path: 'a.txt' })).toBe('1\tone\n2\tGr\u00fc\u00dfe \ud83d\udc1d\n3\tthree')
    await call('replace_in_file', { path: 'a.txt', old: 'one\nGr', new: '1\n2\nGr' })
    const after = '1\r\n2\r\nGr\u00fc\u00dfe \ud83d\udc1d\r\nthree\r\n'
    expect(await readFile(join(folder, 'a.txt'))).toEqual(encoded(after))
    expect(await call('write_file', { path: 'a.txt', content: 'all\nnew\n' })).toBe(
      `Wrote 20 bytes to a.txt (replaced). It keeps CRLF line ends, its encoding, ${encoding}.`,
    )
    expect(await readFile(join(folder, 'a.txt'))).toEqual(encoded('all\r\nnew\r\n'))
  })

  it.for<[string, Buffer]>([
    ['a program', Buffer.from([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0x3e, 0])],
    ['numbers of two bytes', Buffer.from(new Uint16Array([1, 2, 3, 5, 8, 13, 21, 34]).buffer)],
    ['text with a NUL in it', Buffer.from('some text\0more of it')],
    ['UTF-16 without a mark that is cut', Buffer.from('one two three', 'utf16le').subarray(0, -1)],
    ['UTF-16 without a mark in half a pair', Buffer.from('one two \ud83d three', 'utf16le')],
    ['Chinese in UTF-16 without a mark', Buffer.from('\u4f60\u597d\u4e16\u754c\n\u4f60\u597d', 'utf16le')],
  ])('is said to be binary where that is what it was: %s', async ([, bytes]) => {
    const folder = await tempFolder({ a: bytes })
    const call = toolsIn(folder)
    expect(await call('replace_in_file', { path: 'a', old: 'o', new: 'x' })).toBe('Error: a is a binary file.')
    expect(await readFile(join(folder, 'a'))).toEqual(bytes)
    expect(await call('write_file', { path: 'a', content: 'x' })).toBe(
      'Wrote 1 bytes to a (replaced). It was a binary file before.',
    )
  })

  it('of more than 64 MB keeps nothing of its form, and the model reads that', async () => {
    const folder = await tempFolder({ 'a.txt': 'one\r\n' })
    await truncate(join(folder, 'a.txt'), 64 * 1024 * 1024 + 1)
    expect(await toolsIn(folder)('write_file', { path: 'a.txt', content: 'new\n' })).toBe(
      'Wrote 4 bytes to a.txt (replaced). It was too large to keep its line ends and its encoding.',
    )
  })

  it.for([0o444, 0o400, 0o555])('is left alone where its user has made it read-only: mode %o', async (mode) => {
    const folder = await tempFolder({ 'a.txt': 'one\n' })
    await chmod(join(folder, 'a.txt'), mode)
    await symlink('a.txt', join(folder, 'link'))
    const call = toolsIn(folder)
    const refused = `is read-only (mode 0${mode.toString(8)}). If it is to be changed, make it writable first.`
    for (const path of ['a.txt', 'link']) {
      expect(await call('write_file', { path, content: 'two\n' })).toBe(`Error: ${path} ${refused}`)
      expect(await call('replace_in_file', { path, old: 'one', new: 'two' })).toBe(`Error: ${path} ${refused}`)
    }
    expect(await readFile(join(folder, 'a.txt'), 'utf8')).toBe('one\n')
    await chmod(join(folder, 'a.txt'), 0o644)
    expect(await call('write_file', { path: 'a.txt', content: 'two\n' })).toMatch(/^Wrote 4 bytes/)
  })

  it.for(['write_file', 'replace_in_file'])(
    'keeps its mode and its other names after two calls of %s',
    async (tool) => {
      const folder = await tempFolder({ 'run.sh': 'echo 1\n' })
      await link(join(folder, 'run.sh'), join(folder, 'other.sh'))
      await chmod(join(folder, 'run.sh'), 0o755)
      const call = toolsIn(folder)
      let old = 'echo 1'
      for (const next of ['echo 22', 'e']) {
        await call(
          tool,
          tool === 'write_file' ? { path: 'run.sh', content: `${next}\n` } : { path: 'run.sh', old, new: next },
        )
        expect(await readFile(join(folder, 'other.sh'), 'utf8')).toBe(`${next}\n`)
        old = next
      }
      expect((await stat(join(folder, 'run.sh'))).mode & 0o7777).toBe(0o755)
    },
  )

  it.runIf(process.getuid?.() === 0)('keeps its owner', async () => {
    const folder = await tempFolder({ 'a.txt': 'one\n' })
    await chown(join(folder, 'a.txt'), 1_234, 1_235)
    const call = toolsIn(folder)
    await call('write_file', { path: 'a.txt', content: 'two\n' })
    await call('replace_in_file', { path: 'a.txt', old: 'two', new: 'three' })
    expect(await stat(join(folder, 'a.txt'))).toMatchObject({ uid: 1_234, gid: 1_235 })
  })

  it('is left alone where nothing would change, and the model reads that', async () => {
    const folder = await tempFolder({ 'a.txt': 'one\r\ntwo\r\n' })
    const before = await stat(join(folder, 'a.txt'), { bigint: true })
    const call = toolsIn(folder)
    expect(await call('write_file', { path: 'a.txt', content: 'one\ntwo' })).toBe(
      'Nothing was changed: a.txt has this content already.',
    )
    expect(await call('replace_in_file', { path: 'a.txt', old: 'one', new: 'one' })).toMatch(
      /^Nothing was changed: a\.txt /,
    )
    expect(await call('replace_in_file', { path: 'a.txt', old: 'one\r\n', new: 'one\n' })).toMatch(
      /^Nothing was changed/,
    )
    const { ctimeNs, ino, mtimeNs } = await stat(join(folder, 'a.txt'), { bigint: true })
    expect({ ctimeNs, ino, mtimeNs }).toEqual({ ctimeNs: before.ctimeNs, ino: before.ino, mtimeNs: before.mtimeNs })
  })
})

describe('replace_in_file', () => {
  it('called twice in one step keeps both changes, by whichever name of the file', async () => {
    const folder = await tempFolder({ 'a.txt': 'a b c\n' })
    await symlink('a.txt', join(folder, 'link'))
    const call = toolsIn(folder)
    const edits = [
      call('replace_in_file', { path: 'a.txt', old: 'a', new: 'A' }),
      call('replace_in_file', { path: 'a.txt', old: 'missing', new: '' }),
      call('replace_in_file', { path: 'link', old: 'b', new: 'B' }),
      call('replace_in_file', { path: './a.txt', old: 'c', new: 'C' }),
    ]
    expect((await Promise.all(edits)).map((text) => text.slice(0, 6))).toEqual(['--- a.', 'Error:', '--- li', '--- ./'])
    expect(await readFile(join(folder, 'a.txt'), 'utf8')).toBe('A B C\n')
  })

  it('gives a diff of what it replaced', async () => {
    const folder = await tempFolder({ 'a.txt': 'one\ntwo\nthree\n' })
    expect(await toolsIn(folder)('replace_in_file', { path: 'a.txt', old: 'two', new: '$& 2' })).toBe(
      '--- a.txt\n+++ a.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+$& 2\n three',
    )
    expect(await readFile(join(folder, 'a.txt'), 'utf8')).toBe('one\n$& 2\nthree\n')
  })

  it('with 0 or 2 matches is an error with the count, and leaves the file; with all both are replaced', async () => {
    const folder = await tempFolder({ 'a.txt': 'x\ny x\n' })
    const call = toolsIn(folder)
    expect(await call('replace_in_file', { path: 'a.txt', old: 'z', new: '' })).toBe(
      'Error: a.txt has 0 matches for old. Read the file and copy the text exactly.',
    )
    expect(await call('replace_in_file', { path: 'a.txt', old: 'x', new: 'z' })).toBe(
      'Error: a.txt has 2 matches for old, in lines 1, 2. Give more of the text around it, or all=true.',
    )
    expect(await readFile(join(folder, 'a.txt'), 'utf8')).toBe('x\ny x\n')
    await call('replace_in_file', { path: 'a.txt', old: 'x', new: 'z', all: true })
    expect(await readFile(join(folder, 'a.txt'), 'utf8')).toBe('z\ny z\n')
  })

  it.each([
    ['CRLF', 'a\r\nb\r\nc\r\n', 'a\r\nX\r\nY\r\nc\r\n'],
    ['LF', 'a\nb\nc\n', 'a\nX\nY\nc\n'],
    ['a byte order mark', '\ufeffa\r\nb\r\nc', '\ufeffa\r\nX\r\nY\r\nc'],
    ['CR', 'a\rb\rc\r', 'a\rX\rY\rc\r'],
    ['both', 'a\nb\r\nc\nd\r\n', 'a\nX\nY\r\nc\nd\r\n'],
    ['both, the other way round', 'z\na\r\nb\nc\r\n', 'z\na\r\nX\r\nY\nc\r\n'],
  ])('keeps the line ends of a file with %s', async (_, before, after) => {
    const folder = await tempFolder({ 'a.txt': before })
    await toolsIn(folder)('replace_in_file', { path: 'a.txt', old: 'a\nb', new: 'a\nX\nY' })
    expect(await readFile(join(folder, 'a.txt'), 'utf8')).toBe(after)
  })

  it('edits UTF-16 with a byte order mark, and refuses what is no text', async () => {
    const little = Buffer.from('\ufeffold\r\n', 'utf16le')
    const files = { 'le.txt': little, 'be.txt': Buffer.from(little).swap16(), 'latin1.txt': Buffer.from([0xe4, 0x6f]) }
    const folder = await tempFolder({ ...files, 'a.bin': 'old\0' })
    const call = toolsIn(folder)
    for (const path of ['le.txt', 'be.txt']) await call('replace_in_file', { path, old: 'old', new: 'new' })
    expect(await readFile(join(folder, 'le.txt'))).toEqual(Buffer.from('\ufeffnew\r\n', 'utf16le'))
    expect(await readFile(join(folder, 'be.txt'))).toEqual(Buffer.from('\ufeffnew\r\n', 'utf16le').swap16())
    for (const path of ['a.bin', 'latin1.txt'])
      expect(await call('replace_in_file', { path, old: 'o', new: '' })).toBe(`Error: ${path} is a binary file.`)
    await truncate(join(folder, 'a.bin'), 10_000_000_000)
    expect(await call('replace_in_file', { path: 'a.bin', old: 'o', new: '' })).toBe(
      'Error: a.bin is larger than 64 MB.',
    )
  })

  it('gives the beginning of a long diff, and a handle for all of it', async () => {
    const folder = await tempFolder({ 'a.txt': `${'x'.repeat(300)}\n`.repeat(200) })
    const kept: Json[] = []
    const request = { path: 'a.txt', old: 'x'.repeat(300), new: 'y', all: true }
    const text = await toolsIn(folder)('replace_in_file', request, { handles: handlesIn(kept) })
    const [, leftOut] = /\n\[(\d+) characters left out; all of it: \.h_001\]$/.exec(text) ?? []
    expect(text.lastIndexOf('\n[')).toBe(50_000)
    expect(kept).toEqual([expect.objectContaining({ length: 50_000 + Number(leftOut) })])
  })
})
