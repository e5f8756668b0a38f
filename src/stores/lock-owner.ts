import { readFileSync, rmSync } from 'node:fs'
import { hostname } from 'node:os'
import { z } from 'zod'
import { EntiaError } from '../base/entia-error.ts'
import { lazily } from '../base/lazily.ts'
import { writePrivately } from './files.ts'

/** Who has a world or a database open. The next opener's error names it. */
export interface LockOwner {
  readonly holder: string
  readonly pid: number
  readonly host: string
  /** ISO 8601. */
  readonly since: string
}

const here = lazily(() => ({ pid: process.pid, host: hostname() }))

export function lockOwner(holder = 'a holder without a name'): LockOwner {
  return { holder, ...here(), since: new Date().toISOString() }
}

/** Of a lock whose note is missing or only half written. */
export const unknownOwner: LockOwner = {
  holder: 'another holder, which left no note of itself',
  pid: 0,
  host: '',
  since: '',
}

export function lockedError(world: string, owner: LockOwner | undefined, place: string): EntiaError {
  const { holder, pid, host, since } = owner ?? unknownOwner
  const who = pid === 0 ? holder : `${holder} (process ${pid} on ${host}, since ${since})`
  return new EntiaError(
    'world-locked',
    `The world '${world}' in ${place} is held by ${who}. Only one holder at a time can have it: close it there first, or ` +
      `end that process, whose lock is then free at once.`,
    { world, place, ...owner },
  )
}

const Note = lazily(() => z.object({ holder: z.string(), pid: z.number(), host: z.string(), since: z.string() }))

/**
 * Names the owner of a database in a file beside it. The lock itself is SQLite's: without the file, the next opener's error
 * lacks a name and nothing else, so a file that cannot be written is no error.
 */
export function writeLockFile(file: string, owner: LockOwner): void {
  try {
    writePrivately(file, `${JSON.stringify(owner)}\n`)
  } catch {
    removeLockFile(file)
  }
}

/** `undefined` if there is no such file, or one that is only half written. */
export function readLockFile(file: string): LockOwner | undefined {
  try {
    return Note().safeParse(JSON.parse(readFileSync(file, 'utf8'))).data
  } catch {
    return undefined
  }
}

export function removeLockFile(file: string): void {
  try {
    rmSync(file, { force: true })
  } catch {
    // A stale file does no harm: it is read only while the database is locked, and the next owner replaces it.
  }
}
