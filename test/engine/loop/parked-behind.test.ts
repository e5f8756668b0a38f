import { memoryStore, World } from 'entia'
import type { SharedStore } from 'entia/stores'
import { describe, expect, it } from 'vitest'
import { JournalWriter } from '../../../src/engine/loop/journal-writer.ts'
import { tick } from '../../../src/world/tick.ts'

/** Commits of ticks fail as long as it says so. */
function failing(store: SharedStore, isFailing: () => boolean): SharedStore {
  return {
    ...store,
    open: async (...given) => {
      const journal = await store.open(...given)
      const write = journal.commit.bind(journal)
      journal.commit = async (batch) => {
        if (batch.rows !== undefined && isFailing()) throw new Error('The disk is full.')
        await write(batch)
      }
      return journal
    },
  }
}

describe('a world that rests, as its holder sees it', () => {
  async function parked(failsUntil: number) {
    const store = memoryStore()
    let commits = 0
    const { journal } = await JournalWriter.openShared('a', { store: failing(store, () => ++commits <= failsUntil) })
    const world = new World({ name: 'a' })
    await journal.begin(world)
    journal.wakes = () => undefined
    const step = tick(world)
    const write = (): Promise<void> => journal.commit(world, step)
    for (let count = 0; count < failsUntil; count++) await expect(write()).rejects.toThrow('The disk is full.')
    return { journal, store, write }
  }

  it('is due at once where its newest tick could not be written', async () => {
    const { journal, store } = await parked(2)
    await journal.close()
    expect(await store.list()).toMatchObject([{ tick: 0, wakeAtMs: 0 }])
  })

  it('is not due where it could be written in the end', async () => {
    const { journal, store, write } = await parked(2)
    await write()
    await journal.close()
    const [info] = await store.list()
    expect(info?.tick).toBe(1)
    expect(info).not.toHaveProperty('wakeAtMs')
  })
})
