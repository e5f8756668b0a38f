import { Client } from 'pg'
import { inject, onTestFinished } from 'vitest'
import { newSchema } from './stores.ts'

/** New databases on the server of the project, which go when the test is over. */
export async function newDatabases(count: number): Promise<readonly string[]> {
  const names = Array.from({ length: count }, newSchema)
  await onServer(names.map((name) => `CREATE DATABASE ${name}`))
  onTestFinished(() => onServer(names.map((name) => `DROP DATABASE ${name} WITH (FORCE)`)))
  return names.map((name) => Object.assign(new URL(inject('postgres')), { pathname: `/${name}` }).href)
}

async function onServer(statements: readonly string[]): Promise<void> {
  const client = new Client(inject('postgres'))
  await client.connect()
  for (const statement of statements) await client.query(statement)
  await client.end()
}
