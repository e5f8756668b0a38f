import { thrownMessage } from '../base/thrown-message.ts'
import { statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { EntiaError } from '../base/entia-error.ts'
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
export const maxIdleLogBytes = 4 * 1024 * 1024
/** Who has the lock waits this long for a reader that closes the database last, and so folds its log; others do not block it. */
const busyTimeoutMs = 1_000
/** A reader waits for what only a moment of a start or an end of others takes. */
const readTimeoutMs = 50

/**
 * Opens a root world's database for the one who has its lock. Others may read it meanwhile: its log is shared.
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
    db.exec(`PRAGMA busy_timeout = ${busyTimeoutMs}; PRAGMA synchronous = normal`)
    if (isNew) beginNew(db)
    // Nothing else is read or changed before, so that a file which is not ours stays as it is. A version of this package that
    // does not share the log refuses this while it has the database open.
    db.exec('BEGIN IMMEDIATE')
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
    if (isBusy(error)) throw lockedError(root, readLockFile(`${path}.lock`), file)
    throw explained(error, file)
  }
}

/**
 * Opens a root world's database to read it as it is now, without its lock. `undefined` where it is still to be made, or
 * migrated, which only a holder may do. @throws as `connect` does
 */
export function connectToRead(path: string, root: string): DatabaseSync | undefined {
  // A transaction, so that all that is read is as of one instant.
  return connectBeside(path, root, `PRAGMA busy_timeout = ${readTimeoutMs}; PRAGMA synchronous = normal; BEGIN`)
}

/** Opens a root world's database to write to it beside its holder. `undefined` as `connectToRead` says. @throws as `connect` does */
export function connectToWrite({ path, root, synchronous }: ConnectionOptions): DatabaseSync | undefined {
  return connectBeside(path, root, `PRAGMA busy_timeout = ${busyTimeoutMs}; PRAGMA synchronous = ${synchronous}`)
}

function connectBeside(path: string, root: string, begin: string): DatabaseSync | undefined {
  const file = `${path}.sqlite`
  let db: DatabaseSync | undefined
  try {
    if (statSync(file).size === 0) return undefined
    // Not opened as read-only: the last one to close it removes its log.
    db = new DatabaseSync(file)
    db.exec(begin)
    if (!isEmpty(db) && checkSchema(db, file, root) === schemaVersion) return db
    db.close()
    return undefined
  } catch (error) {
    db?.close()
    if (isBusy(error)) throw lockedError(root, readLockFile(`${path}.lock`), file)
    throw explained(error, file)
  }
}

/** Makes an error of SQLite or the file system one that names the file and says what to do. Our own errors stay. */
export function explained(error: unknown, file: string): EntiaError {
  if (error instanceof EntiaError) return error
  const cause = thrownMessage(error)
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

export function isBusy(error: unknown): boolean {
  return errorNumber(error) === busy
}

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
  if (isEmpty(db)) {
    db.exec(`${newSchema}; PRAGMA user_version = ${schemaVersion}`)
    db.prepare('INSERT INTO worlds (id, name) VALUES (0, ?)').run(encodeName(root))
    return
  }
  const version = checkSchema(db, file, root)
  if (version === schemaVersion) return
  for (const step of schemaSteps.slice(version - 1)) db.exec(step)
  db.exec(`PRAGMA user_version = ${schemaVersion}`)
}

function isEmpty(db: DatabaseSync): boolean {
  return db.prepare('SELECT 1 FROM sqlite_schema LIMIT 1').get() === undefined && pragma(db, 'user_version') === 0
}

/** The version of a database that is this root's. @throws for any other */
function checkSchema(db: DatabaseSync, file: string, root: string): number {
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
  return version
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
