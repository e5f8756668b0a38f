import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  copyFileSync,
  existsSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { DatabaseSync } from 'node:sqlite'
import { sqliteStore } from 'entia'
import type { JournalRow, SharedStore, WorldJournal } from 'entia/stores'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { tempFolder } from '../tools/temp-folder.ts'

let folder: string

beforeEach(async () => {
  folder = await tempFolder()
})

function storeHere(): SharedStore {
  const store = sqliteStore({ folder, synchronous: 'normal' })
  onTestFinished(() => store.close())
  return store
}

function file(name: string): string {
  return join(folder, name)
}

function rows(first: number, last: number): JournalRow[] {
  return Array.from({ length: last - first + 1 }, (_, index) => ({ tick: first + index, line: `row ${first + index}` }))
}

async function written(
  name: string,
  last: number,
  root = name,
): Promise<{ store: SharedStore; journal: WorldJournal }> {
  const store = storeHere()
  const journal = await store.open(name, { root })
  await journal.commit({ snapshot: { tick: 0, lines: ['zero'] }, rows: rows(1, last) })
  return { store, journal }
}

async function newestTick(journal: WorldJournal): Promise<number | undefined> {
  return (await journal.load())?.rows.at(-1)?.tick
}

function tamper(sql: string): void {
  const db = new DatabaseSync(file('a.sqlite'))
  db.exec(sql)
  db.close()
}

describe('a database whose file goes while it is open', () => {
  const gone = { code: 'store-failed', message: expect.stringMatching(/was removed or replaced while/) as string }

  it.each([
    ['removed', () => rmSync(file('a.sqlite'))],
    ['moved away', () => renameSync(file('a.sqlite'), file('b.sqlite'))],
    [
      'replaced by a copy of itself',
      () => {
        copyFileSync(file('a.sqlite'), file('copy'))
        renameSync(file('copy'), file('a.sqlite'))
      },
    ],
  ])('takes no more commits: %s', async (_, remove) => {
    const { journal, store } = await written('a', 3)
    remove()
    await expect(journal.commit({ rows: rows(4, 4) })).rejects.toMatchObject(gone)
    await expect(journal.commit({ rows: rows(4, 4) })).rejects.toMatchObject(gone)
    await expect(store.putText('a', 'key', 'text')).rejects.toMatchObject(gone)
  })

  it('takes no more commits once its log was removed, and keeps what it took', async () => {
    const { journal, store } = await written('a', 3)
    rmSync(file('a.sqlite-wal'))
    await expect(journal.commit({ rows: rows(4, 4) })).rejects.toMatchObject(gone)
    await store.close()
    expect(await newestTick(await storeHere().open('a'))).toBe(3)
  })

  it('is told by its identity: one that comes back is the same', async () => {
    const { journal } = await written('a', 3)
    renameSync(file('a.sqlite'), file('elsewhere'))
    renameSync(file('elsewhere'), file('a.sqlite'))
    await journal.commit({ rows: rows(4, 4) })
    expect(await newestTick(journal)).toBe(4)
  })

  it('leaves what was put in its place as it is, its log too', async () => {
    const { journal, store } = await written('a', 3)
    for (const suffix of ['', '-wal']) copyFileSync(file(`a.sqlite${suffix}`), file(`copy${suffix}`))
    for (const suffix of ['', '-wal']) renameSync(file(`copy${suffix}`), file(`a.sqlite${suffix}`))
    const before = ['a.sqlite', 'a.sqlite-wal'].map((name) => readFileSync(file(name)))
    await expect(journal.commit({ rows: rows(4, 4) })).rejects.toMatchObject(gone)
    await store.close()
    expect(['a.sqlite', 'a.sqlite-wal'].map((name) => readFileSync(file(name)))).toEqual(before)
    expect(await newestTick(await storeHere().open('a'))).toBe(3)
  })
})

