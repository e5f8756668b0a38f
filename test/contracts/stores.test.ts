import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type JournalRow, memoryStore, sqliteStore, type Store, type WorldJournal } from 'entia'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

const folders: string[] = []

const stores: readonly { name: string; make: () => Store }[] = [
  { name: 'memory', make: memoryStore },
  {
    name: 'sqlite',
    make: () => {
      const folder = mkdtempSync(join(tmpdir(), 'entia-stores-'))
      folders.push(folder)
      return sqliteStore({ folder, synchronous: 'normal' })
    },
  },
]

function rows(from: number, to: number): JournalRow[] {
  return Array.from({ length: to - from + 1 }, (_, index) => ({ tick: from + index, line: `{"tick":${from + index}}` }))
}

function snapshot(tick: number) {
  return { tick, lines: [`{"world":${tick}}`, '{"entity":1}'] }
}

describe.each(stores)('a store in $name', ({ make }) => {
  let store: Store
  beforeEach(() => {
    store = make()
  })
  afterEach(async () => {
    await store.close()
    for (const folder of folders.splice(0)) rmSync(folder, { recursive: true })
  })

  async function openWritten(name: string, options?: Parameters<Store['open']>[1]): Promise<WorldJournal> {
    const journal = await store.open(name, options)
    await journal.commit({ snapshot: snapshot(0), rows: rows(1, 3) })
    return journal
  }

  describe('a world', () => {
    it('that has never been written loads as undefined and is not listed', async () => {
      const journal = await store.open('new')
      expect(journal.name).toBe('new')
      expect(await journal.load()).toBeUndefined()
      expect(await journal.recording()).toBeUndefined()
      expect(await store.list()).toEqual([])
    })

    it('loads as its newest snapshot and the rows behind it', async () => {
      const journal = await openWritten('a')
      await journal.commit({ rows: rows(4, 4) })
      expect(await journal.load()).toEqual({ snapshot: snapshot(0), rows: rows(1, 4) })
    })

    it('loads the same for the next holder', async () => {
      const journal = await openWritten('a')
      await journal.close()
      const again = await store.open('a')
      expect(await again.load()).toEqual({ snapshot: snapshot(0), rows: rows(1, 3) })
      await again.commit({ rows: rows(4, 4) })
      expect((await again.load())?.rows).toHaveLength(4)
    })

    it('loads with what was committed before the call, awaited or not', async () => {
      const journal = await store.open('a')
      const commit = journal.commit({ snapshot: snapshot(0), rows: rows(1, 2) })
      expect(await journal.load()).toEqual({ snapshot: snapshot(0), rows: rows(1, 2) })
      await commit
    })

    it('gets back every line as it was, whatever well-formed text it holds', async () => {
      const line = fc.string({ unit: 'binary' }).filter((text) => !text.includes('\n'))
      let number = 0
      await fc.assert(
        fc.asyncProperty(fc.array(line, { minLength: 1 }), async (lines) => {
          const journal = await store.open(`lines-${number++}`)
          const journalRows = lines.map((text, index) => ({ tick: index + 1, line: text }))
          await journal.commit({ snapshot: { tick: 0, lines }, rows: journalRows })
          expect(await journal.load()).toEqual({ snapshot: { tick: 0, lines }, rows: journalRows })
          await journal.close()
        }),
        { numRuns: 30 },
      )
    })

    it('is replaced up to the tick of a new snapshot', async () => {
      const journal = await openWritten('a')
      await journal.commit({ snapshot: snapshot(2) })
      const expected = { snapshot: snapshot(2), rows: rows(3, 3) }
      const kept = [...expected.snapshot.lines, ...expected.rows.map(({ line }) => line)].join('')
      expect(await store.list()).toEqual([{ name: 'a', tick: 3, sizeBytes: kept.length }])
      expect(await journal.load()).toEqual(expected)
      expect(await journal.recording()).toEqual(expected)
    })

    it('can be given a new snapshot of the same tick', async () => {
      const journal = await openWritten('a')
      await journal.commit({ snapshot: { tick: 3, lines: ['old', 'older', 'oldest'] } })
      await journal.commit({ snapshot: { tick: 3, lines: ['migrated'] } })
      expect(await journal.load()).toEqual({ snapshot: { tick: 3, lines: ['migrated'] }, rows: [] })
    })

    it('can be given rows and the snapshot of their last tick in one batch', async () => {
      const journal = await openWritten('a')
      await journal.commit({ rows: rows(4, 6), snapshot: snapshot(6) })
      await journal.commit({ rows: rows(7, 7) })
      expect(await journal.load()).toEqual({ snapshot: snapshot(6), rows: rows(7, 7) })
    })

    it('may skip ticks with a snapshot, as it keeps nothing of what was before', async () => {
      const journal = await openWritten('a')
      await journal.commit({ snapshot: snapshot(10) })
      await journal.commit({ rows: rows(11, 11) })
      expect(await journal.load()).toEqual({ snapshot: snapshot(10), rows: rows(11, 11) })
    })

    it('keeps its lines as they were when commit was called', async () => {
      const journal = await store.open('a')
      let state = 'before'
      const lines = function* () {
        yield state
      }
      const commit = journal.commit({ snapshot: { tick: 0, lines: lines() } })
      state = 'after'
      await commit
      expect((await journal.load())?.snapshot.lines).toEqual(['before'])
    })

    it('takes an empty batch as nothing', async () => {
      const journal = await store.open('a')
      await journal.commit({})
      await journal.commit({ rows: [] })
      expect(await journal.load()).toBeUndefined()
    })
  })

  describe('a world that keeps a recording', () => {
    it('has its first snapshot and all rows after later snapshots, and loads from the newest', async () => {
      const journal = await openWritten('a', { record: true })
      await journal.commit({ snapshot: snapshot(2) })
      await journal.commit({ rows: rows(4, 5), snapshot: snapshot(5) })
      await journal.commit({ rows: rows(6, 6) })
      expect(await journal.recording()).toEqual({ snapshot: snapshot(0), rows: rows(1, 6) })
      expect(await journal.load()).toEqual({ snapshot: snapshot(5), rows: rows(6, 6) })
    })

    it('keeps no snapshot between the first and the newest', async () => {
      const journal = await openWritten('a', { record: true })
      await journal.commit({ snapshot: snapshot(1) })
      const before = (await store.list())[0]?.sizeBytes
      await journal.commit({ snapshot: snapshot(2) })
      expect((await store.list())[0]?.sizeBytes).toBe(before)
    })

    it('can be given its first snapshot anew', async () => {
      const journal = await store.open('a', { record: true })
      await journal.commit({ snapshot: snapshot(0) })
      await journal.commit({ snapshot: { tick: 0, lines: ['migrated'] } })
      expect(await journal.recording()).toEqual({ snapshot: { tick: 0, lines: ['migrated'] }, rows: [] })
    })

    it('refuses a snapshot that would leave a hole in it', async () => {
      const journal = await openWritten('a', { record: true })
      await expect(journal.commit({ snapshot: snapshot(5) })).rejects.toMatchObject({ code: 'invalid-argument' })
      expect((await journal.recording())?.rows).toEqual(rows(1, 3))
    })

    it('loses it to the first snapshot of a holder who does not ask for it', async () => {
      await (await openWritten('a', { record: true })).close()
      const journal = await store.open('a')
      await journal.commit({ snapshot: snapshot(3) })
      expect(await journal.recording()).toEqual({ snapshot: snapshot(3), rows: [] })
    })
  })

  describe('a commit', () => {
    it('that leaves out a tick is refused and changes nothing', async () => {
      const journal = await openWritten('a')
      await expect(journal.commit({ rows: rows(5, 5) })).rejects.toMatchObject({
        code: 'invalid-argument',
        message: expect.stringMatching(/'a'.*tick 4 was expected after tick 3, and tick 5 came/),
      })
      expect((await journal.load())?.rows).toEqual(rows(1, 3))
      await journal.commit({ rows: rows(4, 4) })
    })

    it.each([
      ['a first batch without a snapshot', 'new', { rows: rows(1, 1) }],
      ['a tick that is there already', 'a', { rows: rows(3, 3) }],
      ['rows that are not in order', 'a', { rows: rows(4, 6).toReversed() }],
      ['a tick that is no whole number', 'new', { snapshot: snapshot(0.5) }],
      ['a negative tick', 'new', { snapshot: snapshot(-1) }],
      ['a snapshot without lines', 'a', { snapshot: { tick: 3, lines: [] } }],
      ['a line with a line break', 'a', { rows: [{ tick: 4, line: 'a\nb' }] }],
      ['a line with half a surrogate pair', 'a', { rows: [{ tick: 4, line: '\ud800' }] }],
    ])('of %s is refused', async (_, name, batch) => {
      const journals = { a: await openWritten('a'), new: await store.open('new') }
      const journal = name === 'a' ? journals.a : journals.new
      const before = await journal.load()
      await expect(journal.commit(batch)).rejects.toMatchObject({ name: 'EntiaError', code: 'invalid-argument' })
      expect(await journal.load()).toEqual(before)
    })

    it('that is refused takes no other of the same turn with it', async () => {
      const [a, b, c] = [await openWritten('a'), await openWritten('b', { root: 'a' }), await openWritten('c')]
      const outcomes = await Promise.allSettled([
        a.commit({ rows: rows(4, 4) }),
        b.commit({ rows: rows(9, 9) }),
        a.commit({ rows: rows(5, 5) }),
        c.commit({ rows: rows(4, 4) }),
        b.commit({ rows: rows(4, 4) }),
      ])
      expect(outcomes.map(({ status }) => status)).toEqual([
        'fulfilled',
        'rejected',
        'fulfilled',
        'fulfilled',
        'fulfilled',
      ])
      expect((await a.load())?.rows).toEqual(rows(1, 5))
      expect((await b.load())?.rows).toEqual(rows(1, 4))
    })

    it('of a snapshot older than the newest is refused, however new its rows are', async () => {
      const journal = await openWritten('a')
      await journal.commit({ snapshot: snapshot(2) })
      const late = journal.commit({ rows: rows(4, 4), snapshot: snapshot(1) })
      await expect(late).rejects.toMatchObject({ code: 'invalid-argument' })
      expect(await journal.load()).toEqual({ snapshot: snapshot(2), rows: rows(3, 3) })
    })

    it('resolves in the order of the calls, and never before the call returns', async () => {
      const journal = await openWritten('a')
      const order: number[] = []
      const commits = [4, 5, 6].map((tick) => journal.commit({ rows: rows(tick, tick) }).then(() => order.push(tick)))
      await Promise.resolve()
      expect(order).toEqual([])
      await Promise.all(commits)
      expect(order).toEqual([4, 5, 6])
    })
  })

  describe('a lock', () => {
    it('tells the second opener who holds the world and what to do', async () => {
      await store.open('a', { holder: 'the runner of the shop' })
      await expect(store.open('a', { holder: 'another' })).rejects.toMatchObject({
        code: 'world-locked',
        message: expect.stringMatching(/'a'.*held by the runner of the shop \(process \d+ on .*close it there first/),
        details: { world: 'a', holder: 'the runner of the shop', pid: process.pid },
      })
    })

    it('is free once its holder has closed', async () => {
      const journal = await store.open('a', { holder: 'first' })
      await journal.close()
      await store.open('a', { holder: 'second' })
      await expect(store.open('a')).rejects.toMatchObject({ details: { holder: 'second' } })
    })

    it('of one world leaves its root and its siblings free', async () => {
      await store.open('child', { root: 'root', holder: 'the child' })
      await store.open('root', { holder: 'the root' })
      await store.open('sibling', { root: 'root' })
      await expect(store.open('child', { root: 'root' })).rejects.toMatchObject({ details: { holder: 'the child' } })
    })
  })

  describe('closing', () => {
    it('a world waits for commits under way', async () => {
      const journal = await openWritten('a')
      const commit = journal.commit({ rows: rows(4, 4) })
      await journal.close()
      await commit
      expect((await (await store.open('a')).load())?.rows).toEqual(rows(1, 4))
    })

    it('a world twice is the same as once, and what comes after is refused', async () => {
      const journal = await openWritten('a')
      await Promise.all([journal.close(), journal.close()])
      await journal.close()
      await expect(journal.commit({ rows: rows(4, 4) })).rejects.toMatchObject({ code: 'store-closed' })
      await expect(journal.load()).rejects.toMatchObject({ code: 'store-closed' })
      await expect(journal.recording()).rejects.toMatchObject({ code: 'store-closed' })
    })

    it('a world leaves the others of its root open', async () => {
      const root = await openWritten('root')
      const child = await openWritten('child', { root: 'root' })
      await root.close()
      await child.commit({ rows: rows(4, 4) })
      expect((await child.load())?.rows).toEqual(rows(1, 4))
    })

    it('the store waits for commits under way and closes what was opened', async () => {
      const journal = await openWritten('a')
      const commit = journal.commit({ rows: rows(4, 4) })
      await Promise.all([store.close(), store.close()])
      await commit
      await expect(journal.commit({ rows: rows(5, 5) })).rejects.toMatchObject({ code: 'store-closed' })
      await expect(store.open('b')).rejects.toMatchObject({ code: 'store-closed' })
      await expect(store.list()).rejects.toMatchObject({ code: 'store-closed' })
      await expect(store.delete('a')).rejects.toMatchObject({ code: 'store-closed' })
    })
  })

  describe('a list', () => {
    it('has every written world, held or not, with its root, newest tick and size, by name', async () => {
      await (await openWritten('b')).close()
      await openWritten('a')
      await (await openWritten('é', { root: 'a' })).close()
      const sizeBytes = [...snapshot(0).lines, ...rows(1, 3).map(({ line }) => line)].join('').length
      expect(await store.list()).toEqual([
        { name: 'a', tick: 3, sizeBytes },
        { name: 'b', tick: 3, sizeBytes },
        { name: 'é', root: 'a', tick: 3, sizeBytes },
      ])
    })

    it('counts bytes, not characters', async () => {
      const journal = await store.open('a')
      await journal.commit({ snapshot: { tick: 7, lines: ['é', '世'] } })
      expect(await store.list()).toEqual([{ name: 'a', tick: 7, sizeBytes: 5 }])
    })
  })

  describe('deleting', () => {
    it('a root removes it and its children', async () => {
      await (await openWritten('root')).close()
      await (await openWritten('child', { root: 'root' })).close()
      await (await openWritten('other')).close()
      await store.delete('root')
      expect((await store.list()).map(({ name }) => name)).toEqual(['other'])
      expect(await (await store.open('root')).load()).toBeUndefined()
    })

    it('a child leaves its root and its siblings', async () => {
      await openWritten('root')
      await (await openWritten('child', { root: 'root' })).close()
      await (await openWritten('sibling', { root: 'root' })).close()
      await store.delete('child')
      expect((await store.list()).map(({ name }) => name)).toEqual(['root', 'sibling'])
      expect(await (await store.open('child', { root: 'root' })).load()).toBeUndefined()
    })

    it('finds a child whose root is not open', async () => {
      await (await openWritten('child', { root: 'root' })).close()
      await store.delete('child')
      expect(await store.list()).toEqual([])
    })

    it('a world that is held is refused, and so is a root with a child that is', async () => {
      const root = await openWritten('root')
      const child = await openWritten('child', { root: 'root', holder: 'a session' })
      await expect(store.delete('root')).rejects.toMatchObject({ code: 'world-locked' })
      await expect(store.delete('child')).rejects.toMatchObject({ code: 'world-locked' })
      await root.close()
      await expect(store.delete('root')).rejects.toMatchObject({ details: { world: 'child', holder: 'a session' } })
      expect((await child.load())?.rows).toEqual(rows(1, 3))
    })

    it('a world that is not there is refused', async () => {
      await expect(store.delete('nobody')).rejects.toMatchObject({
        code: 'no-such-world',
        details: { world: 'nobody' },
      })
    })
  })

  describe('a name', () => {
    const odd = ['../up', 'a/b\\c', 'A', 'a', '.', 'con', 'a.sqlite', 'é', 'e\u0301', ' ', '\0', '\ud800', 'x~y', '%61']
    const long = ['l'.repeat(1000), 'L'.repeat(1000), `${'l'.repeat(999)}m`, '世'.repeat(300)]

    it('may be any text, and no two are mixed up', async () => {
      const names = [...odd, ...long]
      for (const name of names) {
        const journal = await store.open(name)
        await journal.commit({ snapshot: { tick: 0, lines: [JSON.stringify(name)] } })
        await journal.close()
      }
      expect((await store.list()).map(({ name }) => name).sort()).toEqual([...names].sort())
      for (const name of names) {
        expect((await (await store.open(name)).load())?.snapshot.lines).toEqual([JSON.stringify(name)])
      }
    })

    it('of a child may be any text', async () => {
      for (const name of [...odd, ...long]) {
        await (await openWritten(name, { root: 'root' })).close()
      }
      expect((await store.list()).map(({ name }) => name).sort()).toEqual([...odd, ...long].sort())
    })

    it('that is empty is refused', async () => {
      await expect(store.open('')).rejects.toMatchObject({ code: 'invalid-argument' })
      await expect(store.open('a', { root: '' })).rejects.toMatchObject({ code: 'invalid-argument' })
      await expect(store.delete('')).rejects.toMatchObject({ code: 'invalid-argument' })
    })
  })
})
