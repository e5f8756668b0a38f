import { addressesIn } from '../../doors/postgres/addresses.ts'
import type { PostgresStore } from '../../doors/postgres/index.ts'
import type { Store } from '../../stores/port.ts'
import { plainText } from '../../tools/files/clean-text.ts'
import { EntiaError } from '../../base/entia-error.ts'
import { UsageError } from '../parsed-words.ts'

export const databaseOptions = { database: { type: 'string', multiple: true }, schema: { type: 'string' } } as const

export interface DatabaseWords {
  readonly database?: readonly string[] | undefined
  readonly schema?: string | undefined
}

/** A store, and how people are shown where it is. */
export interface StoreAt<S extends Store = Store> {
  readonly where: string
  readonly store: S
}

/** What `--help` says of the options of a database. */
export const databaseHelp = `  --database URL  as postgres://user:password@host:5432/name; of a fleet over
                  several, each of them: give it again, or write commas between
                  them (default: DATABASE_URL)
  --schema NAME   the schema of the fleet (default: entia)`

export function isDatabase(text: string): boolean {
  return /^\s*postgres(ql)?:/i.test(text)
}

/** The stores that command line and environment name, at least one. @throws UsageError, `config-invalid` */
export async function fleetStores(
  command: string,
  { database, schema }: DatabaseWords,
  environment: NodeJS.ProcessEnv,
): Promise<readonly StoreAt<PostgresStore>[]> {
  const given = addressesIn(database ?? environment['DATABASE_URL'] ?? '')
  if (given.includes('')) {
    const what = `entia ${command} needs the database of the fleet`
    throw new UsageError(`${what}: set DATABASE_URL, or give --database postgres://user:password@host:5432/name.`)
  }
  return storesAt(given, schema)
}

/** @throws UsageError, `config-invalid` */
export async function storesAt(
  databases: readonly string[],
  schema: string | undefined,
): Promise<readonly StoreAt<PostgresStore>[]> {
  const { postgresStore } = await import('../../doors/postgres/index.ts')
  // One that cannot be a database is refused before any other is asked.
  const stores = databases.map((database) => postgresStore({ database, schema }))
  const shown = databases.map((database) => shownDatabase(database))
  const twice = databases.findIndex((database, at) => databases.indexOf(database) !== at)
  if (twice !== -1) throw new UsageError(`The database ${shown[twice]} is named twice.`)
  const isTold = new Set(shown).size === shown.length
  return stores.map((store, at) => ({ store, where: isTold ? (shown[at] ?? '') : `${at + 1}: ${shown[at]}` }))
}

/** Without users and passwords. */
export function shownDatabase(database: string | readonly string[]): string {
  const addresses = addressesIn(database).map((each) => {
    if (!URL.canParse(each)) return 'the database'
    const { host, pathname } = new URL(each)
    return `${host}${pathname}`
  })
  return addresses.join(' and ')
}

/** What was read of a store. */
export interface ReadOf<T, S extends Store = Store> {
  readonly from: StoreAt<S>
  readonly value: T
}

/**
 * Reads from all stores at once. Of several, one that cannot be read is reported and left out.
 * @throws what reading throws, where no store can be read
 */
export async function readEach<T, S extends Store>(
  stores: readonly StoreAt<S>[],
  report: (text: string) => unknown,
  read: (store: S) => Promise<T>,
): Promise<readonly ReadOf<T, S>[]> {
  const tries = await Promise.allSettled(stores.map(({ store }) => read(store)))
  const done: ReadOf<T, S>[] = []
  const failures: { readonly where: string; readonly error: unknown }[] = []
  for (const [at, from] of stores.entries()) {
    const result = tries[at]
    if (result?.status === 'fulfilled') done.push({ from, value: result.value })
    else if (result !== undefined) failures.push({ where: from.where, error: result.reason })
  }
  for (const { error, where } of done.length === 0 ? failures.slice(1) : failures) {
    if (!(error instanceof EntiaError)) throw error
    report(`entia: ${where} is left out: ${plainText(error.message)}\n`)
  }
  if (done.length === 0) throw failures[0]?.error
  return done
}

/** What tells rows of several databases apart; nothing where there is one. */
export function databaseColumn(stores: readonly StoreAt[], { where }: StoreAt): { readonly database?: string } {
  return stores.length > 1 ? { database: where } : {}
}

/** Closes all, also where one of them cannot be closed. */
export async function closeAll(stores: readonly StoreAt[]): Promise<void> {
  await Promise.allSettled(stores.map(({ store }) => store.close()))
}
