import type { DatabaseSync } from 'node:sqlite'

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
