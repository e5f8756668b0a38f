import { describe, expect, it } from 'vitest'
import { memoryStore } from '../../../src/index.ts'
import { LetterBox, type LetterBoxOptions } from '../../../src/engine/loop/letter-box.ts'
import type { Letter } from '../../../src/stores/port.ts'

/** So many letters are read at once. */
const page = 1_000

/** A world whose box is open, in a store where letters wait for it, and what it has given out. */
async function opened(waiting: number) {
  const store = memoryStore()
  const journal = await store.open('desk')
  await journal.commit({ snapshot: { tick: 0, lines: ['{}'] } })
  const send = async (from: number, to: number): Promise<void> => {
    for (let number = from; number < to; number++) await store.post({ world: 'desk', line: `${number}` })
  }
  await send(0, waiting)
  const given: Letter[] = []
  const box = new LetterBox({ journal, root: 'desk', store, take: (letter) => given.push(letter) })
  box.open()
  await settled()
  /** A tick that takes some of them. */
  const commit = async (letters: readonly Letter[]): Promise<void> => {
    await journal.commit({ taken: letters.map(({ id }) => id) })
    box.committed()
    await settled()
  }
  return { box, commit, given, journal, send, store }
}

/** All that a reading does is done. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
}

/** A journal whose letters have any numbers. */
function numbered() {
  const given: number[] = []
  let waiting: readonly number[] = []
  const letters = async (limit = Infinity): Promise<readonly Letter[]> => {
    return waiting.slice(0, limit).map((id) => ({ id, line: `${id}` }))
  }
  const reader: LetterBoxOptions = {
    journal: { name: 'desk', letters } as never,
    root: 'desk',
    store: { on: () => () => undefined } as never,
    take: ({ id }) => given.push(id),
  }
  return {
    given,
    reader,
    /** The first time with those that wait; then some come, and of those that were given some are gone. */
    put: (...more: readonly number[]): void => {
      const gone = more.length === 0 ? 3 : 0
      waiting = [...more, ...waiting].toSorted((a, b) => a - b).slice(gone)
    },
  }
}

function linesOf(letters: readonly Letter[]): readonly number[] {
  return letters.map(({ line }) => Number(line))
}

function numbers(from: number, to: number): readonly number[] {
  return Array.from({ length: to - from }, (_, index) => from + index)
}

describe('a letter box', () => {
  it('gives each letter once and in order, over several pages, as ticks take them', async () => {
    const { commit, given } = await opened(2 * page + 300)
    expect(linesOf(given)).toEqual(numbers(0, page))
    await commit(given.slice(0, page))
    expect(linesOf(given)).toEqual(numbers(0, 2 * page))
    await commit(given.slice(page, 2 * page))
    expect(linesOf(given)).toEqual(numbers(0, 2 * page + 300))
  })

  it('reads on where a tick takes a part of a page, and gives nothing twice', async () => {
    const { commit, given } = await opened(page + 30)
    await commit(given.slice(0, 10))
    expect(linesOf(given)).toEqual(numbers(0, page + 10))
    await commit(given.slice(10, 40))
    expect(linesOf(given)).toEqual(numbers(0, page + 30))
    await commit(given.slice(40))
    expect(given).toHaveLength(page + 30)
  })

  it('gives what comes behind a full page once there is room for it', async () => {
    const { commit, given, send } = await opened(page)
    await send(page, page + 5)
    await settled()
    expect(given).toHaveLength(page)
    await commit(given.slice(0, page))
    expect(linesOf(given)).toEqual(numbers(0, page + 5))
  })

  it('gives nothing again that older letters have pushed out of the page, as where numbers are given out of order', async () => {
    const { given, put, reader } = numbered()
    put(...numbers(100, 100 + page))
    const box = new LetterBox(reader)
    box.open()
    await settled()
    expect(given).toEqual(numbers(100, 100 + page))
    put(...numbers(0, 3))
    box.look()
    await settled()
    expect(given.slice(page)).toEqual([0, 1, 2])
    put()
    box.look()
    await settled()
    expect(new Set(given).size).toBe(given.length)
    expect(given).toHaveLength(page + 3)
  })

  it('that is closed gives nothing more', async () => {
    const { box, given, send } = await opened(1)
    box.close()
    await send(1, 3)
    box.look()
    await settled()
    expect(linesOf(given)).toEqual([0])
  })
})
