import { spawn } from 'node:child_process'
import {
  appendFileSync,
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'
import { sqliteStore, type SqliteStoreOptions, type Store } from 'entia'
import type { TranscriptLine } from 'entia/stores'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { asBeforeSchema4 } from './old-schema.ts'
import { writtenKey, writtenLine } from '../programs/written-line.ts'

const writer = join(dirname(fileURLToPath(import.meta.url)), '../programs/transcript-writer.ts')
const isWindows = process.platform === 'win32'
const key = 'agents/subagent-1/sessions/1.jsonl'
const other = 'agents/subagent-2/sessions/2.jsonl'

let folder: string
let stores: Store[]

beforeEach(() => {
  folder = join(mkdtempSync(join(tmpdir(), 'entia-transcripts-')), 'worlds')
  stores = []
})

afterEach(async () => {
  await Promise.all(stores.map((store) => store.close()))
  rmSync(dirname(folder), { recursive: true })
})

function storeHere(options?: Partial<SqliteStoreOptions>): Store {
  const store = sqliteStore({ folder, synchronous: 'normal', ...options })
  stores.push(store)
  return store
}

function file(name: string): string {
  return join(folder, 'root.files', name)
}

function lines(from: number, to: number): TranscriptLine[] {
  return Array.from({ length: to - from + 1 }, (_, index) => ({
    text: `{"line":${from + index},"text":"é"}`,
    searchable: `line number${from + index}`,
  }))
}

function texts(from: number, to: number): string[] {
  return lines(from, to).map(({ text }) => text)
}

/** The bytes of a transcript of these lines. */
function bytes(from: number, to: number): string {
  return texts(from, to)
    .map((text) => `${text}\n`)
    .join('')
}

async function found(store: Store, query: string, keys = [key]): Promise<string[]> {
  return (await store.searchTranscript('root', keys, query, { limit: 1000 })).map(({ text }) => text)
}

/** All files and folders below a folder. */
function below(place: string): string[] {
  return existsSync(place) ? readdirSync(place, { recursive: true }).map(String).sort() : []
}

describe('a transcript in a file', () => {
  it('lies under its key beside the database of its root, one line after the other', async () => {
    const store = storeHere()
    await store.appendTranscript('root', key, lines(0, 1), { from: 0 })
    await store.appendTranscript('Root/2', key, lines(2, 2), { from: 0 })
    expect(readFileSync(file(key), 'utf8')).toBe(bytes(0, 1))
    expect(readFileSync(join(folder, '%0052oot%002f2.files', key), 'utf8')).toBe(bytes(2, 2))
    await store.close()
    expect(readdirSync(folder).sort()).toEqual([
      '%0052oot%002f2.files',
      '%0052oot%002f2.sqlite',
      'root.files',
      'root.sqlite',
    ])
  })

  it('lies in another folder if it is told so, and goes with its root there too', async () => {
    const transcripts = join(dirname(folder), 'others', 'transcripts')
    const store = storeHere({ transcripts })
    await store.appendTranscript('root', key, lines(0, 1), { from: 0 })
    await store.appendTranscript('x'.repeat(300), key, lines(0, 1), { from: 0 })
    expect(readFileSync(join(transcripts, 'root.files', key), 'utf8')).toBe(bytes(0, 1))
    for (const name of readdirSync(transcripts)) expect(name.length).toBeLessThanOrEqual(143)
    await store.delete('root')
    await store.delete('x'.repeat(300))
    expect(below(dirname(folder))).toEqual(['others', join('others', 'transcripts'), 'worlds'])
  })

  it('is there for the next store, with what can be found of it', async () => {
    const store = storeHere()
    await store.appendTranscript('root', key, lines(0, 3), { from: 0 })
    await store.close()
    const next = storeHere()
    expect(await next.transcript('root', key)).toEqual(texts(0, 3))
    expect(await found(next, 'number2')).toEqual(texts(2, 2))
    await next.appendTranscript('root', key, lines(4, 4), { from: 4 })
    expect(await next.transcript('root', key)).toEqual(texts(0, 4))
  })

  it.skipIf(isWindows).each([0o000, 0o022, 0o077, 0o777])(
    'is for its owner alone, and so are its folders, with umask %o',
    async (umask) => {
      const transcripts = join(folder, 'deep', 'er')
      const store = storeHere({ transcripts })
      await store.open('root')
      const before = process.umask(umask)
      try {
        await store.appendTranscript('root', key, lines(0, 0), { from: 0 })
        await store.appendTranscript('root', key, lines(1, 1), { from: 1 })
      } finally {
        process.umask(before)
      }
      const made = [
        '..',
        '.',
        'root.files',
        ...below(join(transcripts, 'root.files')).map((name) => `root.files/${name}`),
      ]
      const modes = Object.fromEntries(made.map((name) => [name, statSync(join(transcripts, name)).mode & 0o777]))
      expect(modes).toEqual({
        '..': 0o700,
        '.': 0o700,
        'root.files': 0o700,
        'root.files/agents': 0o700,
        'root.files/agents/subagent-1': 0o700,
        'root.files/agents/subagent-1/sessions': 0o700,
        [`root.files/${key}`]: 0o600,
      })
    },
  )

  it('is refused with the name of the holder while another store has its root', async () => {
    const journal = await storeHere().open('root', { holder: 'the first' })
    const store = storeHere()
    const refused = { code: 'world-locked', details: { holder: 'the first' } }
    await expect(store.appendTranscript('root', key, lines(0, 0), { from: 0 })).rejects.toMatchObject(refused)
    await expect(store.transcript('root', key)).rejects.toMatchObject(refused)
    await expect(store.searchTranscript('root', [key], 'line', { limit: 1 })).rejects.toMatchObject(refused)
    await expect(store.deleteTranscript('root', key)).rejects.toMatchObject(refused)
    expect(existsSync(file(key))).toBe(false)
    await journal.close()
    await store.appendTranscript('root', key, lines(0, 0), { from: 0 })
    expect(await store.transcript('root', key)).toEqual(texts(0, 0))
  })

  it('keeps nobody from the name of who holds its root, though it was used before', async () => {
    const store = storeHere()
    const append = store.appendTranscript('root', key, lines(0, 0), { from: 0 })
    await store.list()
    await store.open('root', { holder: 'the second' })
    await append
    await expect(storeHere().open('root')).rejects.toMatchObject({ details: { holder: 'the second' } })
  })

  it('can be kept beside a database of the second schema, whose texts stay as they are', async () => {
    const store = storeHere()
    await store.putText('root', 'key', 'text')
    await store.close()
    const db = new DatabaseSync(join(folder, 'root.sqlite'))
    db.exec(`${asBeforeSchema4}; PRAGMA user_version = 2`)
    db.close()
    const next = storeHere()
    await next.appendTranscript('root', key, lines(0, 1), { from: 0 })
    expect(await found(next, 'number1')).toEqual(texts(1, 1))
    expect(await next.getText('root', 'key')).toBe('text')
  })

  it('whose index is gone from the database is refused as corrupt', async () => {
    const store = storeHere()
    await store.appendTranscript('root', key, lines(0, 1), { from: 0 })
    await store.close()
    const db = new DatabaseSync(join(folder, 'root.sqlite'))
    db.exec('DROP TABLE transcript_words')
    db.close()
    const damaged = { code: 'corrupt-journal', message: expect.stringContaining('root.sqlite') as string }
    await expect(storeHere().appendTranscript('root', key, lines(2, 2), { from: 2 })).rejects.toMatchObject(damaged)
    await expect(found(storeHere(), 'line')).rejects.toMatchObject(damaged)
  })
})

describe('deleting', () => {
  it('a transcript removes its file and the folders that nothing else lies in', async () => {
    const store = storeHere()
    await store.appendTranscript('root', key, lines(0, 1), { from: 0 })
    await store.appendTranscript('root', other, lines(0, 1), { from: 0 })
    await store.deleteTranscript('root', key)
    expect(below(file(''))).toEqual([
      'agents',
      join('agents', 'subagent-2'),
      join('agents', 'subagent-2', 'sessions'),
      join(other),
    ])
    await store.deleteTranscript('root', other)
    await store.close()
    expect(readdirSync(folder)).toEqual(['root.sqlite'])
  })

  it('a transcript leaves what somebody else has put beside it', async () => {
    const store = storeHere()
    await store.appendTranscript('root', key, lines(0, 1), { from: 0 })
    writeFileSync(file('agents/notes.txt'), '')
    await store.deleteTranscript('root', key)
    expect(below(file(''))).toEqual(['agents', join('agents', 'notes.txt')])
  })

  it('a transcript that is in the index alone, or in a file alone, removes what there is', async () => {
    const store = storeHere()
    await store.appendTranscript('root', key, lines(0, 1), { from: 0 })
    rmSync(file(key))
    expect(await store.transcript('root', key)).toBeUndefined()
    expect(await found(store, 'line')).toEqual([])
    await store.deleteTranscript('root', key)
    mkdirSync(dirname(file(key)), { recursive: true })
    writeFileSync(file(key), bytes(0, 1))
    await store.deleteTranscript('root', key)
    await store.close()
    expect(readdirSync(folder)).toEqual(['root.sqlite'])
  })

  it('a transcript whose index cannot be changed removes its file all the same, and says so', async () => {
    const store = storeHere()
    await store.appendTranscript('root', key, lines(0, 1), { from: 0 })
    const change = (sql: string) => {
      const db = new DatabaseSync(join(folder, 'root.sqlite'))
      db.exec(sql)
      db.close()
    }
    change(`CREATE TRIGGER broken BEFORE DELETE ON transcripts BEGIN SELECT RAISE(ABORT, 'broken'); END`)
    await expect(store.deleteTranscript('root', key)).rejects.toMatchObject({ code: 'store-failed' })
    expect(existsSync(file(''))).toBe(false)
    expect(await found(store, 'line')).toEqual([])
    change('DROP TRIGGER broken')
    await store.deleteTranscript('root', key)
    await store.appendTranscript('root', key, lines(5, 5), { from: 0 })
    expect(await found(store, 'line')).toEqual(texts(5, 5))
  })

  it('a root removes its transcripts, damaged or not', async () => {
    for (const damage of [() => undefined, () => truncateSync(join(folder, 'root.sqlite'), 50)]) {
      const store = storeHere()
      await store.appendTranscript('root', key, lines(0, 1), { from: 0 })
      await store.close()
      damage()
      await storeHere().delete('root')
      expect(readdirSync(folder)).toEqual([])
    }
  })
})

describe('a torn last line', () => {
  it.each(['{"line":2,"te', '{', '{"line":2,"text":"é"}', '\0'.repeat(100)])(
    'of %j counts as not there, and is cut off by the next append',
    async (torn) => {
      const store = storeHere()
      await store.appendTranscript('root', key, lines(0, 1), { from: 0 })
      appendFileSync(file(key), torn)
      expect(await store.transcript('root', key)).toEqual(texts(0, 1))
      expect(await found(store, 'line')).toHaveLength(2)
      await expect(store.appendTranscript('root', key, lines(3, 3), { from: 3 })).rejects.toMatchObject({
        code: 'invalid-argument',
      })
      await store.appendTranscript('root', key, lines(2, 3), { from: 2 })
      expect(readFileSync(file(key), 'utf8')).toBe(bytes(0, 3))
      expect(await found(store, 'number2')).toEqual(texts(2, 2))
    },
  )

  it('that is all there is makes no transcript', async () => {
    const store = storeHere()
    await store.open('root')
    mkdirSync(dirname(file(key)), { recursive: true })
    for (const torn of ['', '{"line":0']) {
      writeFileSync(file(key), torn)
      expect(await store.transcript('root', key)).toBeUndefined()
    }
    await store.appendTranscript('root', key, lines(0, 0), { from: 0 })
    expect(readFileSync(file(key), 'utf8')).toBe(bytes(0, 0))
    expect(statSync(file(key)).mode & 0o777).toBe(0o600)
  })
})

describe('a crash in the middle of an append', () => {
  it('leaves whole lines at whatever byte it comes, and the append can be repeated', async () => {
    const store = storeHere()
    await store.appendTranscript('root', key, lines(0, 2), { from: 0 })
    await store.close()
    const [before, whole] = [Buffer.from(bytes(0, 2)), Buffer.from(bytes(0, 5))]
    const after = storeHere()
    await after.appendTranscript('root', key, lines(3, 5), { from: 3 })
    await after.close()
    const announced = join(dirname(folder), 'announced')
    cpSync(folder, announced, { recursive: true })
    for (let size = before.length; size <= whole.length; size++) {
      cpSync(announced, folder, { recursive: true })
      writeFileSync(file(key), whole.subarray(0, size))
      const next = storeHere()
      const left = await next.transcript('root', key)
      expect(left).toEqual(texts(0, (left?.length ?? 0) - 1))
      expect((await found(next, 'line')).sort()).toEqual(left)
      const best = await next.searchTranscript('root', [key], 'number5 line', { limit: 1 })
      expect(best.map(({ index }) => index)).toEqual([left?.length === 6 ? 5 : 0])
      await next.appendTranscript('root', key, lines(3, 5), { from: 3 })
      expect(readFileSync(file(key))).toEqual(whole)
      for (let line = 0; line <= 5; line++) expect(await found(next, `number${line}`)).toEqual(texts(line, line))
      await next.close()
    }
  })

  it('leaves its place to other lines, where none of its own had come so far', async () => {
    const store = storeHere()
    await store.appendTranscript('root', key, lines(0, 5), { from: 0 })
    truncateSync(file(key), Buffer.byteLength(bytes(0, 2)) + 3)
    const others = [{ text: '{}', searchable: 'quite different' }]
    await store.appendTranscript('root', key, others, { from: 3 })
    expect(await store.transcript('root', key)).toEqual([...texts(0, 2), '{}'])
    expect(await found(store, 'number3 number4 different')).toEqual(['{}'])
  })

  it('that comes with a power failure and takes the index with it is healed by repeating the append', async () => {
    const store = storeHere()
    await store.appendTranscript('root', key, lines(0, 2), { from: 0 })
    await store.close()
    const saved = readFileSync(join(folder, 'root.sqlite'))
    const whole = Buffer.from(bytes(0, 5))
    for (const lost of [0, 5, 30]) {
      writeFileSync(join(folder, 'root.sqlite'), saved)
      writeFileSync(file(key), whole.subarray(0, whole.length - lost))
      const next = storeHere()
      await next.appendTranscript('root', key, lines(3, 5), { from: 3 })
      expect(readFileSync(file(key))).toEqual(whole)
      for (let line = 0; line <= 5; line++) expect(await found(next, `number${line}`)).toEqual(texts(line, line))
      await next.close()
    }
  })

  it.each([
    ['while its root is held', true],
    ['and nobody holds its root', false],
  ])('by which the file is lost or cut is healed by appending again, %s', async (_, isHeld) => {
    const store = storeHere()
    if (isHeld) await store.open('root')
    await store.appendTranscript('root', key, lines(0, 5), { from: 0 })
    truncateSync(file(key), Buffer.byteLength(bytes(0, 3)) - 2)
    expect(await store.transcript('root', key)).toEqual(texts(0, 2))
    expect(await found(store, 'line')).toHaveLength(3)
    await store.appendTranscript('root', key, lines(3, 4), { from: 3 })
    expect((await found(store, 'line')).sort()).toEqual(texts(0, 4))
    rmSync(file(key))
    await store.appendTranscript('root', key, lines(7, 8), { from: 0 })
    expect((await found(store, 'line')).sort()).toEqual(texts(7, 8))
  })
})

describe('an append that fails', () => {
  it('since its folder cannot be made says why, and leaves nothing behind', async () => {
    const inTheWay = join(dirname(folder), 'file')
    writeFileSync(inTheWay, '')
    const store = storeHere({ transcripts: join(inTheWay, 'transcripts') })
    await expect(store.appendTranscript('root', key, lines(0, 0), { from: 0 })).rejects.toMatchObject({
      code: 'store-failed',
      message: expect.stringMatching(/1\.jsonl.*ENOTDIR.*Nothing was changed/) as string,
    })
    expect(await store.transcript('root', key)).toBeUndefined()
    expect(await found(store, 'line')).toEqual([])
  })

  it.skipIf(isWindows)('since its folder is read-only leaves nothing behind, and can be done later', async () => {
    const store = storeHere()
    await store.open('root')
    await store.appendTranscript('root', key, lines(0, 0), { from: 0 })
    const before = below(folder)
    await withoutPrivileges(async () => {
      chmodSync(file(''), 0o500)
      chmodSync(file(key), 0o400)
      const refused = { code: 'store-failed', message: expect.stringMatching(/\.jsonl: EACCES/) as string }
      await expect(store.appendTranscript('root', key, lines(0, 1), { from: 0 })).rejects.toMatchObject(refused)
      await expect(store.appendTranscript('root', 'a/b/c.jsonl', lines(0, 1), { from: 0 })).rejects.toMatchObject(
        refused,
      )
      expect(await store.transcript('root', key)).toEqual(texts(0, 0))
      expect(await store.transcript('root', 'a/b/c.jsonl')).toBeUndefined()
      expect(await found(store, 'number1', [key, 'a/b/c.jsonl'])).toEqual([])
      chmodSync(file(''), 0o700)
      chmodSync(file(key), 0o600)
    })
    expect(below(folder)).toEqual(before)
    await store.appendTranscript('root', key, lines(0, 1), { from: 0 })
    expect(await store.transcript('root', key)).toEqual(texts(0, 1))
  })

  it('since there is no room for its index leaves nothing behind, and lines without one still have room', async () => {
    const store = storeHere({ maxSizeBytes: 200_000 })
    await store.appendTranscript('root', key, lines(0, 1), { from: 0 })
    const words = Array.from({ length: 40_000 }, (_, index) => `word${index}`).join(' ')
    const tooMuch = [...lines(2, 2), { text: '{"big":true}', searchable: words }]
    for (const [place, from] of [
      [key, 2],
      [other, 0],
    ] as const) {
      await expect(store.appendTranscript('root', place, tooMuch, { from })).rejects.toMatchObject({
        code: 'store-failed',
        message: expect.stringMatching(/root\.sqlite: database or disk is full.*Nothing was changed/) as string,
      })
    }
    expect(readFileSync(file(key), 'utf8')).toBe(bytes(0, 1))
    expect(below(file(''))).not.toContain(join('agents', 'subagent-2'))
    expect(await found(store, 'number2 word7', [key, other])).toEqual([])
    await store.appendTranscript('root', key, [...lines(2, 2), { text: `{"big":"${words}"}` }], { from: 2 })
    expect(await store.transcript('root', key)).toHaveLength(4)
  })

  it.skipIf(isWindows)('since the disk takes no more leaves the lines of earlier ones, byte for byte', async () => {
    const printed = await limited(400, 30)
    const failure = printed.at(-1) ?? ''
    expect(failure).toMatch(/^store-failed: The store cannot use .*1\.jsonl: EFBIG.*Nothing was changed/)
    const acknowledged = Number(printed.at(-2))
    expect(acknowledged).toBeGreaterThan(0)
    const written = Array.from({ length: acknowledged }, (_, line) => writtenLine(line))
    expect(readFileSync(file(writtenKey), 'utf8')).toBe(written.map(({ text }) => `${text}\n`).join(''))
    const store = storeHere()
    const hits = await store.searchTranscript('root', [writtenKey], 'every', { limit: 1000 })
    expect(hits).toHaveLength(acknowledged / 10)
    const next = Array.from({ length: 30 }, (_, index) => writtenLine(acknowledged + index))
    await store.appendTranscript('root', writtenKey, next, { from: acknowledged })
    expect(await store.transcript('root', writtenKey)).toHaveLength(acknowledged + 30)
  })

  it.skipIf(isWindows)('on a disk that takes nothing leaves neither file nor folder', async () => {
    const printed = await limited(400, 200)
    expect(printed).toEqual([expect.stringMatching(/^store-failed: .*EFBIG/)])
    expect(below(file(''))).toEqual([])
  })
})

describe('an append to a long transcript', () => {
  const counters = '/proc/self/io'
  const bytesRead = () => Number(/^rchar: (\d+)$/m.exec(readFileSync(counters, 'utf8'))?.[1])

  it.runIf(existsSync(counters)).each([
    ['while its root is held', true],
    ['by whoever comes along', false],
  ])('does not read what is there, %s', async (_, isHeld) => {
    const store = storeHere()
    if (isHeld) await store.open('root')
    const long = Array.from({ length: 10_000 }, (__, index) => ({
      text: `{"line":${index},"text":"${'x'.repeat(100)}"}`,
    }))
    await store.appendTranscript('root', key, long, { from: 0 })
    await store.appendTranscript('root', key, [{ text: '{"line":10000}' }], { from: 10_000 })
    const sizeBytes = statSync(file(key)).size
    expect(sizeBytes).toBeGreaterThan(1_000_000)
    const before = bytesRead()
    for (let line = 10_001; line < 10_021; line++) {
      await store.appendTranscript('root', key, [{ text: `{"line":${line}}`, searchable: 'word' }], { from: line })
    }
    await store.appendTranscript('root', key, [{ text: '{"line":10020}' }], { from: 10_020 })
    expect(await found(store, 'word')).toHaveLength(20)
    expect(bytesRead() - before).toBeLessThan(isHeld ? sizeBytes / 2 : 3 * sizeBytes)
    expect(await store.transcript('root', key)).toHaveLength(10_021)
  })
})

/** What the writer prints until an append fails, where no file can grow beyond so many blocks of 512 bytes. */
async function limited(blocks: number, batch: number): Promise<string[]> {
  const script = `ulimit -f ${blocks} && exec "$0" "$@"`
  const args = ['-c', script, process.execPath, writer, folder, `${batch}`]
  const child = spawn('sh', args, { stdio: ['pipe', 'pipe', 'inherit'] })
  const printed: string[] = []
  for await (const text of createInterface({ input: child.stdout })) printed.push(text)
  return printed
}

/** Nothing can be forbidden to root, so it does this as nobody. */
async function withoutPrivileges(act: () => Promise<void>): Promise<void> {
  if (process.getuid?.() !== 0) return act()
  const nobody = 65_534
  for (const name of ['', ...below(folder)]) chownSync(join(folder, name), nobody, nobody)
  chmodSync(dirname(folder), 0o755)
  process.seteuid?.(nobody)
  try {
    await act()
  } finally {
    process.seteuid?.(0)
  }
}
