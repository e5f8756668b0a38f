import { randomBytes } from 'node:crypto'
import { postgresStore, type PostgresStore, type PostgresStoreOptions } from 'entia/postgres'
import { inject, onTestFinished } from 'vitest'

/** The name of a schema that no other test has. */
export function newSchema(): string {
  return `test_${randomBytes(8).toString('hex')}`
}

/** A store on the server of the project, closed when the test is over. */
export function storeIn(schema: string, options: Partial<PostgresStoreOptions> = {}): PostgresStore {
  const store = postgresStore({ database: inject('postgres'), schema, ...options })
  onTestFinished(() => store.close())
  return store
}
