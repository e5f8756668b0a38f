import type { JournalRow, Store, WorldInfo, WorldJournal } from 'entia/stores'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

export interface StorePlace {
  readonly name: string
  /** A store of its own, which is empty. */
  readonly make: () => Promise<Store> | Store
}

function rows(from: number, to: number): JournalRow[] {
  return Array.from({ length: to - from + 1 }, (_, index) => ({ tick: from + index, line: `{"tick":${from + index}}` }))
}

function snapshot(tick: number) {
  return { tick, lines: [`{"world":${tick}}`, '{"entity":1}'] }
}

/** What the store lists, without those who have it open. */
async function listed(store: Store): Promise<readonly WorldInfo[]> {
  const infos = await store.list()
  return infos.map((info) => {
    const { heldBy: _, ...rest } = info
    return rest
  })
}

/** What holds of every store. */
export function describeStores(places: readonly StorePlace[]): void {
  describe.each(places)('a store in $name', ({ make }) => {
    let store: Store
    beforeEach(async () => {
      store = await make()
    })
    afterEach(async () => {
      await store.close()
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
        expect(await listed(store)).toEqual([{ name: 'a', tick: 3, sizeBytes: kept.length }])
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

    describe('a world in the list', () => {
      it('says whether it had work in flight after its newest tick, as far as that was said', async () => {
        const listed = async () => (await store.list()).map(({ isBusy }) => isBusy)
        const journal = await openWritten('a')
        expect(await listed()).toEqual([undefined])
        await journal.commit({ rows: rows(4, 4), isBusy: true })
        expect(await listed()).toEqual([true])
        await journal.commit({ rows: rows(5, 5), isBusy: false })
        expect(await listed()).toEqual([false])
        await journal.commit({ snapshot: snapshot(5), isBusy: true })
        expect(await listed()).toEqual([true])
        await journal.commit({ rows: rows(6, 7), snapshot: snapshot(7), isBusy: false })
        await journal.close()
        expect(await listed()).toEqual([false])
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

      it('keeps every snapshot, so that a tick is read from the nearest one before it', async () => {
        const journal = await openWritten('a', { record: true })
        await journal.commit({ snapshot: snapshot(3) })
        // Those of one transaction as well.
        await Promise.all([
          journal.commit({ rows: rows(4, 4), snapshot: snapshot(4) }),
          journal.commit({ rows: rows(5, 6), snapshot: snapshot(6) }),
          journal.commit({ rows: rows(7, 7), snapshot: snapshot(7) }),
        ])
        expect(await store.read('a', { to: 3 })).toEqual({ snapshot: snapshot(3), rows: [] })
        expect(await store.read('a', { to: 5 })).toEqual({ snapshot: snapshot(4), rows: rows(5, 5) })
        expect(await store.read('a', { to: 6 })).toEqual({ snapshot: snapshot(6), rows: [] })
        expect(await journal.recording()).toEqual({ snapshot: snapshot(0), rows: rows(1, 7) })
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
          message: expect.stringMatching(/'a'.*expected tick 4 after tick 3, got tick 5/),
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
        expect(await listed(store)).toEqual([
          { name: 'a', tick: 3, sizeBytes },
          { name: 'b', tick: 3, sizeBytes },
          { name: 'é', root: 'a', tick: 3, sizeBytes },
        ])
      })

      it('gives the first root worlds with what lies in their databases, if no more are asked for', async () => {
        for (const name of ['b', 'c', 'a']) await (await openWritten(name)).close()
        await (await openWritten('z', { root: 'a' })).close()
        const names = async (limit: number) => (await store.list({ limit })).map(({ name }) => name)
        expect(await names(2)).toEqual(['a', 'b', 'z'])
        expect(await names(0)).toEqual([])
        expect((await store.list({ root: 'b', limit: 1 })).map(({ name }) => name)).toEqual(['b'])
        await expect(store.list({ limit: -1 })).rejects.toMatchObject({ code: 'invalid-argument' })
      })

      it('counts bytes, not characters', async () => {
        const journal = await store.open('a')
        await journal.commit({ snapshot: { tick: 7, lines: ['é', '世'] } })
        expect(await listed(store)).toEqual([{ name: 'a', tick: 7, sizeBytes: 5 }])
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

    describe('a text', () => {
      const key = 'scratchbook/records/subagent/subagent_0f'

      it('comes back under its root and its key, and under no other', async () => {
        await store.putText('root', key, 'one')
        await store.putText('root', `${key}1`, 'two')
        await store.putText('another', key, 'three')
        expect(await store.getText('root', key)).toBe('one')
        expect(await store.getText('root', `${key}1`)).toBe('two')
        expect(await store.getText('another', key)).toBe('three')
        expect(await store.getText('root', key.toUpperCase())).toBeUndefined()
        expect(await store.getText('nobody', key)).toBeUndefined()
        expect((await store.list()).map(({ name }) => name)).not.toContain('nobody')
      })

      it('is replaced by a later one under its key, and kept as it is by the same again', async () => {
        for (const text of ['first', 'second', 'second', '']) {
          await store.putText('root', key, text)
          expect(await store.getText('root', key)).toBe(text)
        }
      })

      it('may be 10 MB long', async () => {
        const text = 'ten bytes\n'.repeat(1_000_000)
        await store.putText('root', key, text)
        expect((await store.getText('root', key)) === text).toBe(true)
      })

      it('and its key may be any well-formed text', async () => {
        const someText = fc.string({ unit: 'binary' })
        await fc.assert(
          fc.asyncProperty(fc.string({ unit: 'binary', minLength: 1 }), someText, async (anyKey, text) => {
            await store.putText('root', anyKey, text)
            expect(await store.getText('root', anyKey)).toBe(text)
          }),
          { numRuns: 30 },
        )
      })

      it.each([
        ['an empty key', '', 'text'],
        ['a key with half a surrogate pair', '\ud800', 'text'],
        ['half a surrogate pair', key, 'a\udc00'],
        ['what is no text', key, JSON.parse('5') as string],
      ])('is refused with %s, and takes nothing else with it', async (_, badKey, text) => {
        const journal = await openWritten('root')
        const outcomes = await Promise.allSettled([
          store.putText('root', badKey, text),
          journal.commit({ rows: rows(4, 4) }),
          store.putText('root', 'good', 'text'),
        ])
        expect(outcomes).toMatchObject([
          { status: 'rejected', reason: { name: 'EntiaError', code: 'invalid-argument' } },
          { status: 'fulfilled' },
          { status: 'fulfilled' },
        ])
        await expect(store.putText('', key, 'text')).rejects.toMatchObject({ code: 'invalid-argument' })
        await expect(store.getText('root', '')).rejects.toMatchObject({ code: 'invalid-argument' })
      })

      it('can be put and read while its root is held, awaited or not, and after', async () => {
        const journal = await openWritten('root')
        const put = store.putText('root', key, 'while held')
        expect(await store.getText('root', key)).toBe('while held')
        await Promise.all([put, journal.commit({ rows: rows(4, 4) })])
        expect((await journal.load())?.rows).toEqual(rows(1, 4))
        await journal.close()
        expect(await store.getText('root', key)).toBe('while held')
        const again = await store.open('root')
        expect(await store.getText('root', key)).toBe('while held')
        expect((await again.load())?.rows).toEqual(rows(1, 4))
      })

      it('is no world: neither it nor its bytes are listed, and a world of its root is new', async () => {
        await store.putText('root', key, 'text')
        expect(await store.list()).toEqual([])
        const journal = await store.open('root')
        expect(await journal.load()).toBeUndefined()
        await journal.commit({ snapshot: snapshot(0) })
        const [listed] = await store.list()
        await store.putText('root', key, 'more text')
        expect(await store.list()).toEqual([listed])
      })

      it('of a hundred that are put at once is kept like every other, the last one under each key', async () => {
        await openWritten('root')
        const puts = (text: string) =>
          Array.from({ length: 100 }, (_, index) => store.putText('root', `${key}${index}`, `${text} ${index}`))
        await Promise.all([...puts('early'), ...puts('late')])
        for (let index = 0; index < 100; index++) {
          expect(await store.getText('root', `${key}${index}`)).toBe(`late ${index}`)
        }
      })

      it('that is put while the last world of its root is being closed is kept', async () => {
        const journal = await openWritten('root')
        const early = store.putText('root', `${key}0`, 'early')
        const closing = journal.close()
        const late = store.putText('root', `${key}1`, 'late')
        await closing
        await Promise.all([early, late])
        expect(await store.getText('root', `${key}0`)).toBe('early')
        expect(await store.getText('root', `${key}1`)).toBe('late')
        await store.open('root')
      })

      it('that is under way is waited for when the store is closed, and what comes after is refused', async () => {
        await openWritten('root')
        const put = store.putText('root', key, 'late')
        await store.close()
        await put
        await expect(store.putText('root', key, 'later')).rejects.toMatchObject({ code: 'store-closed' })
        await expect(store.getText('root', key)).rejects.toMatchObject({ code: 'store-closed' })
      })

      it('goes with its root, and stays when a child goes', async () => {
        await (await openWritten('root')).close()
        await (await openWritten('child', { root: 'root' })).close()
        await store.putText('root', key, 'text')
        await store.delete('child')
        expect(await store.getText('root', key)).toBe('text')
        await store.delete('root')
        expect(await store.getText('root', key)).toBeUndefined()
        await (await openWritten('root')).close()
        expect(await store.getText('root', key)).toBeUndefined()
      })

      it('goes with its root where there is no world, or where it is under way', async () => {
        await store.putText('root', key, 'text')
        await store.delete('root')
        expect(await store.getText('root', key)).toBeUndefined()
        const journal = await openWritten('root')
        const put = store.putText('root', key, 'late')
        await journal.close()
        await store.delete('root')
        await put
        expect(await store.getText('root', key)).toBeUndefined()
        await expect(store.delete('root')).rejects.toMatchObject({ code: 'no-such-world' })
      })
    })

    describe('a name', () => {
      const odd = [
        '../up',
        'a/b\\c',
        'A',
        'a',
        '.',
        'con',
        'a.sqlite',
        'é',
        'e\u0301',
        ' ',
        '\0',
        '\ud800',
        'x~y',
        '%61',
      ]
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
}
