import { statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { EntiaError } from '../world/entia-error.ts'
import { decodeName, encodeName } from './file-name.ts'
import { createPrivately } from './files.ts'
import { lockedError, readLockFile } from './lock-owner.ts'
import { applicationId, newPageSizeBytes, newSchema, schemaSteps, schemaVersion } from './sqlite-schema.ts'

export interface ConnectionOptions {
  /** Path of the database without its suffix. */
  readonly path: string
  readonly root: string
  readonly synchronous: 'full' | 'normal'
  readonly maxSizeBytes: number | undefined
}

/** The write-ahead log is copied into the database when it is this long, and cut back to it when a snapshot made it longer. */
const maxIdleLogBytes = 4 * 1024 * 1024
/** Long enough for a process that only lists the store to be done, short enough not to count as waiting. */
const lockTimeoutMs = 50

/**
 * Opens a root world's database and takes its lock, which the operating system frees when this process ends.
 * @throws `world-locked`, `newer-version`, `corrupt-journal`, `store-failed`; `config-invalid` for a database that is
 * another program's
 */
export function connect(options: ConnectionOptions): DatabaseSync {
  const { path, root, synchronous, maxSizeBytes } = options
  const file = `${path}.sqlite`
  let db: DatabaseSync | undefined
  try {
    createPrivately(file)
    const isNew = statSync(file).size === 0
    db = new DatabaseSync(file)
    db.exec(`PRAGMA busy_timeout = ${lockTimeoutMs}; PRAGMA locking_mode = EXCLUSIVE; PRAGMA synchronous = normal`)
    if (isNew) beginNew(db)
    // The lock is taken before anything else is read or changed, so that a file which is not ours stays as it is.
    db.exec('BEGIN EXCLUSIVE')
    prepareSchema(db, file, root)
    db.exec('COMMIT')
    if (!isNew) db.exec('PRAGMA journal_mode = WAL')
    const pageSizeBytes = pragma(db, 'page_size')
    db.exec(`PRAGMA synchronous = ${synchronous}; PRAGMA journal_size_limit = ${maxIdleLogBytes}`)
    db.exec(`PRAGMA wal_autocheckpoint = ${Math.ceil(maxIdleLogBytes / pageSizeBytes)}`)
    if (maxSizeBytes !== undefined) db.exec(`PRAGMA max_page_count = ${Math.ceil(maxSizeBytes / pageSizeBytes)}`)
    return db
  } catch (error) {
    db?.close()
    if (errorNumber(error) === busy) throw lockedError(root, readLockFile(`${path}.lock`), file)
    throw explained(error, file)
  }
}

/** Makes an error of SQLite or the file system one that names the file and says what to do. Our own errors stay. */
export function explained(error: unknown, file: string): EntiaError {
  if (error instanceof EntiaError) return error
  const cause = error instanceof Error ? error.message : String(error)
  if (errorNumber(error) === corrupt || errorNumber(error) === notADatabase) {
    return damaged(file, cause, { cause: error })
  }
  return new EntiaError(
    'store-failed',
    `The store cannot use ${file}: ${cause}. Nothing was changed. ` +
      'Mend the cause (space, permissions, disk) and try again.',
    { file, cause },
    { cause: error },
  )
}

/** Does something with a file, and explains its errors. */
export function explaining<T>(file: string, act: () => T): T {
  try {
    return act()
  } catch (error) {
    throw explained(error, file)
  }
}

const busy = 5
const corrupt = 11
const notADatabase = 26

function errorNumber(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('errcode' in error) || typeof error.errcode !== 'number') return undefined
  return error.errcode & 0xff
}

/** Logs a new database ahead from its first byte, so that its tables are not written and synced twice. Syncs its header. */
function beginNew(db: DatabaseSync): void {
  db.exec(`PRAGMA page_size = ${newPageSizeBytes}; PRAGMA journal_mode = MEMORY`)
  db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = off')
}

function prepareSchema(db: DatabaseSync, file: string, root: string): void {
  if (db.prepare('SELECT 1 FROM sqlite_schema LIMIT 1').get() === undefined && pragma(db, 'user_version') === 0) {
    db.exec(`${newSchema}; PRAGMA user_version = ${schemaVersion}`)
    db.prepare('INSERT INTO worlds VALUES (0, ?)').run(encodeName(root))
    return
  }
  if (pragma(db, 'application_id') !== applicationId) {
    throw new EntiaError(
      'config-invalid',
      `${file} is a database of another program and was left as it is. Use another folder, or another name.`,
      { file },
    )
  }
  const version = pragma(db, 'user_version')
  if (version > schemaVersion) {
    throw new EntiaError(
      'newer-version',
      `${file} was written by a newer Entia: its schema is version ${version}, and this one reads versions up to ` +
        `${schemaVersion}. Update entia to use it.`,
      { file, version },
    )
  }
  if (version < 1) throw damaged(file, `its schema version is ${version}, which there never was`)
  const name = decodeName(String(db.prepare('SELECT name FROM worlds WHERE id = 0').get()?.['name']))
  if (name !== root) throw damaged(file, `it holds the world '${name}' and not '${root}'; was it renamed?`)
  if (version === schemaVersion) return
  for (const step of schemaSteps.slice(version - 1)) db.exec(step)
  db.exec(`PRAGMA user_version = ${schemaVersion}`)
}

function pragma(db: DatabaseSync, name: 'application_id' | 'page_size' | 'user_version'): number {
  return Number(db.prepare(`PRAGMA ${name}`).get()?.[name])
}

/** The refusal of a database that is not as this store leaves them. */
export function damaged(file: string, why: string, options?: ErrorOptions): EntiaError {
  return new EntiaError(
    'corrupt-journal',
    `${file} cannot be read: ${why}. Put a backup in its place, or remove it with store.delete().`,
    { file },
    options,
  )
}

/** Does all of it or, if it throws, nothing. */
export function inTransaction(db: DatabaseSync, act: () => void): void {
  db.exec('BEGIN IMMEDIATE')
  try {
    act()
    db.exec('COMMIT')
  } catch (error) {
    rollBack(db)
    throw error
  }
}

function rollBack(db: DatabaseSync): void {
  try {
    db.exec('ROLLBACK')
  } catch {
    // After some errors, a full disk among them, SQLite has rolled back by itself and says that there is nothing to.
  }
}
