import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmod, mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import fc from 'fast-check'
import { describe, expect, it, onTestFinished } from 'vitest'
import { artifactIdOf, folderRecords, recordPathOf, worldRecords } from '../../src/engine/children/session-records.ts'
import { memoryStore } from '../../src/stores/memory.ts'
import { type Records, storeRecords } from '../../src/stores/records.ts'
import { sqliteStore } from '../../src/stores/sqlite.ts'
import { World } from '../../src/world/world.ts'
import { addFiles, tempFolder } from '../tools/temp-folder.ts'

const key = recordPathOf(artifactIdOf('world', 'session-0', 'result'))

const kinds: readonly { name: string; make: () => Promise<Records> }[] = [
  { name: 'memory', make: async () => worldRecords(new World()) },
  { name: 'a store in memory', make: async () => storeRecords(memoryStore(), 'root') },
  {
    name: 'a store in SQLite',
    make: async () => {
      const store = sqliteStore({ folder: await tempFolder(), synchronous: 'normal' })
      onTestFinished(() => store.close())
      return storeRecords(store, 'root')
    },
  },
  { name: 'a folder', make: async () => folderRecords(join(await tempFolder(), 'artifacts')) },
]

/** Reads a record part by part, as a model does. */
async function inParts(records: Records, maxBytes: number): Promise<string[]> {
  const parts: string[] = []
  for (let offset: number | null = 0; offset !== null;) {
    const part = await records.get(key, { offset, maxBytes })
    parts.push(part?.text ?? '')
    offset = part?.nextOffset ?? null
  }
  return parts
}

describe.each(kinds)('a record in $name', ({ make }) => {
  it('comes back whole under its key, with its size in bytes', async () => {
    const records = await make()
    await records.put(key, 'Grüße, 世界 🦀\r\n\0')
    const sizeBytes = Buffer.byteLength('Grüße, 世界 🦀\r\n\0')
    expect(await records.get(key)).toEqual({ text: 'Grüße, 世界 🦀\r\n\0', nextOffset: null, sizeBytes })
    expect(await records.get(`${key}0`)).toBeUndefined()
    expect(await records.get('scratchbook')).toBeUndefined()
    expect(await records.get(`${key}/below`)).toBeUndefined()
  })

  it('may be empty, may be kept again, and is replaced by another under its key', async () => {
    const records = await make()
    for (const text of ['', 'first', 'first', 'second']) {
      await records.put(key, text)
      expect(await records.get(key)).toEqual({ text, nextOffset: null, sizeBytes: text.length })
    }
  })

  it('may be 10 MB long, and is read in parts', async () => {
    const records = await make()
    const text = 'ten bytes\n'.repeat(1_000_000)
    await records.put(key, text)
    expect((await records.get(key))?.text === text).toBe(true)
    expect(await records.get(key, { offset: 9_991_808, maxBytes: 8192 })).toMatchObject({ nextOffset: null })
    expect(await records.get(key, { offset: 5_000_000, maxBytes: 8192 })).toEqual({
      text: text.slice(0, 8192),
      nextOffset: 5_008_192,
      sizeBytes: 10_000_000,
    })
  })

  it('of 8192 bytes is one part, and one of 8193 two', async () => {
    const records = await make()
    await records.put(key, `${'x'.repeat(8190)}é`)
    expect(await records.get(key, { maxBytes: 8192 })).toMatchObject({ nextOffset: null, sizeBytes: 8192 })
    await records.put(key, `${'x'.repeat(8191)}é`)
    expect(await records.get(key, { maxBytes: 8192 })).toEqual({
      text: 'x'.repeat(8191),
      nextOffset: 8191,
      sizeBytes: 8193,
    })
    expect(await records.get(key, { offset: 8191, maxBytes: 8192 })).toMatchObject({ text: 'é', nextOffset: null })
  })

  it('is read from the next whole character on where the offset lies within one', async () => {
    const records = await make()
    await records.put(key, 'a🦀b')
    const texts = async (maxBytes?: number) =>
      Promise.all([0, 1, 2, 3, 4, 5, 6, 99].map(async (offset) => (await records.get(key, { offset, maxBytes }))?.text))
    expect(await texts()).toEqual(['a🦀b', '🦀b', 'b', 'b', 'b', 'b', '', ''])
    expect(await texts(4)).toEqual(['a', '🦀', 'b', 'b', 'b', 'b', '', ''])
    expect(await records.get(key, { offset: 2, maxBytes: 4 })).toEqual({ text: 'b', nextOffset: null, sizeBytes: 6 })
    expect(await records.get(key, { offset: 99 })).toEqual({ text: '', nextOffset: null, sizeBytes: 6 })
  })

  it('is the same in parts as in one, no part longer than it may be, whatever characters it has', async () => {
    const records = await make()
    const someText = fc.string({ unit: 'binary', maxLength: 60 })
    await fc.assert(
      fc.asyncProperty(someText, fc.integer({ min: 4, max: 20 }), async (text, maxBytes) => {
        await records.put(key, text)
        const parts = await inParts(records, maxBytes)
        expect(parts.join('')).toBe(text)
        expect(Math.max(...parts.map((part) => Buffer.byteLength(part)))).toBeLessThanOrEqual(maxBytes)
        for (const part of parts.slice(0, -1)) expect(Buffer.byteLength(part)).toBeGreaterThan(maxBytes - 4)
      }),
      { numRuns: 30 },
    )
  })

  it('holds U+FFFD in place of half a surrogate pair', async () => {
    const records = await make()
    await records.put(key, 'a\ud83e')
    expect(await records.get(key)).toEqual({ text: 'a\ufffd', nextOffset: null, sizeBytes: 4 })
  })

  it.each([
    '',
    '/etc/passwd',
    '../up',
    'a/../../up',
    'a/./b',
    'a//b',
    'a/',
    '.',
    'a\\..\\b',
    'C:/a',
    'a\0b',
    'a\ud800',
  ])('is refused under the key %j', async (badKey) => {
    const records = await make()
    const refused = { name: 'EntiaError', code: 'invalid-argument' }
    await expect(records.put(badKey, 'text')).rejects.toMatchObject(refused)
    await expect(records.get(badKey)).rejects.toMatchObject(refused)
  })

  it.each([{ offset: -1 }, { offset: 0.5 }, { maxBytes: 3 }, { maxBytes: NaN }, { offset: 0, length: 3 }])(
    'is refused with the range %j',
    async (range) => {
      const records = await make()
      await records.put(key, 'text')
      await expect(records.get(key, range)).rejects.toMatchObject({ code: 'invalid-argument' })
    },
  )

  it('is kept like every other when hundreds come at once', async () => {
    const records = await make()
    const numbers = Array.from({ length: 300 }, (_, index) => index)
    await Promise.all([
      ...numbers.map((number) => records.put(`${key}-${number}`, `text ${number}`)),
      ...numbers.slice(0, 20).map(() => records.put(key, 'the same')),
    ])
    expect((await records.get(key))?.text).toBe('the same')
    for (const number of numbers) expect((await records.get(`${key}-${number}`))?.text).toBe(`text ${number}`)
  })
})

