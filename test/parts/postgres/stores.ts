import { randomBytes } from 'node:crypto'
import { postgresStore, type PostgresStore, type PostgresStoreOptions } from 'entia/postgres'
import { Client } from 'pg'
import { inject, onTestFinished } from 'vitest'

/** The name of a schema that no other test has. */
export function newSchema(): string {
  return `test_${randomBytes(8).toString('hex')}`
}

/** A database of its own on the server of the project. */
export async function newDatabase(): Promise<string> {
  const name = newSchema()
  await asked(inject('postgres'), `CREATE DATABASE ${name}`)
  onTestFinished(async () => void (await asked(inject('postgres'), `DROP DATABASE ${name} WITH (FORCE)`)))
  return Object.assign(new URL(inject('postgres')), { pathname: `/${name}` }).href
}

export async function asked(database: string, text: string): Promise<readonly Record<string, unknown>[]> {
  const client = new Client(database)
  await client.connect()
  try {
    return (await client.query<Record<string, unknown>>(text)).rows
  } finally {
    await client.end()
  }
}

/** A store on the server of the project, closed when the test is over. */
export function storeIn(schema: string, options: Partial<PostgresStoreOptions> = {}): PostgresStore {
  const store = postgresStore({ database: inject('postgres'), schema, ...options })
  onTestFinished(() => store.close())
  return store
}
