import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { PostgresStore } from 'entia/postgres'
import type { SharedJournal } from 'entia/stores'
import { describe, expect, inject, it, onTestFinished, vi } from 'vitest'
import { lockClassOf } from '../../../src/stores/postgres/place.ts'
import { newSchema, storeIn } from './stores.ts'

const program = join(import.meta.dirname, '../../programs/postgres-holder.ts')
const longMs = 60_000

interface Holder {
  readonly pid: number
  /** What it answers to a line. */
  ask(line: string): Promise<string>
  signal(signal: NodeJS.Signals): void
  /** Resolves once the process is gone. */
  kill(): Promise<void>
}

/** A worker in a process of its own. */
function holderIn(schema: string, leaseMs = longMs): Holder {
  const args = [program, inject('postgres'), schema, String(leaseMs)]
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] })
  const exit = once(child, 'exit')
  const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const kill = async (): Promise<void> => {
    child.kill('SIGKILL')
    await exit
  }
  onTestFinished(kill)
  return {
    pid: child.pid ?? 0,
    ask: async (line) => {
      child.stdin.write(`${line}\n`)
      const { value } = await answers.next()
      return String(value)
    },
    signal: (signal) => void child.kill(signal),
    kill,
  }
}

/** Opens a world once its holder is thought dead. */
function takenOver(store: PostgresStore, world: string, withinMs: number): Promise<SharedJournal> {
  return vi.waitFor(() => store.open(world, { holder: 'the next one' }), { timeout: withinMs, interval: 5 })
}

async function strikesOf(store: PostgresStore, schema: string, world: string): Promise<number> {
  const { rows } = await store.transaction((client) =>
    client.query(`SELECT cardinality(strikes) AS strikes FROM ${schema}.worlds WHERE name = $1`, [world]),
  )
  return Number(rows[0]?.['strikes'])
}

describe('a worker that is killed', () => {
  it('has no lock from then on: another one goes on within a second, under the next epoch, with all that was committed', async () => {
    const schema = newSchema()
    const store = storeIn(schema)
    const holder = holderIn(schema)
    expect(await holder.ask('open a')).toBe('1')
    for (const tick of ['1', '2', '3']) expect(await holder.ask('commit a')).toBe(tick)
    await expect(store.open('a')).rejects.toMatchObject({
      code: 'world-locked',
      message: expect.stringContaining(`process ${holder.pid}`),
    })
    await holder.kill()
    const journal = await takenOver(store, 'a', 1_000)
    expect(journal.epoch).toBe(2)
    expect((await journal.load())?.rows.map(({ tick }) => tick)).toEqual([1, 2, 3])
  })

  it('in the midst of a commit leaves the whole tick with its letter, or nothing of it', async () => {
    const schema = newSchema()
    const store = storeIn(schema)
    for (let round = 1; round <= 5; round++) {
      const holder = holderIn(schema)
      expect(await holder.ask('open a')).toBe(String(2 * round - 1))
      const acknowledged = await holder.ask('commit a')
      void holder.ask('commit a').catch(() => undefined)
      await holder.kill()
      const journal = await takenOver(store, 'a', 2_000)
      const ticks = (await journal.load())?.rows.map(({ tick }) => tick) ?? []
      expect(ticks.length - Number(acknowledged)).toBeOneOf([0, 1])
      const { rows } = await store.transaction((client) => client.query(`SELECT 1 FROM ${schema}.mail`))
      expect(rows).toHaveLength(ticks.length)
      await journal.close()
    }
  })

  it('is a strike of its worlds each time, until one of them is closed in order', async () => {
    const schema = newSchema()
    const store = storeIn(schema)
    for (const strikes of [1, 2]) {
      const holder = holderIn(schema)
      await holder.ask('open a')
      await holder.kill()
      await vi.waitFor(async () => expect(await store.sweep()).toHaveLength(1), { timeout: 2_000, interval: 5 })
      expect(await strikesOf(store, schema, 'a')).toBe(strikes)
      expect(await store.due(10)).toMatchObject([{ name: 'a', strikes }])
    }
    const holder = holderIn(schema)
    await holder.ask('open a')
    expect(await strikesOf(store, schema, 'a')).toBe(2)
    expect(await holder.ask('close a')).toBe('closed')
    expect(await strikesOf(store, schema, 'a')).toBe(0)
  })

  it('is a strike too where its world is opened before it was swept', async () => {
    const schema = newSchema()
    const store = storeIn(schema)
    const holder = holderIn(schema)
    await holder.ask('open a')
    await holder.kill()
    await takenOver(store, 'a', 2_000)
    expect(await strikesOf(store, schema, 'a')).toBe(1)
    await vi.waitFor(async () => expect(await store.sweep()).toHaveLength(1), { timeout: 2_000, interval: 5 })
    expect(await strikesOf(store, schema, 'a')).toBe(1)
  })

  it('that ends in order leaves its worlds free and without a strike', async () => {
    const schema = newSchema()
    const store = storeIn(schema)
    const holder = holderIn(schema)
    await holder.ask('open a')
    expect(await holder.ask('end')).toBe('ended')
    const journal = await store.open('a')
    expect(journal.epoch).toBe(2)
    expect(await strikesOf(store, schema, 'a')).toBe(0)
  })
})

