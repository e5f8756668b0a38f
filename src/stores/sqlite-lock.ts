import { existsSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { createPrivately, FileIdentity } from './files.ts'
import { type LockOwner, lockedError, readLockFile, removeLockFile, unknownOwner, writeLockFile } from './lock-owner.ts'
import { isBusy } from './sqlite-connection.ts'

/** Long enough for a process that only looks whether the lock is taken, short enough not to count as waiting. */
const lockTimeoutMs = 50
/** Each further try follows a holder that closed, and so removed the file, between two steps of this one. */
const maxTries = 100

/**
 * The lock of a root world: an exclusive transaction in an empty database beside the data, `.held`. Readers of the data do
 * not need it. The operating system frees it when the process ends; the holder removes the file when it closes.
 */
export class SqliteLock {
  readonly #path: string
  readonly #db: DatabaseSync

  private constructor(path: string, db: DatabaseSync) {
    this.#path = path
    this.#db = db
  }

  /** @param path of the data without its suffix @throws `world-locked`, errors of SQLite and of the file system */
  static take(path: string, root: string): SqliteLock {
    const file = `${path}.held`
    for (let tries = 1; ; tries++) {
      createPrivately(file)
      const found = new FileIdentity(file)
      const db = new DatabaseSync(file)
      try {
        // Nothing is ever written: with its journal in memory, no other file appears.
        db.exec(`PRAGMA busy_timeout = ${lockTimeoutMs}; PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE`)
      } catch (error) {
        db.close()
        throw isBusy(error) ? lockedError(root, readLockFile(`${path}.lock`), `${path}.sqlite`) : error
      }
      // Who held it may have removed it since it was opened: then the lock is that of a file which nobody else finds.
      if (found.isInPlace) return new SqliteLock(path, db)
      db.close()
      if (tries === maxTries) throw lockedError(root, undefined, `${path}.sqlite`)
    }
  }

  /** Who has the lock, as far as it is noted. Looking takes nothing: who comes meanwhile waits for a moment. */
  static holder(path: string): LockOwner | undefined {
    // Who closes removes the file; it is left only where a process was killed.
    if (!existsSync(`${path}.held`)) return undefined
    const db = new DatabaseSync(`${path}.held`)
    try {
      db.exec('PRAGMA busy_timeout = 0; BEGIN; SELECT 1 FROM sqlite_schema')
      return undefined
    } catch (error) {
      if (isBusy(error)) return readLockFile(`${path}.lock`) ?? unknownOwner
      throw error
    } finally {
      db.close()
    }
  }

  /** Names the holder for the errors of those who are refused. */
  note(owner: LockOwner): void {
    writeLockFile(`${this.#path}.lock`, owner)
  }

  release(): void {
    removeLockFile(`${this.#path}.lock`)
    // Removed under the lock, so that it is no other holder's. Windows alone refuses to remove open files.
    const closeFirst = process.platform === 'win32'
    if (closeFirst) this.#db.close()
    removeLockFile(`${this.#path}.held`)
    if (!closeFirst) this.#db.close()
  }
}
