import type { DatabaseSync } from 'node:sqlite'
import { EntiaError } from '../base/entia-error.ts'
import { FileIdentity } from './files.ts'
import { explaining, inTransaction, maxIdleLogBytes } from './sqlite-connection.ts'

/**
 * The files of an open database. What is to be written is written as long as nothing else has removed, replaced or cut
 * them: SQLite, which reads what it has written from its memory, would write behind the gap.
 */
export class SqliteFiles {
  readonly #db: DatabaseSync
  readonly #file: FileIdentity
  readonly #log: FileIdentity
  /** Why nothing more can be written. */
  gone: EntiaError | undefined
  /** What is there is still what was written to, or what is left of it. */
  isSame = true

  /** @param file of the database, which is open */
  constructor(db: DatabaseSync, file: string) {
    this.#db = db
    this.#file = new FileIdentity(file)
    this.#log = new FileIdentity(`${file}-wal`, maxIdleLogBytes)
  }

  /** Does all of it or, if it throws, nothing. @throws `store-failed`, also if it was done in a file that had gone by then */
  transaction(act: () => void): void {
    explaining(this.#file.path, () => {
      if (this.gone !== undefined) throw this.gone
      this.#assertWhole(this.#log)
      inTransaction(this.#db, act)
      this.#assertWhole(this.#file)
      this.#assertWhole(this.#log)
    })
  }

  #assertWhole(file: FileIdentity): void {
    const fate = file.look()
    if (fate === undefined) return
    this.isSame = fate === 'cut'
    const [loss, advice] = this.isSame
      ? ['Commits are no longer in it', 'put a backup in its place, or go on from what is left']
      : ['What is written now would be lost', 'put the file back, or open what is there now']
    this.gone = new EntiaError(
      'store-failed',
      `${file.path} was ${fate} while this process had it open. ${loss}, so nothing more is written. Stop this process; ` +
        `then ${advice}.`,
      { file: file.path },
    )
    throw this.gone
  }
}