describe('a database that is cut while it is open', () => {
  const sizeOf = (name: string): number => statSync(file(name)).size
  const cut = (name: string) => ({
    code: 'store-failed',
    message: `${file(name)} was cut while this process had it open. Commits are no longer in it, so nothing more is written. Stop this process; then put a backup in its place, or go on from what is left.`,
  })

  it.each([
    ['to nothing', 'a.sqlite-wal', () => 0],
    ['by its end', 'a.sqlite-wal', (sizeBytes: number) => sizeBytes - 1],
    ['in the middle', 'a.sqlite-wal', (sizeBytes: number) => Math.floor(sizeBytes / 2)],
    ['by a page', 'a.sqlite', (sizeBytes: number) => sizeBytes - 1024],
  ])('takes no more commits: %s of %s', async (_, name, kept) => {
    const { journal, store } = await written('a', 3)
    await journal.commit({ rows: rows(4, 4) })
    truncateSync(file(name), kept(sizeOf(name)))
    await expect(journal.commit({ rows: rows(5, 5) })).rejects.toMatchObject(cut(name))
    await expect(journal.commit({ rows: rows(5, 5) })).rejects.toMatchObject(cut(name))
    await expect(store.putText('a', 'key', 'text')).rejects.toMatchObject(cut(name))
    await journal.close()
  })

  it('takes nothing behind the gap, transcripts and letters included, and says at the next opening what is lost', async () => {
    const { journal, store } = await written('a', 3)
    const other = await store.open('child', { root: 'a' })
    await other.commit({ snapshot: { tick: 0, lines: ['zero'] } })
    await store.appendTranscript('a', 't.jsonl', [{ text: 'one', searchable: 'one' }], { from: 0 })
    await journal.commit({ rows: rows(4, 6) })
    truncateSync(file('a.sqlite-wal'), 0)
    const more = store.appendTranscript('a', 't.jsonl', [{ text: 'two', searchable: 'two' }], { from: 1 })
    await expect(more).rejects.toMatchObject(cut('a.sqlite-wal'))
    await expect(store.post({ world: 'child', root: 'a', line: 'x' })).rejects.toMatchObject(cut('a.sqlite-wal'))
    await expect(other.commit({ rows: rows(1, 1) })).rejects.toMatchObject(cut('a.sqlite-wal'))
    expect(sizeOf('a.sqlite-wal')).toBe(0)
    await Promise.all([journal.close(), other.close()])
    await store.close()
    const { lost } = await storeHere().open('a')
    expect(lost?.newestTick).toBe(6)
  })

  it('goes on where it was shortened by itself, after a snapshot that made its log long', async () => {
    const { journal } = await written('a', 3)
    const line = 'x'.repeat(6_000_000)
    await journal.commit({ rows: rows(4, 4), snapshot: { tick: 4, lines: [line] } })
    const longest = sizeOf('a.sqlite-wal')
    for (let tick = 5; tick < 10; tick++) await journal.commit({ rows: rows(tick, tick) })
    expect(longest).toBeGreaterThan(6_000_000)
    expect(sizeOf('a.sqlite-wal')).toBeLessThan(longest)
    expect(await newestTick(journal)).toBe(9)
  })
})

describe('a database that is behind what was committed', () => {
  it('says how far it was, and no more once something is committed', async () => {
    const { store } = await written('a', 9)
    await store.close()
    tamper('DELETE FROM rows WHERE tick > 5')
    const next = storeHere()
    const journal = await next.open('a')
    expect(journal.lost).toEqual({ tick: 5, newestTick: 9 })
    expect(await newestTick(journal)).toBe(5)
    await journal.commit({ rows: rows(6, 6) })
    await next.close()
    expect((await storeHere().open('a')).lost).toBeUndefined()
  })

  it('because an older copy was put in its place says so of each of its worlds', async () => {
    const first = await written('a', 2)
    await (await first.store.open('child', { root: 'a' })).commit({ snapshot: { tick: 0, lines: ['zero'] } })
    await first.store.close()
    copyFileSync(file('a.sqlite'), file('backup'))
    const second = storeHere()
    await (await second.open('a')).commit({ rows: rows(3, 7) })
    await (await second.open('child', { root: 'a' })).commit({ rows: rows(1, 4) })
    await second.close()
    renameSync(file('backup'), file('a.sqlite'))
    const third = storeHere()
    expect((await third.open('a')).lost).toEqual({ tick: 2, newestTick: 7 })
    expect((await third.open('child', { root: 'a' })).lost).toEqual({ tick: 0, newestTick: 4 })
  })

  it('because it was removed is made anew and says so', async () => {
    const { store } = await written('a', 9)
    await store.close()
    rmSync(file('a.sqlite'))
    const journal = await storeHere().open('a')
    expect(journal.lost).toEqual({ tick: undefined, newestTick: 9 })
    expect(await journal.load()).toBeUndefined()
  })

  it('says nothing of worlds that were deleted', async () => {
    const { store, journal } = await written('a', 9)
    const child = await store.open('child', { root: 'a' })
    await child.commit({ snapshot: { tick: 5, lines: ['five'] } })
    await child.close()
    await store.delete('child')
    expect((await store.open('child', { root: 'a' })).lost).toBeUndefined()
    await journal.close()
    await store.close()
    const next = storeHere()
    await next.delete('a')
    expect(existsSync(file('a.newest'))).toBe(false)
    expect((await next.open('a')).lost).toBeUndefined()
  })

  it('cannot say so where its note cannot be read, and is opened all the same', async () => {
    const { store } = await written('a', 9)
    await store.close()
    tamper('DELETE FROM rows WHERE tick > 5')
    writeFileSync(file('a.newest'), '{"ticks":[["a"')
    const journal = await storeHere().open('a')
    expect(journal.lost).toBeUndefined()
    expect(await newestTick(journal)).toBe(5)
  })

  it('because its log was deleted after a kill says so', async () => {
    const program = join(import.meta.dirname, '../programs/store-writer.ts')
    const writer = spawn(process.execPath, [program, folder], { stdio: ['pipe', 'pipe', 'inherit'] })
    const exit = once(writer, 'exit')
    onTestFinished(async () => {
      writer.kill('SIGKILL')
      await exit
    })
    for await (const _ of createInterface({ input: writer.stdout })) {
      if (existsSync(file('root.newest')) && statSync(file('root.newest')).size > 0) break
    }
    writer.kill('SIGKILL')
    await exit
    rmSync(file('root.sqlite-wal'))
    const { lost } = await storeHere().open('root')
    expect(lost?.newestTick).toBeGreaterThanOrEqual(0)
    expect(lost?.tick ?? -1).toBeLessThan(lost?.newestTick ?? -1)
  })
})
