import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { DatabaseSync } from 'node:sqlite'
import { memoryStore, sqliteStore, type Store } from 'entia'
import type { JournalRow } from 'entia/stores'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { tempFolder } from '../tools/temp-folder.ts'

let folder: string

beforeEach(async () => {
  folder = await tempFolder()
})

function rows(from: number, to: number): JournalRow[] {
  return Array.from({ length: to - from + 1 }, (_, index) => ({ tick: from + index, line: `row ${from + index}` }))
}

function snapshot(tick: number) {
  return { tick, lines: [`world ${tick}`] }
}

function opened(store: Store): Store {
  onTestFinished(() => store.close())
  return store
}

function sqlite(): Store {
  return opened(sqliteStore({ folder, synchronous: 'normal' }))
}

/** Two stores of one place, as two processes have them; a store in memory is one. */
const places = [
  {
    name: 'memory',
    make: () => {
      const store = opened(memoryStore())
      return [store, store] as const
    },
  },
  { name: 'sqlite', make: () => [sqlite(), sqlite()] as const },
]

describe.each(places)('reading without holding, in $name', ({ make }) => {
  it('gives what somebody else holds, as far as it is committed', async () => {
    const [holder, reader] = make()
    const journal = await holder.open('a')
    await journal.commit({ snapshot: snapshot(0), rows: rows(1, 3) })
    expect(await reader.read('a')).toEqual({ snapshot: snapshot(0), rows: rows(1, 3) })
    await journal.commit({ rows: rows(4, 4) })
    expect(await reader.read('a')).toEqual({ snapshot: snapshot(0), rows: rows(1, 4) })
    expect(await reader.list()).toMatchObject([{ name: 'a', tick: 4 }])
  })

  it('takes no lock: the holder goes on, and the next one is not refused', async () => {
    const [holder, reader] = make()
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
    const [holder, reader] = make()
    await (await holder.open('child', { root: 'a' })).commit({ snapshot: snapshot(7) })
    expect(await reader.read('child', { root: 'a' })).toEqual({ snapshot: snapshot(7), rows: [] })
    expect(await reader.read('child')).toBeUndefined()
  })

  it('gives the world as it was at a tick, or between two', async () => {
    const [holder, reader] = make()
    const journal = await holder.open('a', { record: true })
    await journal.commit({ snapshot: snapshot(0), rows: rows(1, 5) })
    await journal.commit({ snapshot: snapshot(5), rows: rows(6, 8) })
    expect(await reader.read('a', { to: 3 })).toEqual({ snapshot: snapshot(0), rows: rows(1, 3) })
    expect(await reader.read('a', { from: 6 })).toEqual({ snapshot: snapshot(5), rows: rows(6, 8) })
    expect(await reader.read('a', { from: 2, to: 7 })).toEqual({ snapshot: snapshot(0), rows: rows(1, 7) })
    expect(await reader.read('a', { to: 99 })).toEqual({ snapshot: snapshot(5), rows: rows(6, 8) })
  })

  it('of ticks that are gone says which is the oldest', async () => {
    const [holder, reader] = make()
    await (await holder.open('a')).commit({ snapshot: snapshot(5) })
    await expect(reader.read('a', { to: 4 })).rejects.toMatchObject({
      code: 'invalid-argument',
      message: expect.stringContaining("Tick 4 of the world 'a' is not kept: the oldest that can be read is 5."),
    })
    await expect(reader.read('a', { from: 6, to: 5 })).rejects.toMatchObject({ code: 'invalid-argument' })
    await expect(reader.read('a', { to: -1 })).rejects.toMatchObject({ code: 'invalid-argument' })
  })

  it('gives undefined for a world that is not there, and does not make it', async () => {
    const [, reader] = make()
    expect(await reader.read('a')).toBeUndefined()
    expect(await reader.list()).toEqual([])
    expect(readdirSync(folder)).toEqual([])
  })
})

describe('reading without holding a file', () => {
  async function held(): Promise<{ readonly kill: () => Promise<void> }> {
    const program = join(import.meta.dirname, '../programs/store-holder.ts')
    const child = spawn(process.execPath, [program, folder, 'a', 'another'], { stdio: ['pipe', 'pipe', 'inherit'] })
    const exit = once(child, 'exit')
    const kill = async () => {
      child.kill('SIGKILL')
      await exit
    }
    onTestFinished(kill)
    await once(createInterface({ input: child.stdout }), 'line')
    return { kill }
  }

  it('gives what another process holds, which keeps it', async () => {
    await held()
    expect(await sqlite().read('a')).toEqual({ snapshot: { tick: 0, lines: ['{}'] }, rows: [] })
    await expect(sqlite().open('a')).rejects.toMatchObject({ code: 'world-locked', details: { holder: 'another' } })
  })

  it('says who holds what, as long as that process lives', async () => {
    const { kill } = await held()
    const store = sqlite()
    await (await store.open('mine', { holder: 'myself' })).commit({ snapshot: snapshot(0) })
    expect(await store.list()).toMatchObject([
      { name: 'a', tick: 0, heldBy: { holder: 'another' } },
      { name: 'mine', heldBy: { holder: 'myself', pid: process.pid } },
    ])
    await kill()
    expect((await store.list())[0]).not.toHaveProperty('heldBy')
  })

  it('gives what a process that was killed had committed, and leaves no file behind', async () => {
    const { kill } = await held()
    await kill()
    expect((await sqlite().read('a'))?.snapshot.tick).toBe(0)
    await (await sqlite().open('a')).close()
    expect(readdirSync(folder).filter((name) => name !== 'a.newest')).toEqual(['a.sqlite'])
  })

  it('is refused while an older version of the package holds it, and that one while this does', async () => {
    const journal = await sqlite().open('a')
    await journal.commit({ snapshot: snapshot(0) })
    const older = () => {
      const db = new DatabaseSync(join(folder, 'a.sqlite'))
      try {
        db.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; COMMIT')
        onTestFinished(() => db.close())
      } catch (error) {
        db.close()
        throw error
      }
    }
    expect(older).toThrow('database is locked')
    await journal.close()
    older()
    await expect(sqlite().read('a')).rejects.toMatchObject({ code: 'world-locked' })
    await expect(sqlite().open('a')).rejects.toMatchObject({ code: 'world-locked' })
  })
})
