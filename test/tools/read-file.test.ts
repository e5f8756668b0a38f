import { truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileTools, type Json, type ToolContext } from 'entia'
import { describe, expect, it } from 'vitest'
import { callText, callTool } from './calling.ts'
import { addSocket, tempFolder } from './temp-folder.ts'

/** Reads a file of a folder that holds nothing else. */
async function read(
  content: string | Uint8Array,
  input: Record<string, Json> = {},
  changes: Partial<ToolContext> = {},
) {
  const folder = await tempFolder({ 'a.txt': content })
  return callText(fileTools({ folder }).readFile, { path: 'a.txt', ...input }, changes)
}

const numbered = (count: number): string => Array.from({ length: count }, (_, index) => `line ${index + 1}\n`).join('')

describe('read_file', () => {
  it('gives the lines of a file with their numbers', async () => {
    expect(await read('one\n\n  three')).toBe('1\tone\n2\t\n3\t  three')
  })

  it('gives the bare lines when asked', async () => {
    expect(await read('one\ntwo\n', { lineNumbers: false })).toBe('one\ntwo')
  })

  it('gives the part that is asked for, and says where it is and how to read on', async () => {
    expect(await read(numbered(9), { from: 4, lines: 2 })).toBe(
      '4\tline 4\n5\tline 5\n[lines 4-5 of 9; read on with from=6]',
    )
    expect(await read(numbered(9), { from: 9 })).toBe('9\tline 9\n[lines 9-9 of 9]')
    expect(await read(numbered(9), { lines: 9 })).not.toContain('[')
  })

  it('gives 2,000 lines at most', async () => {
    const text = await read(numbered(57_312), { lineNumbers: false })
    expect(text.split('\n')).toHaveLength(2_001)
    expect(text.endsWith('line 2000\n[lines 1-2000 of 57312; read on with from=2001]')).toBe(true)
    expect(await read(numbered(2_000))).not.toContain('[')
  })

  it('gives no more lines than fit under the cap, and says so', async () => {
    const text = await read(`${'x'.repeat(999)}\n`.repeat(100), { lineNumbers: false })
    expect(text.length).toBeLessThanOrEqual(50_000)
    expect(text.endsWith('x\n[lines 1-49 of 100; read on with from=50]')).toBe(true)
  })

  it('cuts a line at 2,000 characters and says how many are missing', async () => {
    expect(await read(`${'x'.repeat(2_000)}\n${'y'.repeat(2_007)}\r\n`, { lineNumbers: false })).toBe(
      `${'x'.repeat(2_000)}\n${'y'.repeat(2_000)} [7 characters left out]`,
    )
  })

  it('does not split a surrogate pair', async () => {
    const text = await read(`${'x'.repeat(1_999)}\u{1f600}`, { lineNumbers: false })
    expect(text).toBe(`${'x'.repeat(1_999)} [2 characters left out]`)
    expect(await read(`${'x'.repeat(1_998)}\u{1f600}`, { lineNumbers: false })).toBe(`${'x'.repeat(1_998)}\u{1f600}`)
  })

  it('says so of an empty file', async () => {
    expect(await read('')).toBe('[empty file]')
    expect(await read('\n')).toBe('1\t')
  })

  it('refuses to begin past the end', async () => {
    expect(await read(numbered(3), { from: 4 })).toBe('Error: a.txt has 3 lines; from=4 is past its end.')
    expect(await read('', { from: 2 })).toBe('Error: a.txt has 0 lines; from=2 is past its end.')
  })

  it('refuses folders, binary files and what is no file', async () => {
    const folder = await tempFolder({
      'sub/a.txt': '',
      'a.bin': Buffer.from('text\0more'),
      'late.txt': `${'x'.repeat(9_000)}\0y`,
    })
    await addSocket(join(folder, 'socket'))
    const { readFile } = fileTools({ folder })
    expect(await callText(readFile, { path: 'sub' })).toBe('Error: sub is a folder, not a file.')
    expect(await callText(readFile, { path: 'a.bin' })).toBe('Error: a.bin is a binary file.')
    expect(await callText(readFile, { path: 'socket' })).toBe('Error: socket is no regular file.')
    expect(await callText(readFile, { path: 'late.txt' })).toMatch(/ \[7002 characters left out\]$/)
    expect(await callTool(readFile, { path: 'sub' })).toMatchObject({ isError: true })
  })

  it('reads UTF-8 with and without a byte order mark, and UTF-16 with one', async () => {
    const text = 'häß\n\u{1f600}'
    const little = Buffer.from(`\ufeff${text}`, 'utf16le')
    const big = Buffer.from(little).swap16()
    for (const bytes of [Buffer.from(text), Buffer.from(`\ufeff${text}`), little, big]) {
      expect(await read(bytes, { lineNumbers: false })).toBe(text)
    }
  })

  it('takes out NUL, terminal codes and control characters, but leaves tabs', async () => {
    expect(
      await read(`${'\n'.repeat(8_192)}a\tb\0c\u001b[31mred\u001b[0m\u0007d\re\u009bf`, {
        from: 8_193,
        lineNumbers: false,
      }),
    ).toBe('a\tbcredde\n[lines 8193-8193 of 8193]')
  })

  it('ends lines at CR LF as well', async () => {
    expect(await read('a\r\nb\r\n', { lineNumbers: false })).toBe('a\nb')
  })

  it('ends lines at CR where there is nothing else', async () => {
    expect(await read('a\rb\r\rc')).toBe('1\ta\n2\tb\n3\t\n4\tc')
    expect(await read('a\r', { lineNumbers: false })).toBe('a')
    expect(await read('10 %\r20 %\rdone\n', { lineNumbers: false })).toBe('10 %20 %done')
  })

  it('joins lines and characters that stand across the pieces it reads', async () => {
    // Three bytes a character and a prime line length: the borders of pieces fall anywhere.
    const lines = Array.from({ length: 2_000 }, (_, index) => `${index} ${'€'.repeat(index % 397)}`)
    const content = `${lines.join('\r\n')}\r\n`
    for (let from = 1; from <= 2_000; from += 100) {
      expect(await read(content, { from, lines: 100, lineNumbers: false })).toContain(
        lines.slice(from - 1, from + 99).join('\n'),
      )
    }
  })

  it('reads no more of a file above 64 MB than it shows, tells how far it is, and stops on cancel', async () => {
    const folder = await tempFolder({ 'big.txt': 'first\n' })
    // A sparse file: one line of 200 MB of NUL behind the first 8 kB.
    await writeFile(join(folder, 'big.txt'), 'first\n'.repeat(2_000))
    await truncate(join(folder, 'big.txt'), 200_000_000)
    const { readFile } = fileTools({ folder })
    const told: [string, number | undefined][] = []
    const progress = (message: string, fraction?: number): void => void told.push([message, fraction])
    const before = process.memoryUsage().rss
    expect(await callText(readFile, { path: 'big.txt', lines: 1 }, { progress })).toBe(
      '1\tfirst\n[lines 1-1; 200.0 MB; read on with from=2]',
    )
    expect(told).toEqual([])
    expect(await callText(readFile, { path: 'big.txt', from: 2_001 }, { progress })).toBe(
      'Error: big.txt (200.0 MB) cannot be read there: line 2001 is longer than 64 MB.',
    )
    expect(process.memoryUsage().rss - before).toBeLessThan(100_000_000)
    expect(told.map(([message]) => message)).toEqual(['read 67 MB'])
    const reason = new Error('enough')
    const stop = new AbortController()
    await expect(
      callTool(readFile, { path: 'big.txt', from: 2_001 }, { signal: stop.signal, progress: () => stop.abort(reason) }),
    ).rejects.toBe(reason)
  })

  it.each([
    [{ from: 0 }, 'from'],
    [{ from: 1.5 }, 'from'],
    [{ lines: 2_001 }, 'lines'],
    [{ encoding: 'latin1' }, 'encoding'],
    [{ path: '' }, 'path'],
  ])('is wrongly called with %j', async (input, field) => {
    expect(await read('a', input)).toMatch(new RegExp(`^Error: Invalid arguments for 'read_file': ${field}: `))
  })
})
