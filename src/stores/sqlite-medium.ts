import { existsSync, readFileSync, readdirSync, rmSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { EntiaError } from '../base/entia-error.ts'
import { decodeName, encodeName, fileStem } from './file-name.ts'
import { makeFolder, writePrivately } from './files.ts'
import { type LockOwner, lockOwner, writeLockFile } from './lock-owner.ts'
import type { Database, Medium } from './medium.ts'

import { connect, connectToRead, connectToWrite, type ConnectionOptions, explaining } from './sqlite-connection.ts'
import { type DatabasePlace, SqliteDatabase } from './sqlite-database.ts'
import { SqliteLock } from './sqlite-lock.ts'

export interface SqliteMediumOptions {
  readonly folder: string
  /** Holds the folders of transcripts. @default `folder` */
  readonly transcripts?: string | undefined
  readonly synchronous: 'full' | 'normal'
  readonly maxSizeBytes?: number | undefined
}

/**
 * A root world's files are `.sqlite`, `.sqlite-wal`, `.sqlite-shm`, `.newest`, `.held`, `.lock` and, where the name had to be shortened, `.name`. In the
 * folder `.files` lie its transcripts, each under its key, so that those of two roots are never taken for each other.
 */
export class SqliteMedium implements Medium {
  readonly isShared = true
  readonly #options: SqliteMediumOptions

  constructor(options: SqliteMediumOptions) {
    this.#options = options
  }

  has(root: string): boolean {
    return existsSync(`${this.#path(root)}.sqlite`)
  }

  roots(): readonly string[] {
    const { folder } = this.#options
    if (!existsSync(folder)) return []
    return explaining(folder, () =>
      readdirSync(folder).flatMap((file) => {
        const root = file.endsWith('.sqlite') ? this.#rootOf(file.slice(0, -'.sqlite'.length)) : undefined
        return root === undefined ? [] : [root]
      }),
    )
  }

  open(root: string, owner?: LockOwner): Database {
    const path = this.#path(root)
    explaining(path, () => {
      makeFolder(resolve(this.#options.folder))
      if (isShortened(root)) writePrivately(`${path}.name`, encodeName(root))
    })
    const lock = this.#lock(root)
    try {
      const database = new SqliteDatabase(this.#connect(root), this.#place(root), () => lock.release())
      lock.note(owner ?? lockOwner('a look at a store'))
      return database
    } catch (error) {
      lock.release()
      throw error
    }
  }

  view(root: string): Database {
    const db = connectToRead(this.#path(root), root)
    return db === undefined ? this.open(root) : new SqliteDatabase(db, this.#place(root), () => undefined)
  }

  beside(root: string): Database {
    const db = connectToWrite(this.#connection(root))
    return db === undefined ? this.open(root) : new SqliteDatabase(db, this.#place(root), () => undefined)
  }

  holder(root: string): LockOwner | undefined {
    return explaining(`${this.#path(root)}.held`, () => SqliteLock.holder(this.#path(root)))
  }

  passTo(root: string, owner: LockOwner): void {
    writeLockFile(`${this.#path(root)}.lock`, owner)
  }

  remove(root: string): void {
    const lock = this.#lock(root)
    try {
      const db = this.#connectAnyhow(root)
      // Under the lock no other process writes it; Windows alone refuses to remove open files.
      const closeFirst = process.platform === 'win32'
      if (closeFirst) db?.close()
      else if (db) foldLog(db)
      try {
        this.#removeFiles(root)
      } finally {
        if (!closeFirst) db?.close()
      }
    } finally {
      lock.release()
    }
  }

  sizeBytes(root: string): number {
    return statSync(`${this.#path(root)}.sqlite`, { throwIfNoEntry: false })?.size ?? 0
  }

  #lock(root: string): SqliteLock {
    const path = this.#path(root)
    return explaining(`${path}.held`, () => SqliteLock.take(path, root))
  }

  #place(root: string): DatabasePlace {
    const path = this.#path(root)
    return { root, file: `${path}.sqlite`, newest: `${path}.newest`, transcripts: this.#transcripts(root) }
  }

  #connect(root: string): DatabaseSync {
    return connect(this.#connection(root))
  }

  #connection(root: string): ConnectionOptions {
    const { synchronous, maxSizeBytes } = this.#options
    return { path: this.#path(root), root, synchronous, maxSizeBytes }
  }

  /** A database that cannot be read can still be removed; the lock was taken before. */
  #connectAnyhow(root: string): DatabaseSync | undefined {
    try {
      return this.#connect(root)
    } catch (error) {
      const removable = ['corrupt-journal', 'newer-version']
      if (error instanceof EntiaError && removable.includes(error.code)) return undefined
      throw error
    }
  }

  #removeFiles(root: string): void {
    const path = this.#path(root)
    explaining(path, () => {
      // As long as the database is there, what a crash has left can still be removed.
      rmSync(this.#transcripts(root), { recursive: true, force: true })
      for (const suffix of ['.sqlite', '.sqlite-wal', '.sqlite-shm', '.sqlite-journal', '.newest', '.name']) {
        rmSync(path + suffix, { force: true })
      }
    })
  }

  #path(root: string): string {
    return join(this.#options.folder, fileStem(root))
  }

  #transcripts(root: string): string {
    return resolve(this.#options.transcripts ?? this.#options.folder, `${fileStem(root)}.files`)
  }

  /** The root whose database has this name; `undefined` for a file of somebody else. */
  #rootOf(stem: string): string | undefined {
    const nameFile = join(this.#options.folder, `${stem}.name`)
    const encoded = existsSync(nameFile) ? readFileSync(nameFile, 'utf8') : stem
    const root = decodeName(encoded)
    return root !== undefined && fileStem(root) === stem ? root : undefined
  }
}

/** Closing would remove the log by its name, which may be that of the next holder by then; so it goes before. */
function foldLog(db: DatabaseSync): void {
  try {
    db.exec('PRAGMA journal_mode = DELETE')
  } catch {
    // The disk may be too full for it, and removing worlds is what helps then.
  }
}

function isShortened(root: string): boolean {
  return fileStem(root) !== encodeName(root)
}
