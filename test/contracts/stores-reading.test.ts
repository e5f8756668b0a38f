import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { DatabaseSync } from 'node:sqlite'
import { memoryStore, sqliteStore, type Store } from 'entia'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { tempFolder } from '../tools/temp-folder.ts'
import { describeReading } from './reading-suite.ts'

let folder: string

beforeEach(async () => {
  folder = await tempFolder()
})

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

describeReading(places)

describe('reading without holding a file', () => {
  it('that is not there does not make it', async () => {
    expect(await sqlite().read('a')).toBeUndefined()
    expect(await sqlite().list()).toEqual([])
    expect(readdirSync(folder)).toEqual([])
  })

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