describe('a worker that hangs', () => {
  it('keeps its worlds for its lease and no longer, and once woken writes and sends nothing', async () => {
    const schema = newSchema()
    const leaseMs = 1_000
    const store = storeIn(schema)
    const holder = holderIn(schema, leaseMs)
    await holder.ask('open a')
    await holder.ask('commit a')
    const stopped = performance.now()
    holder.signal('SIGSTOP')
    await expect(store.open('a')).rejects.toMatchObject({ code: 'world-locked' })
    const journal = await takenOver(store, 'a', leaseMs + 1_000)
    // It has beaten last a fifth of its lease ago or less.
    expect(performance.now() - stopped).toBeGreaterThan(0.5 * leaseMs)
    await journal.commit({ rows: [{ tick: 2, line: 'of the next one' }] })
    const late = holder.ask('commit a')
    holder.signal('SIGCONT')
    expect(await late).toBe('world-fenced')
    expect(await holder.ask('commit a')).toBe('world-fenced')
    expect((await journal.load())?.rows.map(({ line }) => line)).toEqual([`${holder.pid}: 1`, 'of the next one'])
    const letters = await store.open('letters')
    expect((await letters.letters()).map(({ line }) => line)).toEqual([`${holder.pid}: 1`])
  })

  it('and was swept is a worker again when it wakes, under the same id, and can hold worlds', async () => {
    const schema = newSchema()
    const leaseMs = 500
    const store = storeIn(schema)
    const holder = holderIn(schema, leaseMs)
    await holder.ask('open a')
    const [before] = await store.workers()
    holder.signal('SIGSTOP')
    await vi.waitFor(async () => expect(await store.sweep()).toEqual([before?.id]), { timeout: 3_000, interval: 5 })
    expect(await store.workers()).toEqual([])
    holder.signal('SIGCONT')
    await vi.waitFor(async () => expect(await store.workers()).toMatchObject([{ id: before?.id, isAlive: true }]), {
      timeout: 3_000,
      interval: 5,
    })
    expect(await holder.ask('open b')).toBe('1')
    await expect(store.open('b')).rejects.toMatchObject({ code: 'world-locked' })
  })
})

describe('a worker whose connection is ended by the server', () => {
  it('has its lock again at once, and still writes its worlds', async () => {
    const schema = newSchema()
    const [store, other] = [storeIn(schema), storeIn(schema)]
    const journal = await store.open('a')
    await journal.commit({ snapshot: { tick: 0, lines: ['{}'] } })
    const id = await store.enter()
    const asked = async (what: string) =>
      (
        await other.transaction((client) =>
          client.query(
            `SELECT ${what} AS what FROM pg_locks WHERE locktype = 'advisory' AND classid = $1::int::oid
             AND objid = $2 AND granted AND pid <> pg_backend_pid() AND mode = 'ExclusiveLock'`,
            [lockClassOf(schema), id],
          ),
        )
      ).rows
    const [before] = await asked('pid')
    expect(await asked('pg_terminate_backend(pid)')).toHaveLength(1)
    const again = { timeout: 3_000, interval: 5 }
    // By another connection.
    await vi.waitFor(
      async () => expect((await asked(`pid <> ${Number(before?.['what'])}`))[0]?.['what']).toBe(true),
      again,
    )
    await vi.waitFor(async () => expect(await other.workers()).toMatchObject([{ id, isAlive: true }]), again)
    await journal.commit({ rows: [{ tick: 1, line: 'on' }] })
    await expect(other.open('a')).rejects.toMatchObject({ code: 'world-locked' })
  })
})

describe('a world that many open at once', () => {
  it('is given to one, and the others are told who has it', async () => {
    const schema = newSchema()
    await storeIn(schema).list()
    const stores = Array.from({ length: 10 }, () => storeIn(schema))
    const opened = await Promise.allSettled(
      stores.map((store, index) => store.open('a', { holder: `holder ${index}` })),
    )
    const winner = opened.findIndex(({ status }) => status === 'fulfilled')
    const refused = opened.filter((one) => one.status === 'rejected')
    expect(refused).toHaveLength(9)
    for (const { reason } of refused)
      expect(reason).toMatchObject({ code: 'world-locked', message: expect.stringContaining(`holder ${winner}`) })
  })

  it('is given to one of two processes', async () => {
    const schema = newSchema()
    const holders = [holderIn(schema), holderIn(schema)]
    const answers = await Promise.all(holders.map((holder) => holder.ask('open a')))
    expect(answers.toSorted()).toEqual(['1', 'world-locked'])
  })

  it('of a dead holder is given to one', async () => {
    const schema = newSchema()
    const holder = holderIn(schema)
    await holder.ask('open a')
    await holder.kill()
    const stores = Array.from({ length: 5 }, () => storeIn(schema))
    const ends = await vi.waitFor(async () => {
      const opened = await Promise.allSettled(stores.map((store) => store.open('a')))
      expect(opened.some(({ status }) => status === 'fulfilled')).toBe(true)
      return opened
    })
    const [winner, ...others] = ends.filter((end) => end.status === 'fulfilled')
    expect(others).toEqual([])
    expect(winner?.value.epoch).toBe(2)
  })
})
