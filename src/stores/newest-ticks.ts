import { readFileSync } from 'node:fs'
import { clearTimeout, setTimeout } from 'node:timers'
import { z } from 'zod'
import { lazily } from '../base/lazily.ts'
import { writePrivately } from './files.ts'

/** The file is written at most this often while its database is open. */
const minWaitMs = 1_000
/** It names the worlds that were written last, so that it stays small however many sessions a root has had. */
const maxWorlds = 64

const Note = lazily(() => z.object({ ticks: z.array(z.tuple([z.string(), z.number()])) }))

/**
 * The newest ticks of a database's worlds, in a file beside it. It is written after commits, without delaying them, and
 * when the database is closed. A database that is behind it has lost commits: its log or its newest rows were deleted, a
 * backup was put in its place, or a power cut took what was not synced.
 */
export class NewestTicks {
  readonly #file: string
  readonly #ticks: Map<string, number>
  #isWritten = true
  /** Runs from a writing to the next that is allowed, or to one that is due at once. */
  #timer: NodeJS.Timeout | undefined

  constructor(file: string) {
    this.#file = file
    this.#ticks = read(file)
  }

  of(world: string): number | undefined {
    return this.#ticks.get(world)
  }

  note(world: string, tick: number): void {
    this.#ticks.delete(world)
    this.#ticks.set(world, tick)
    for (const oldest of this.#ticks.keys()) {
      if (this.#ticks.size <= maxWorlds) break
      this.#ticks.delete(oldest)
    }
    this.#isWritten = false
    if (this.#timer === undefined) this.#writeIn(0)
  }

  forget(world: string): void {
    if (this.#ticks.delete(world)) this.#isWritten = false
  }

  /** @param isWanted whether what was noted since the last writing is true of the file that is there */
  close(isWanted: boolean): void {
    clearTimeout(this.#timer)
    if (isWanted) this.#write()
  }

  /** Keeps no process alive. */
  #writeIn(waitMs: number): void {
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      if (this.#isWritten) return
      this.#write()
      this.#writeIn(minWaitMs)
    }, waitMs).unref()
  }

  #write(): void {
    if (this.#isWritten) return
    this.#isWritten = true
    try {
      writePrivately(this.#file, `${JSON.stringify({ ticks: [...this.#ticks] })}\n`)
    } catch {
      // The database says what is there; without this file a loss goes unnoticed, and nothing else is lost.
    }
  }
}

function read(file: string): Map<string, number> {
  try {
    return new Map(Note().parse(JSON.parse(readFileSync(file, 'utf8'))).ticks)
  } catch {
    return new Map()
  }
}
