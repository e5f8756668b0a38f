import { readFileSync, rmSync } from 'node:fs'
import { z } from 'zod'
import type { Holder } from './holder.ts'
import { writePrivately } from './private-file.ts'

const Note = z.object({ holder: z.string(), pid: z.number(), host: z.string(), since: z.string() })

/**
 * Leaves a note of who holds a database, over that of a holder that died. The lock itself is SQLite's: a note that
 * cannot be written costs the next opener a name and nothing else, so that is no error.
 */
export function writeLockFile(file: string, holder: Holder): void {
  try {
    writePrivately(file, `${JSON.stringify(holder)}\n`)
  } catch {
    removeLockFile(file)
  }
}

/** The note of the holder; `undefined` if there is none, or one that is only half written. */
export function readLockFile(file: string): Holder | undefined {
  try {
    return Note.safeParse(JSON.parse(readFileSync(file, 'utf8'))).data
  } catch {
    return undefined
  }
}

export function removeLockFile(file: string): void {
  try {
    rmSync(file, { force: true })
  } catch {
    // A stale note misleads nobody: it is read only while the database is locked, and its next holder replaces it.
  }
}
