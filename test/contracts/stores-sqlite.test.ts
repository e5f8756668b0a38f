import { spawn } from 'node:child_process'
import type { ChildProcessByStdio } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, readdirSync, renameSync, rmSync, statSync, truncateSync } from 'node:fs'
import { writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { DatabaseSync } from 'node:sqlite'
import type { Readable, Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { sqliteStore, type SqliteStoreOptions, type Store } from 'entia'
import type { JournalRow, StoredWorld, WorldJournal } from 'entia/stores'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { processorUs } from '../processor-us.ts'
import { asBeforeSchema4 } from './old-schema.ts'

type Program = ChildProcessByStdio<Writable, Readable, null>

const programs = join(dirname(fileURLToPath(import.meta.url)), '../programs')

let folder: string
let running: Program[]
let stores: Store[]

beforeEach(() => {
  folder = join(mkdtempSync(join(tmpdir(), 'entia-stores-')), 'worlds')
  running = []
  stores = []
})

afterEach(async () => {
  await Promise.all(stores.map((store) => store.close()))
  await Promise.all(running.map(killed))
  rmSync(dirname(folder), { recursive: true })
})

function storeHere(options?: Partial<SqliteStoreOptions>): Store {
  const store = sqliteStore({ folder, synchronous: 'normal', ...options })
  stores.push(store)
  return store
}

function start(program: string, ...args: string[]): Program {
  const child = spawn(process.execPath, [join(programs, program), folder, ...args], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  running.push(child)
  return child
}

async function killed(child: Program): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exit = once(child, 'exit')
  child.kill('SIGKILL')
  await exit
}

async function firstLine(child: Program): Promise<string> {
  const [line] = await once(createInterface({ input: child.stdout }), 'line')
  return String(line)
}

function rows(from: number, to: number, size = 0): JournalRow[] {
  return Array.from({ length: to - from + 1 }, (_, index) => ({ tick: from + index, line: `{}${' '.repeat(size)}` }))
}

function snapshot(tick: number, size = 0) {
  return { tick, lines: ['{}', ' '.repeat(size)] }
}

function lastTick(stored: StoredWorld | undefined): number {
  return stored?.rows.at(-1)?.tick ?? stored?.snapshot.tick ?? -1
}

function file(name: string): string {
  return join(folder, name)
}

/** Makes a world of many pages and closes it. */
async function writeWorld(name = 'a', options?: Parameters<Store['open']>[1]): Promise<void> {
  const store = storeHere()
  const journal = await store.open(name, options)
  await journal.commit({ snapshot: snapshot(0, 50_000), rows: rows(1, 100, 2000) })
  await store.close()
}

function tamper(sql: string, name = 'a.sqlite'): void {
  const db = new DatabaseSync(file(name))
  db.exec(sql)
  db.close()
}

/** Transactions in a write-ahead log: the frames of the present round of it that end one. */
function transactionsInLog(name: string): number {
  const log = readFileSync(file(`${name}.sqlite-wal`))
  const frameBytes = 24 + log.readUInt32BE(8)
  let count = 0
  for (let at = 32; at + frameBytes <= log.length; at += frameBytes) {
    const ofThisRound = log.subarray(at + 8, at + 16).equals(log.subarray(16, 24))
    if (ofThisRound && log.readUInt32BE(at + 4) !== 0) count++
  }
  return count
}

describe('a lock on a file', () => {
  it('held by another process is refused with its name, and free after that has closed', async () => {
    const holder = start('store-holder.ts', 'a', 'the night shift')
    expect(await firstLine(holder)).toBe('held')
    const store = storeHere()
    const refused = { code: 'world-locked', details: { holder: 'the night shift', pid: holder.pid } }
    await expect(store.open('a')).rejects.toMatchObject(refused)
    await expect(store.delete('a')).rejects.toMatchObject(refused)
    expect(await store.list()).toEqual([expect.objectContaining({ name: 'a', tick: 0 })])
    const exit = once(holder, 'exit')
    holder.stdin.end()
    await exit
    expect(lastTick(await (await store.open('a')).load())).toBe(0)
  })

  it('of a holder that was killed is free at once, and its note is replaced', async () => {
    const holder = start('store-holder.ts', 'a', 'the dead one')
    await firstLine(holder)
    await killed(holder)
    expect(readFileSync(file('a.lock'), 'utf8')).toContain('the dead one')
    await storeHere().open('a', { holder: 'the living one' })
    expect(JSON.parse(readFileSync(file('a.lock'), 'utf8'))).toMatchObject({
      holder: 'the living one',
      pid: process.pid,
    })
    await expect(storeHere().open('a')).rejects.toMatchObject({ details: { holder: 'the living one' } })
  })

  it('holds for other stores of the same process too, and a refused opener does not break it', async () => {
    await storeHere().open('a', { holder: 'the first' })
    for (let attempt = 0; attempt < 2; attempt++) {
      await expect(storeHere().open('a')).rejects.toMatchObject({ details: { holder: 'the first' } })
      expect(await firstLine(start('store-holder.ts', 'a', 'another'))).toBe('world-locked: the first')
    }
  })

  it('whose note cannot be read is refused all the same', async () => {
    await storeHere().open('a')
    writeFileSync(file('a.lock'), '{"holder":')
    await expect(storeHere().open('a')).rejects.toMatchObject({
      code: 'world-locked',
      message: expect.stringContaining('another holder, which left no note'),
    })
  })

  it('goes with its note and its log when the last world of the root is closed', async () => {
    const store = storeHere()
    const root = await store.open('a')
    const child = await store.open('child', { root: 'a' })
    await root.commit({ snapshot: snapshot(0) })
    await root.close()
    await expect(storeHere().open('a')).rejects.toMatchObject({ code: 'world-locked' })
    await child.close()
    expect(readdirSync(folder)).toEqual(['a.newest', 'a.sqlite'])
    await storeHere().open('a')
  })
})

describe('a commit to a file', () => {
  it('is one transaction for all batches of all worlds of the root in one turn', async () => {
    const store = storeHere()
    const names = ['root', ...Array.from({ length: 9 }, (_, index) => `child ${index}`)]
    const journals = await Promise.all(names.map((name) => store.open(name, { root: 'root' })))
    await Promise.all(journals.map((journal) => journal.commit({ snapshot: snapshot(0) })))
    const before = transactionsInLog('root')
    await Promise.all(
      journals.map(async (journal, index) => {
        for (let step = 0; step < index; step++) await Promise.resolve()
        await Promise.all(rows(1, 10).map((row) => journal.commit({ rows: [row] })))
      }),
    )
    expect(transactionsInLog('root')).toBe(before + 1)
    for (const journal of journals) expect(lastTick(await journal.load())).toBe(10)
    await journals[0]?.commit({ rows: rows(11, 11) })
    await journals[0]?.commit({ rows: rows(12, 12) })
    expect(transactionsInLog('root')).toBe(before + 3)
  })

  it('costs the same with 100 and with 50,000 rows there', async () => {
    const journal = await storeHere().open('a')
    await journal.commit({ snapshot: snapshot(0), rows: rows(1, 100, 200) })
    const few = await quickCommitUs(journal, 101)
    await journal.commit({ rows: rows(401, 50_000, 200) })
    const many = await quickCommitUs(journal, 50_001)
    expect(many / few).toBeLessThan(5)
  })

  it('rejects when the disk is full, loses nothing, and goes on once there is room', async () => {
    const store = storeHere({ maxSizeBytes: 800_000 })
    const journal = await store.open('a')
    const child = await store.open('child', { root: 'a' })
    await Promise.all([journal.commit({ snapshot: snapshot(0) }), child.commit({ snapshot: snapshot(0) })])
    await journal.commit({ rows: rows(1, 100, 3000) })
    const tooMuch = await Promise.allSettled([
      child.commit({ rows: rows(1, 1) }),
      journal.commit({ rows: rows(101, 300, 3000) }),
    ])
    for (const outcome of tooMuch) {
      expect(outcome).toMatchObject({
        status: 'rejected',
        reason: {
          code: 'store-failed',
          message: expect.stringMatching(/a\.sqlite: database or disk is full.*Nothing was changed/),
          details: { file: file('a.sqlite') },
        },
      })
    }
    expect(lastTick(await journal.load())).toBe(100)
    expect(lastTick(await child.load())).toBe(0)
    await child.commit({ rows: rows(1, 1) })
    await journal.commit({ snapshot: snapshot(100, 500_000) })
    await store.close()
    const roomier = await storeHere().open('a')
    await roomier.commit({ rows: rows(101, 200, 3000) })
    expect(lastTick(await roomier.load())).toBe(200)
  })

  it('that fails midway is taken back whole, with all that shared its transaction', async () => {
    await writeWorld()
    tamper(`CREATE TRIGGER broken BEFORE INSERT ON rows WHEN NEW.tick = 102 BEGIN SELECT RAISE(ABORT, 'broken'); END`)
    const store = storeHere()
    const journal = await store.open('a')
    const child = await store.open('child', { root: 'a' })
    const outcomes = await Promise.allSettled([
      child.commit({ snapshot: snapshot(0) }),
      journal.commit({ rows: rows(101, 102) }),
    ])
    expect(outcomes).toMatchObject(
      Array.from({ length: 2 }, () => ({ status: 'rejected', reason: { code: 'store-failed' } })),
    )
    expect(lastTick(await journal.load())).toBe(100)
    expect(await child.load()).toBeUndefined()
    await Promise.all([child.commit({ snapshot: snapshot(0) }), journal.commit({ rows: rows(101, 101) })])
    expect(lastTick(await journal.load())).toBe(101)
    expect(lastTick(await child.load())).toBe(0)
  })

  it('reuses the room of what snapshots replace, in the database and in its log', async () => {
    const journal = await storeHere().open('a')
    await journal.commit({ snapshot: snapshot(0, 10_000_000) })
    const sizes: number[] = []
    for (let round = 0; round < 10; round++) {
      const first = round * 50 + 1
      for (const row of rows(first, first + 49, 10_000)) await journal.commit({ rows: [row] })
      await journal.commit({ snapshot: snapshot(first + 49, 1_000_000) })
      sizes.push(statSync(file('a.sqlite')).size)
    }
    expect(Math.max(...sizes)).toBeLessThan(11_500_000)
    expect(statSync(file('a.sqlite-wal')).size).toBeLessThan(8_000_000)
  })
})

describe('a text in a file', () => {
  it('is there for the next store, in the database of its root, for its owner alone', async () => {
    const store = storeHere()
    await store.putText('a', 'key', 'text')
    await store.close()
    expect(readdirSync(folder)).toEqual(['a.sqlite'])
    expect(statSync(file('a.sqlite')).mode & 0o777).toBe(0o600)
    expect(await storeHere().getText('a', 'key')).toBe('text')
  })

  it('makes no file by being asked for', async () => {
    expect(await storeHere().getText('a', 'key')).toBeUndefined()
    expect(existsSync(folder)).toBe(false)
  })

  it('shares one transaction with what is committed in its turn', async () => {
    const store = storeHere()
    const journal = await store.open('a')
    await journal.commit({ snapshot: snapshot(0) })
    const before = transactionsInLog('a')
    await Promise.all([
      journal.commit({ rows: rows(1, 1) }),
      ...Array.from({ length: 50 }, (_, index) => store.putText('a', `key ${index}`, 'text')),
      journal.commit({ rows: rows(2, 2) }),
    ])
    expect(transactionsInLog('a')).toBe(before + 1)
  })

  it('that is under way keeps the file from being closed under it, and no longer', async () => {
    const store = storeHere()
    const journal = await store.open('a')
    const put = store.putText('a', 'key', 'text')
    await journal.close()
    await put
    expect(readdirSync(folder)).toEqual(['a.sqlite'])
    const again = await store.open('a')
    const last = store.putText('a', 'key', 'last text')
    await again.close()
    await store.close()
    expect(readdirSync(folder)).toEqual(['a.sqlite'])
    await last
    expect(await storeHere().getText('a', 'key')).toBe('last text')
  })

  it('is refused with the name of the holder while another store has its root', async () => {
    const journal = await storeHere().open('a', { holder: 'the first' })
    const other = storeHere()
    const refused = { code: 'world-locked', details: { holder: 'the first' } }
    await expect(other.putText('a', 'key', 'text')).rejects.toMatchObject(refused)
    await expect(other.getText('a', 'key')).rejects.toMatchObject(refused)
    await journal.close()
    await other.putText('a', 'key', 'text')
    expect(await other.getText('a', 'key')).toBe('text')
  })

  it('rejects when the disk is full, held or not, and leaves what was there', async () => {
    const store = storeHere({ maxSizeBytes: 200_000 })
    await store.putText('a', 'key', 'small')
    const full = {
      code: 'store-failed',
      message: expect.stringMatching(/a\.sqlite: database or disk is full.*Nothing was changed/) as string,
    }
    await expect(store.putText('a', 'key', 'x'.repeat(400_000))).rejects.toMatchObject(full)
    const journal = await store.open('a')
    await journal.commit({ snapshot: snapshot(0) })
    await expect(store.putText('a', 'key', 'x'.repeat(400_000))).rejects.toMatchObject(full)
    expect(await store.getText('a', 'key')).toBe('small')
    await journal.commit({ rows: rows(1, 1) })
    expect(lastTick(await journal.load())).toBe(1)
  })

  it('can be put into a database of the first schema, whose worlds stay as they are', async () => {
    await writeWorld()
    await writeWorld('child', { root: 'a' })
    tamper(`${asBeforeSchema4}; DROP TABLE texts; PRAGMA user_version = 1`)
    const store = storeHere()
    const journal = await store.open('a')
    expect(lastTick(await journal.load())).toBe(100)
    await store.putText('a', 'key', 'text')
    await journal.commit({ rows: rows(101, 101) })
    await store.close()
    const again = storeHere()
    expect(await again.getText('a', 'key')).toBe('text')
    expect(lastTick(await (await again.open('a')).load())).toBe(101)
    expect((await again.list()).map(({ name }) => name)).toEqual(['a', 'child'])
  })
})

describe('a damaged file', () => {
  it.each([
    ['cut in half', () => truncateSync(file('a.sqlite'), statSync(file('a.sqlite')).size / 2)],
    ['cut within its header', () => truncateSync(file('a.sqlite'), 50)],
    ['with another header', () => overwrite(0, 'This is no database')],
    ['with garbage behind its header', () => overwrite(4096, '\u0007garbage'.repeat(10_000))],
    ['without its tables', () => tamper('DROP TABLE rows')],
    ['without its texts', () => tamper('DROP TABLE texts')],
    ['of a schema that there never was', () => tamper('PRAGMA user_version = 0')],
  ])('%s is refused as corrupt, saying what to do', async (_, damage) => {
    await writeWorld()
    damage()
    const load = async () => (await storeHere().open('a')).load()
    await expect(load()).rejects.toMatchObject({
      name: 'EntiaError',
      code: 'corrupt-journal',
      message: expect.stringMatching(/a\.sqlite cannot be read: .*backup.*store\.delete/),
    })
  })

  it('with a row missing in the middle names the world and the tick', async () => {
    await writeWorld()
    tamper('DELETE FROM rows WHERE tick = 42')
    const journal = await storeHere().open('a')
    await expect(journal.load()).rejects.toMatchObject({
      code: 'corrupt-journal',
      message: expect.stringMatching(/Tick 42 of the world 'a' is missing.*store\.delete\('a'\)/),
      details: { world: 'a', tick: 42 },
    })
  })

  it.each(['DELETE FROM snapshots WHERE seq = 0', 'DELETE FROM snapshots'])(
    'after %s is refused as a corrupt snapshot',
    async (sql) => {
      await writeWorld()
      tamper(sql)
      const journal = await storeHere().open('a')
      await expect(journal.load()).rejects.toMatchObject({ code: 'corrupt-snapshot', details: { world: 'a' } })
      await expect(journal.recording()).rejects.toMatchObject({ code: 'corrupt-snapshot' })
    },
  )

  it('of a newer schema is refused as such', async () => {
    await writeWorld()
    tamper('PRAGMA user_version = 6')
    await expect(storeHere().open('a')).rejects.toMatchObject({
      code: 'newer-version',
      message: expect.stringContaining('Update entia'),
      details: { version: 6 },
    })
  })

  it("that is another program's database is refused and left as it is", async () => {
    await writeWorld()
    rmSync(file('a.sqlite'))
    tamper('CREATE TABLE photos (name)')
    const before = readFileSync(file('a.sqlite'))
    await expect(storeHere().open('a')).rejects.toMatchObject({
      code: 'config-invalid',
      message: expect.stringContaining('a.sqlite is a database of another program'),
    })
    await expect(storeHere().delete('a')).rejects.toMatchObject({ code: 'config-invalid' })
    expect(readFileSync(file('a.sqlite'))).toEqual(before)
  })

  it('that was renamed is refused with the name that it had', async () => {
    await writeWorld()
    renameSync(file('a.sqlite'), file('b.sqlite'))
    await expect(storeHere().open('b')).rejects.toMatchObject({
      message: expect.stringContaining(`the world 'a' and not 'b'`),
    })
  })

  it('is listed with its error beside the others, and can be deleted', async () => {
    await writeWorld('good')
    await writeWorld('bad')
    truncateSync(file('bad.sqlite'), 50)
    const store = storeHere()
    expect(await store.list()).toMatchObject([
      { name: 'bad', tick: undefined, sizeBytes: 50, unreadable: { code: 'corrupt-journal' } },
      { name: 'good', tick: 100 },
    ])
    await store.delete('bad')
    expect(readdirSync(folder)).toEqual(['good.newest', 'good.sqlite'])
  })
})

describe('a folder of worlds', () => {
  it.each([0o000, 0o022, 0o077, 0o777])(
    'is made at the first opening, and it and its files are for their owner alone, with umask %o',
    async (umask) => {
      const store = storeHere()
      expect(await store.list()).toEqual([])
      expect(existsSync(folder)).toBe(false)
      const before = process.umask(umask)
      try {
        const journal = await store.open('x'.repeat(500))
        await journal.commit({ snapshot: snapshot(0) })
      } finally {
        process.umask(before)
      }
      const modes = readdirSync(folder).map((name) => statSync(file(name)).mode & 0o777)
      expect(statSync(folder).mode & 0o777).toBe(0o700)
      expect(modes).toEqual([0o600, 0o600, 0o600, 0o600, 0o600, 0o600])
    },
  )

  it('has databases with small pages and no tables of transcripts, until there is one', async () => {
    const store = storeHere()
    await (await store.open('a')).close()
    const read = () => {
      const db = new DatabaseSync(file('a.sqlite'))
      const pageSize = db.prepare('PRAGMA page_size').get()?.['page_size']
      const tables = db
        .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name")
        .all()
      db.close()
      return { pageSize, tables: tables.map(({ name }) => name).filter((name) => !String(name).includes('_words_')) }
    }
    expect(read()).toEqual({ pageSize: 1024, tables: ['letters', 'rows', 'snapshots', 'texts', 'worlds'] })
    await store.appendTranscript('a', 'b.jsonl', [{ text: '{}', searchable: 'oak' }], { from: 0 })
    await store.close()
    const transcripts = ['transcript_lines', 'transcript_words', 'transcripts']
    expect(read().tables).toEqual(['letters', 'rows', 'snapshots', 'texts', ...transcripts, 'worlds'])
  })

  it('has one database a root world, under its name', async () => {
    await writeWorld('research')
    await writeWorld('session', { root: 'research' })
    await writeWorld('Shop')
    const files = ['%0053hop.newest', '%0053hop.sqlite', 'research.newest', 'research.sqlite']
    expect(readdirSync(folder)).toEqual(files)
  })

  it('that cannot be made fails with its path and the cause', async () => {
    writeFileSync(join(dirname(folder), 'file'), '')
    const store = storeHere({ folder: join(dirname(folder), 'file', 'worlds') })
    await expect(store.open('a')).rejects.toMatchObject({
      code: 'store-failed',
      message: expect.stringMatching(/file.worlds.*ENOTDIR/),
    })
  })

  it('may hold files of others', async () => {
    await writeWorld()
    writeFileSync(file('notes.txt'), '')
    writeFileSync(file('Not Ours.sqlite'), '')
    expect((await storeHere().list()).map(({ name }) => name)).toEqual(['a'])
  })

  it('is kept at a length that file systems take, however long the names are', async () => {
    await storeHere().open('世'.repeat(500))
    for (const name of readdirSync(folder)) expect(name.length).toBeLessThanOrEqual(143)
  })
})

describe('options of a SQLite store', () => {
  it.each([
    ['an unknown key', { folder: 'x', folders: 'y' }, /folders/],
    ['an empty folder', { folder: '' }, /folder/],
    ['an empty folder of transcripts', { folder: 'x', transcripts: '' }, /transcripts/],
    ['a size that is not positive', { folder: 'x', maxSizeBytes: 0 }, /maxSizeBytes/],
  ])('with %s are refused by name', (_, options, message) => {
    expect(() => sqliteStore(options)).toThrow(expect.objectContaining({ code: 'config-invalid' }))
    expect(() => sqliteStore(options)).toThrow(message)
  })
})

/** What a tenth of many commits costs the processor at most. */
async function quickCommitUs(journal: WorldJournal, from: number): Promise<number> {
  const costs: number[] = []
  for (const row of rows(from, from + 299, 200)) {
    const before = processorUs()
    await journal.commit({ rows: [row] })
    costs.push(processorUs() - before)
  }
  return costs.sort((a, b) => a - b)[30] ?? 0
}

function overwrite(at: number, text: string): void {
  const bytes = readFileSync(file('a.sqlite'))
  bytes.write(text, at, 'latin1')
  writeFileSync(file('a.sqlite'), bytes)
}
