import type { SharedStore } from 'entia/stores'
import { describe, expect, it, onTestFinished } from 'vitest'

export interface SharedPlace {
  readonly name: string
  /** A store of its own, which is empty. */
  readonly make: () => Promise<SharedStore> | SharedStore
}

/** What holds of every store whose worlds pass from holder to holder, and get letters. */
export function describeLetters(places: readonly SharedPlace[]): void {
  describe.each(places)('a shared store in $name', ({ make }) => {
    async function opened(): Promise<SharedStore> {
      const store = await make()
      onTestFinished(() => store.close())
      return store
    }

    const begin = { snapshot: { tick: 0, lines: ['{}'] } }
    const row = (tick: number) => ({ rows: [{ tick, line: `row ${tick}` }] })

    describe('a world that is seized', () => {
      it('goes on from what was committed, and refuses whatever its earlier holder commits', async () => {
        const store = await opened()
        const before = await store.open('a')
        await before.commit({ ...begin, ...row(1) })
        const after = await store.open('a', { seize: true })
        expect(after.epoch).toBeGreaterThan(before.epoch)
        expect((await after.load())?.rows).toEqual(row(1).rows)
        const late = before.commit({ ...row(2), sent: [{ world: 'a', line: 'never' }] })
        await expect(late).rejects.toMatchObject({ code: 'world-fenced', details: { world: 'a', epoch: before.epoch } })
        await after.commit(row(2))
        await expect(before.commit(row(3))).rejects.toMatchObject({ code: 'world-fenced' })
        expect(await after.letters()).toEqual([])
        expect((await after.load())?.rows).toEqual([...row(1).rows, ...row(2).rows])
      })

      it('is not given free by its earlier holder', async () => {
        const store = await opened()
        const before = await store.open('a', { holder: 'the first' })
        await before.commit(begin)
        await store.open('a', { seize: true, holder: 'the second' })
        await before.close({ wakeAtMs: 1 })
        await expect(store.open('a')).rejects.toMatchObject({
          code: 'world-locked',
          message: expect.stringContaining('the second'),
        })
        expect((await store.list())[0]).not.toHaveProperty('wakeAtMs')
      })

      it('has a higher epoch with each holder that has committed', async () => {
        const store = await opened()
        const epochs: number[] = []
        for (const tick of [1, 2, 3]) {
          const journal = await store.open('a')
          await journal.commit(tick === 1 ? { ...begin, ...row(1) } : row(tick))
          epochs.push(journal.epoch)
          await journal.close()
        }
        expect(epochs).toEqual([...new Set(epochs)].sort((a, b) => a - b))
      })

      it('fails alone: what others commit in the same turn is written', async () => {
        const store = await opened()
        const [a, b] = [await store.open('a'), await store.open('b', { root: 'a' })]
        await Promise.all([a.commit(begin), b.commit(begin)])
        await store.open('a', { seize: true })
        const [lost, kept] = await Promise.allSettled([a.commit(row(1)), b.commit(row(1))])
        expect([lost.status, kept.status]).toEqual(['rejected', 'fulfilled'])
      })
    })

    describe('a world that its root places', () => {
      const first = { world: 'b', tick: 0, lines: ['{"first":1}'] }

      it('is there once, and nobody holds it', async () => {
        const store = await opened()
        const journal = await store.open('a')
        await journal.commit(begin)
        expect(await journal.place({ ...first, isBusy: true })).toBe(true)
        expect(await journal.place({ ...first, lines: ['{"second":2}'] })).toBe(false)
        expect((await store.read('b', { root: 'a' }))?.snapshot.lines).toEqual(first.lines)
        const info = (await store.list({ root: 'a' })).find(({ name }) => name === 'b')
        expect(info).toMatchObject({ root: 'a', tick: 0, isBusy: true })
        expect(info).not.toHaveProperty('heldBy')
        const held = await store.open('b', { root: 'a' })
        await held.commit(row(1))
        expect(await journal.place(first)).toBe(false)
        expect((await held.load())?.rows).toEqual(row(1).rows)
      })

      it('is not written by one that was succeeded, also where its successor has removed it', async () => {
        const store = await opened()
        const before = await store.open('a')
        await before.commit(begin)
        await before.place(first)
        await store.open('a', { seize: true })
        await store.delete('b')
        await expect(before.place(first)).rejects.toMatchObject({ code: 'world-fenced', details: { world: 'a' } })
        expect(await store.read('b', { root: 'a' })).toBeUndefined()
      })
    })

    describe('a letter', () => {
      it('waits for a world until one of its ticks has taken it', async () => {
        const store = await opened()
        const journal = await store.open('a')
        await journal.commit(begin)
        await store.post({ world: 'a', line: 'one' })
        await store.post({ world: 'a', line: 'two' })
        const [one, two] = await journal.letters()
        expect([one?.line, two?.line]).toEqual(['one', 'two'])
        await journal.commit({ ...row(1), taken: [one?.id ?? 0] })
        await journal.close()
        const next = await store.open('a')
        expect((await next.letters()).map(({ line }) => line)).toEqual(['two'])
      })

      it('reaches a world that nobody holds, and one that does not exist yet', async () => {
        const store = await opened()
        await store.post({ world: 'later', line: 'hello' })
        expect(await store.list()).toMatchObject([{ name: 'later', tick: undefined, letters: 1 }])
        const journal = await store.open('later')
        await journal.commit(begin)
        expect((await journal.letters()).map(({ line }) => line)).toEqual(['hello'])
        await journal.close()
        expect(await store.list()).toMatchObject([{ name: 'later', tick: 0, letters: 1 }])
      })

      it('reaches a world that has been closed', async () => {
        const store = await opened()
        const journal = await store.open('a')
        await journal.commit(begin)
        await journal.close()
        for (const line of ['one', 'two']) await store.post({ world: 'a', line })
        expect(await store.list()).toMatchObject([{ name: 'a', tick: 0, letters: 2 }])
        const next = await store.open('a')
        expect((await next.letters()).map(({ line }) => line)).toEqual(['one', 'two'])
      })

      it('under an id waits once', async () => {
        const store = await opened()
        const journal = await store.open('a')
        await journal.commit(begin)
        for (const line of ['first', 'again']) await store.post({ world: 'a', line, id: 'x' })
        const [letter, ...others] = await journal.letters()
        expect([letter?.line, others]).toEqual(['first', []])
        await journal.commit({ ...row(1), taken: [letter?.id ?? 0] })
        await store.post({ world: 'a', line: 'later', id: 'x' })
        const [later] = await journal.letters()
        expect(later?.line).toBe('later')
        expect(later?.id).not.toBe(letter?.id)
      })

      it('is sent with the ticks that send it, or not at all', async () => {
        const store = await opened()
        const [a, b] = [await store.open('a'), await store.open('b', { root: 'a' })]
        await Promise.all([a.commit(begin), b.commit(begin)])
        await a.commit({ ...row(1), sent: [{ root: 'a', world: 'b', line: 'hello' }] })
        const torn = a.commit({ ...row(7), sent: [{ root: 'a', world: 'b', line: 'torn' }] })
        await expect(torn).rejects.toMatchObject({ code: 'invalid-argument' })
        expect((await b.letters()).map(({ line }) => line)).toEqual(['hello'])
      })

      it('may be taken and sent without a tick', async () => {
        const store = await opened()
        const [a, b] = [await store.open('a'), await store.open('b', { root: 'a' })]
        await Promise.all([a.commit(begin), b.commit(begin)])
        await store.post({ world: 'a', line: 'hello' })
        const taken = (await a.letters()).map(({ id }) => id)
        await a.commit({ taken, sent: [{ root: 'a', world: 'b', line: 'there' }] })
        expect([await a.letters(), (await b.letters()).map(({ line }) => line)]).toEqual([[], ['there']])
      })

      it('is heard of by those who listen', async () => {
        const store = await opened()
        const heard = new Promise<string>((resolve) => {
          onTestFinished(store.on('letter', (root, world) => resolve(`${root}/${world}`)))
        })
        await store.post({ root: 'a', world: 'b', line: 'hello' })
        expect(await heard).toBe('a/b')
      })

      it('of many is read from the oldest on', async () => {
        const store = await opened()
        const journal = await store.open('a')
        await journal.commit(begin)
        await Promise.all(Array.from({ length: 30 }, (_, n) => store.post({ world: 'a', line: `letter ${n}` })))
        const some = await journal.letters(10)
        expect(some).toEqual((await journal.letters()).slice(0, 10))
        expect(some.map(({ id }) => id)).toEqual(some.map(({ id }) => id).sort((a, b) => a - b))
      })

      it('goes with its world', async () => {
        const store = await opened()
        const journal = await store.open('a')
        await journal.commit(begin)
        await store.post({ world: 'a', line: 'hello' })
        await journal.close()
        await store.delete('a')
        expect(await store.list()).toEqual([])
      })

      it.each([
        ['of two lines', { world: 'a', line: 'one\ntwo' }],
        ['that is not well-formed', { world: 'a', line: '\ud800' }],
        ['of 50 MB', { world: 'a', line: 'x'.repeat(50_000_000) }],
        ['to a world without a name', { world: '', line: 'x' }],
        ['under an empty id', { world: 'a', line: 'x', id: '' }],
      ])('%s is refused, and nothing is kept', async (_, post) => {
        const store = await opened()
        await expect(store.post(post)).rejects.toMatchObject({ code: 'invalid-argument' })
        expect(await store.list()).toEqual([])
      })
    })

    describe('a world that somebody else holds', () => {
      it('is followed by its newest tick and the rows behind one that is known', async () => {
        const store = await opened()
        const journal = await store.open('b', { root: 'a' })
        await journal.commit({ ...begin, rows: [...row(1).rows, ...row(2).rows] })
        expect(await store.ticks([{ world: 'b', root: 'a' }, { world: 'none' }])).toEqual([2, undefined])
        expect(await store.rows('b', { root: 'a', after: 1 })).toEqual(row(2).rows)
        expect(await store.rows('b', { root: 'a', after: 2 })).toEqual([])
        expect(await store.rows('b', { root: 'a', after: 0, to: 1 })).toEqual(row(1).rows)
        expect(await store.rows('b', { root: 'a', after: 1, to: 1 })).toEqual([])
        expect(await store.rows('b', { root: 'a', after: 1, to: 9 })).toEqual(row(2).rows)
        await expect(store.rows('b', { root: 'a', after: 0, to: -1 })).rejects.toMatchObject({
          code: 'invalid-argument',
        })
        expect(await store.rows('none', { after: 0 })).toBeUndefined()
      })

      it('whose rows a snapshot has replaced has to be read whole', async () => {
        const store = await opened()
        const journal = await store.open('a')
        await journal.commit({ ...begin, ...row(1) })
        await journal.commit({ ...row(2), snapshot: { tick: 2, lines: ['{}'] } })
        await journal.commit(row(3))
        expect(await store.rows('a', { after: 1 })).toBeUndefined()
        expect(await store.rows('a', { after: 2 })).toEqual(row(3).rows)
        expect(await store.rows('a', { after: 0, to: 1 })).toBeUndefined()
      })
    })

    it('knows when a world is due that was closed, until it is opened again', async () => {
      const store = await opened()
      const journal = await store.open('a')
      await journal.commit(begin)
      await journal.close({ wakeAtMs: 1_700_000_000_000 })
      expect(await store.list()).toMatchObject([{ name: 'a', wakeAtMs: 1_700_000_000_000 }])
      await (await store.open('a')).close()
      expect((await store.list())[0]).not.toHaveProperty('wakeAtMs')
    })
  })
}
