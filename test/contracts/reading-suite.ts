import type { JournalRow, Store } from 'entia/stores'
import { describe, expect, it } from 'vitest'

/** Two stores of one place, as two processes have them; a store in memory is one. */
export interface TwoStores {
  readonly name: string
  readonly make: () => Promise<readonly [Store, Store]> | readonly [Store, Store]
}

function rows(from: number, to: number): JournalRow[] {
  return Array.from({ length: to - from + 1 }, (_, index) => ({ tick: from + index, line: `row ${from + index}` }))
}

function snapshot(tick: number) {
  return { tick, lines: [`world ${tick}`] }
}

/** What holds of reading in every store. */
export function describeReading(places: readonly TwoStores[]): void {
  describe.each(places)('reading without holding, in $name', ({ make }) => {
    it('gives what somebody else holds, as far as it is committed', async () => {
      const [holder, reader] = await make()
      const journal = await holder.open('a')
      await journal.commit({ snapshot: snapshot(0), rows: rows(1, 3) })
      expect(await reader.read('a')).toEqual({ snapshot: snapshot(0), rows: rows(1, 3) })
      await journal.commit({ rows: rows(4, 4) })
      expect(await reader.read('a')).toEqual({ snapshot: snapshot(0), rows: rows(1, 4) })
      expect(await reader.list()).toMatchObject([{ name: 'a', tick: 4 }])
      const [brief] = await reader.list({ sizes: false })
      expect(brief).toMatchObject({ name: 'a', tick: 4 })
    })

    it('takes no lock: the holder goes on, and the next one is not refused', async () => {
      const [holder, reader] = await make()
      const journal = await holder.open('a')
      await journal.commit({ snapshot: snapshot(0) })
      await reader.read('a')
      await journal.commit({ rows: rows(1, 1) })
      await journal.close()
      await reader.read('a')
      await (await holder.open('a')).commit({ rows: rows(2, 2) })
      expect((await reader.read('a'))?.rows).toEqual(rows(1, 2))
    })

    it('gives a child by its root', async () => {
      const [holder, reader] = await make()
      await (await holder.open('child', { root: 'a' })).commit({ snapshot: snapshot(7) })
      expect(await reader.read('child', { root: 'a' })).toEqual({ snapshot: snapshot(7), rows: [] })
      expect(await reader.read('child')).toBeUndefined()
    })

    it('gives the world as it was at a tick, or between two', async () => {
      const [holder, reader] = await make()
      const journal = await holder.open('a', { record: true })
      await journal.commit({ snapshot: snapshot(0), rows: rows(1, 5) })
      await journal.commit({ snapshot: snapshot(5), rows: rows(6, 8) })
      expect(await reader.read('a', { to: 3 })).toEqual({ snapshot: snapshot(0), rows: rows(1, 3) })
      expect(await reader.read('a', { from: 6 })).toEqual({ snapshot: snapshot(5), rows: rows(6, 8) })
      expect(await reader.read('a', { from: 2, to: 7 })).toEqual({ snapshot: snapshot(0), rows: rows(1, 7) })
      expect(await reader.read('a', { to: 99 })).toEqual({ snapshot: snapshot(5), rows: rows(6, 8) })
    })

    it('of ticks that are gone says which is the oldest', async () => {
      const [holder, reader] = await make()
      await (await holder.open('a')).commit({ snapshot: snapshot(5) })
      await expect(reader.read('a', { to: 4 })).rejects.toMatchObject({
        code: 'invalid-argument',
        message: expect.stringContaining("Tick 4 of the world 'a' is not kept: the oldest that can be read is 5."),
      })
      await expect(reader.read('a', { from: 6, to: 5 })).rejects.toMatchObject({ code: 'invalid-argument' })
      await expect(reader.read('a', { to: -1 })).rejects.toMatchObject({ code: 'invalid-argument' })
    })

    it('gives undefined for a world that is not there, and does not make it', async () => {
      const [, reader] = await make()
      expect(await reader.read('a')).toBeUndefined()
      expect(await reader.list()).toEqual([])
    })
  })
}
