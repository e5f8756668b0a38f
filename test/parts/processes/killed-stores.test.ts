import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { sqliteStore, type Store } from 'entia'
import type { StoredWorld } from 'entia/stores'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { writtenKey, writtenLine } from '../../programs/written-line.ts'

const programs = join(import.meta.dirname, '../../programs')

let folder: string
let stores: Store[]

beforeEach(() => {
  folder = join(mkdtempSync(join(tmpdir(), 'entia-killed-')), 'worlds')
  stores = []
})

afterEach(async () => {
  await Promise.all(stores.map((store) => store.close()))
  rmSync(dirname(folder), { recursive: true })
})

function storeHere(): Store {
  const store = sqliteStore({ folder, synchronous: 'normal' })
  stores.push(store)
  return store
}

/** Kills a program when it has printed so many lines. All that it printed, those included that were under way. */
async function killedAt(line: number, program: string, ...args: string[]): Promise<string[]> {
  const child = spawn(process.execPath, [join(programs, program), folder, ...args], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const exit = once(child, 'exit')
  const lines: string[] = []
  for await (const text of createInterface({ input: child.stdout })) {
    lines.push(text)
    if (lines.length === line) child.kill('SIGKILL')
  }
  await exit
  return lines
}

function lastTick(stored: StoredWorld | undefined): number {
  return stored?.rows.at(-1)?.tick ?? stored?.snapshot.tick ?? -1
}

describe('a process that is killed while it commits', () => {
  it('leaves all that was acknowledged, whole transactions alone, and a lock that is free at once', async () => {
    let acknowledged = -1
    for (let round = 0; round < 20; round++) {
      const lines = await killedAt(1 + ((round * 7) % 23), 'store-writer.ts')
      acknowledged = Number(lines.at(-1))
      const store = storeHere()
      const opened = await store.open('root')
      expect(opened.lost).toBeUndefined()
      const root = await opened.load()
      const child = await (await store.open('child', { root: 'root' })).load()
      expect(lastTick(root)).toBeGreaterThanOrEqual(acknowledged)
      expect(lastTick(child)).toBe(lastTick(root))
      expect(child).toEqual(root)
      expect(root?.snapshot.lines[1]).toBe('end')
      expect(root?.rows.every(({ tick, line }) => line === `${tick}:${'r'.repeat(3000)}`)).toBe(true)
      await store.close()
    }
    expect(acknowledged).toBeGreaterThan(100)
  }, 60_000)
})

describe('a process that is killed while it appends to a transcript', () => {
  it('loses nothing that was acknowledged and doubles nothing', async () => {
    const batch = 40
    let acknowledged = 0
    for (let round = 0; round < 12; round++) {
      const printed = await killedAt(1 + ((round * 5) % 9), 'transcript-writer.ts', `${batch}`)
      acknowledged = Math.max(acknowledged, Number(printed.at(-1)))
      const store = storeHere()
      const left = (await store.transcript('root', writtenKey)) ?? []
      expect(left.length).toBeGreaterThanOrEqual(acknowledged)
      expect(left.every((text, line) => text === writtenLine(line).text)).toBe(true)
      const from = left.length - (left.length % batch)
      const repeated = Array.from({ length: batch }, (_, index) => writtenLine(from + index))
      await store.appendTranscript('root', writtenKey, repeated, { from })
      const hits = await store.searchTranscript('root', [writtenKey], 'every', { limit: 10_000 })
      const places = Array.from({ length: (from + batch) / 10 }, (_, index) => index * 10)
      expect(hits.map(({ index }) => index)).toEqual(places)
      expect(hits.every(({ index, text }) => text === writtenLine(index).text)).toBe(true)
      await store.close()
    }
    expect(acknowledged).toBeGreaterThan(1000)
  }, 60_000)
})
