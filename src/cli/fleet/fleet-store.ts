import type { PostgresStore } from '../../doors/postgres/index.ts'
import { UsageError } from '../parsed-words.ts'

export interface DatabaseWords {
  readonly database?: string | undefined
  readonly schema?: string | undefined
}

/** What `--help` says of the options of a database. */
export const databaseHelp = `  --database URL  as postgres://user:password@host:5432/name
                  (default: DATABASE_URL)
  --schema NAME   the schema of the fleet (default: entia)`

export function isDatabase(text: string): boolean {
  return /^postgres(ql)?:/i.test(text)
}

/** The store that command line and environment name. @throws UsageError, `config-invalid` */
export function fleetStore(command: string, { database, schema }: DatabaseWords, environment: NodeJS.ProcessEnv) {
  const given = database ?? environment['DATABASE_URL']
  if (given === undefined || given.trim() === '') {
    const what = `entia ${command} needs the database of the fleet`
    throw new UsageError(`${what}: set DATABASE_URL, or give --database postgres://user:password@host:5432/name.`)
  }
  return storeAt(given, schema)
}

/** @throws `config-invalid` */
export async function storeAt(
  database: string,
  schema: string | undefined,
): Promise<{ readonly store: PostgresStore; readonly where: string }> {
  const { postgresStore } = await import('../../doors/postgres/index.ts')
  const store = postgresStore({ database, schema })
  return { store, where: shownDatabase(database) }
}

/** Without users and passwords. */
export function shownDatabase(database: string | readonly string[]): string {
  if (typeof database !== 'string') return database.map((each) => shownDatabase(each)).join(' and ')
  if (!URL.canParse(database)) return 'the database'
  const { host, pathname } = new URL(database)
  return `${host}${pathname}`
}