describe('a folder of records', () => {
  it('is made with the first record, and folders and files are for their owner alone', async () => {
    const folder = join(await tempFolder(), 'deep', 'artifacts')
    const records = folderRecords(folder)
    expect(await records.get(key)).toBeUndefined()
    await expect(stat(folder)).rejects.toMatchObject({ code: 'ENOENT' })
    await records.put(key, 'text')
    expect(await readFile(join(folder, key), 'utf8')).toBe('text')
    const modeOf = async (place: string) => (await stat(place)).mode & 0o777
    expect(await modeOf(join(folder, key))).toBe(0o600)
    for (const made of [join(folder, '..'), folder, join(folder, 'scratchbook'), join(folder, key, '..')]) {
      expect(await modeOf(made)).toBe(0o700)
    }
  })

  it('never shows a record half-written, and holds nothing else in the end', async () => {
    const folder = await tempFolder()
    const records = folderRecords(folder)
    const texts = ['a', 'b'].map((letter) => letter.repeat(3_000_000))
    await records.put(key, texts[0] as string)
    const state = { isWriting: true }
    const writing = (async () => {
      for (let round = 1; round <= 10; round++) await records.put(key, texts[round % 2] as string)
      state.isWriting = false
    })()
    let reads = 0
    for (; state.isWriting; reads++) {
      expect(texts.includes(await readFile(join(folder, key), 'utf8'))).toBe(true)
    }
    await writing
    expect(reads).toBeGreaterThan(0)
    expect(await readdir(join(folder, key, '..'))).toHaveLength(1)
  })

  it('rejects with the cause where it cannot write, and leaves nothing behind', async () => {
    const folder = await tempFolder({ file: 'in the way' })
    const below = folderRecords(join(folder, 'file'))
    const refused = (cause: RegExp) => ({ code: 'store-failed', message: expect.stringMatching(cause) as string })
    await expect(below.put(key, 'text')).rejects.toMatchObject(refused(/subagent_.*file.*ENOTDIR/))
    await mkdir(join(folder, key), { recursive: true })
    await expect(folderRecords(folder).put(key, 'text')).rejects.toMatchObject(refused(/EISDIR/))
    expect(await readdir(join(folder, key, '..'))).toEqual([key.split('/').at(-1)])
    expect(await folderRecords(folder).get(key)).toBeUndefined()
  })

  it('has few files open at once, however many records come', async () => {
    const program = join(dirname(fileURLToPath(import.meta.url)), '../programs/record-writer.ts')
    const limited = ['-c', 'ulimit -n 90 && exec "$@"', 'sh', process.execPath, program, await tempFolder()]
    expect((await promisify(execFile)('sh', limited)).stdout).toBe('500\n')
  })

  it('ends where the system lets nobody make a folder', async () => {
    await expect(folderRecords('/proc/entia/records').put(key, 'text')).rejects.toMatchObject({ code: 'store-failed' })
  })

  it('lets no key lead out of it through a link, and makes nothing there', async () => {
    const outside = await tempFolder({ secret: 'secret' })
    const folder = await tempFolder()
    await symlink(outside, join(folder, 'scratchbook'))
    await symlink(join(outside, 'secret'), join(folder, 'secret'))
    const records = folderRecords(folder)
    const refused = { code: 'invalid-argument', message: expect.stringContaining('leads through the link') as string }
    await expect(records.put(key, 'text')).rejects.toMatchObject(refused)
    await expect(records.get('scratchbook/secret')).rejects.toMatchObject(refused)
    await expect(records.get('secret')).rejects.toMatchObject(refused)
    expect(await readdir(outside)).toEqual(['secret'])
    await records.put('secret', 'a record')
    expect(await readFile(join(outside, 'secret'), 'utf8')).toBe('secret')
  })

  it('may itself be reached by a link, and counts from the working folder', async () => {
    const [target, other] = [await tempFolder(), await tempFolder()]
    await symlink(target, join(other, 'link'))
    const before = process.cwd()
    onTestFinished(() => process.chdir(before))
    process.chdir(other)
    const records = folderRecords('link')
    process.chdir(target)
    await records.put(key, 'text')
    expect(await readFile(join(target, key), 'utf8')).toBe('text')
    expect(() => folderRecords('')).toThrow(expect.objectContaining({ code: 'invalid-argument' }))
  })

  it('leaves the mode of what is there as it is, and reads what another program wrote', async () => {
    const folder = await tempFolder()
    await addFiles(folder, { 'notes/foreign': '' })
    await writeFile(join(folder, 'notes/foreign'), Buffer.from([0x80, 0x80, 0x80, 0x80, 0x80, 0x41]))
    await chmod(folder, 0o755)
    const records = folderRecords(folder)
    await records.put('notes/own', 'text')
    expect((await stat(folder)).mode & 0o777).toBe(0o755)
    let offset: number | null = 0
    for (let reads = 0; offset !== null && reads < 6; reads++) {
      offset = (await records.get('notes/foreign', { offset, maxBytes: 4 }))?.nextOffset ?? null
    }
    expect(offset).toBeNull()
  })
})

describe('an artifact id', () => {
  it('is the beginning of the SHA-256 of world, session and result as JSON', () => {
    const id = artifactIdOf('world', 'session-0', 'The "result"\n')
    const json = '["world","session-0","The \\"result\\"\\n"]'
    expect(id).toBe(`subagent_${createHash('sha256').update(json).digest('hex').slice(0, 24)}`)
    expect(id).toMatch(/^subagent_[0-9a-f]{24}$/)
    expect(recordPathOf(id)).toBe(`scratchbook/records/subagent/${id}`)
  })

  it('is the same for the same three, and another for each other one', () => {
    const ids = [
      artifactIdOf('world', 'session', 'result'),
      artifactIdOf('worlds', 'ession', 'result'),
      artifactIdOf('world', 'session', 'results'),
      artifactIdOf('world', 'session-1', 'result'),
    ]
    expect(new Set(ids).size).toBe(4)
    expect(artifactIdOf('world', 'session', 'result')).toBe(ids[0])
  })
})
