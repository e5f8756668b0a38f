import { createHash } from 'node:crypto'
import { EntiaError } from '../../base/entia-error.ts'
import { encodeName } from '../file-name.ts'
import type { SqlClient } from './port.ts'

/**
 * `fleet`: one row. `id` is this schema's own; `databases` has the ids of all databases over which the worlds of its fleet are
 * spread, in their order, from the first use by a fleet on.
 */
export const fleetTable = (schema: string): string => `
  CREATE TABLE ${schema}.fleet (id uuid NOT NULL DEFAULT gen_random_uuid(), databases uuid[]);
  INSERT INTO ${schema}.fleet DEFAULT VALUES;
`

const longestListingMs = 10_000

/** Missing rights, as Postgres names them. */
const forbidden = '42501'

interface Member {
  readonly place: string
  /** A connection of its own, before the tables are there. */
  readonly connect: () => Promise<SqlClient & { readonly end: () => Promise<void> }>
  /** Makes the tables, or brings them up to date. */
  readonly prepare: (client: SqlClient) => Promise<void>
}

interface Kept {
  readonly id: string
  readonly databases: readonly string[] | undefined
}

/** The place of a root world among so many databases: the same in every process, whatever they are called. */
export function databaseOf(root: string, count: number): number {
  return createHash('sha256').update(encodeName(root)).digest().readUInt32BE(0) % count
}

/**
 * The databases of one fleet in their order, which says where each root world is. Each of them keeps the list with which the fleet
 * was begun, and is not used with another one.
 */
export class DatabaseList {
  readonly #schema: string
  readonly #members: (Member | undefined)[]
  /** The list that those have which were looked at. */
  #known: readonly string[] | undefined

  /** @param count of databases, each of which is added before it is used */
  constructor(schema: string, count: number) {
    this.#schema = `"${schema}"`
    this.#members = Array.from({ length: count })
  }

  add(at: number, member: Member): void {
    this.#members[at] ??= member
  }

  /**
   * Compares the list that a database keeps with this one; one that is new gets it, together with all others.
   * @throws `config-invalid`
   */
  async check(at: number, client: SqlClient): Promise<void> {
    const kept = await this.#keptBy(client)
    const databases = kept.databases ?? (await this.#begin(at, client, kept))
    this.#assertSame(at, { ...kept, databases })
  }

  async #keptBy(client: SqlClient, lock = ''): Promise<Kept> {
    const { rows } = await client.query(`SELECT id, databases FROM ${this.#schema}.fleet ${lock}`)
    const databases: unknown = rows[0]?.['databases']
    return { id: String(rows[0]?.['id']), databases: Array.isArray(databases) ? databases.map(String) : undefined }
  }

  async #begin(at: number, client: SqlClient, { id }: Kept): Promise<readonly string[]> {
    if (this.#members.length > 1) return this.#beginAll()
    try {
      await client.query(`UPDATE ${this.#schema}.fleet SET databases = ARRAY[id] WHERE databases IS NULL`)
    } catch (error) {
      // A process that only speaks to worlds: a worker writes it.
      if (!(error instanceof Error && 'code' in error && error.code === forbidden)) throw error
    }
    // Another process may have been first.
    return (await this.#keptBy(client)).databases ?? [id]
  }

  /** One process after the other, since all lock in the same order: either all databases get the list, or the next one goes on. */
  async #beginAll(): Promise<readonly string[]> {
    const members = this.#members.filter((member) => member !== undefined)
    const clients = await Promise.all(members.map(({ connect }) => connect()))
    try {
      for (const [at, client] of clients.entries()) await members[at]?.prepare(client)
      const ids = await Promise.all(clients.map(async (client) => (await this.#keptBy(client)).id))
      this.#assertEachOnce(ids)
      const inOrder = clients.toSorted((a, b) => idOf(a).localeCompare(idOf(b)))
      function idOf(client: SqlClient): string {
        return ids[clients.findIndex((each) => each === client)] ?? ''
      }
      // A process that hangs here keeps others waiting for so long.
      const limit = `SET LOCAL idle_in_transaction_session_timeout = ${longestListingMs}`
      for (const client of inOrder) await client.query(`BEGIN; ${limit}`)
      const fresh: SqlClient[] = []
      for (const client of inOrder) {
        const at = clients.indexOf(client)
        const kept = await this.#keptBy(client, 'FOR UPDATE')
        if (kept.databases === undefined) {
          await this.#assertEmpty(at, client)
          fresh.push(client)
        } else if (!isSame(kept.databases, ids)) this.#refuse(at, kept.databases)
      }
      for (const client of fresh) await client.query(`UPDATE ${this.#schema}.fleet SET databases = $1`, [ids])
      for (const client of inOrder) await client.query('COMMIT')
      return ids
    } finally {
      // Rolls back what was not committed.
      await Promise.all(clients.map((client) => client.end().catch(() => undefined)))
    }
  }

  #assertSame(at: number, { databases = [], id }: Kept): void {
    const isHere = databases.length === this.#members.length && databases[at] === id
    if (!isHere || (this.#known !== undefined && !isSame(this.#known, databases))) this.#refuse(at, databases, id)
    this.#known = databases
  }

  #refuse(at: number, databases: readonly string[], id?: string): never {
    const count = this.#members.length
    const before = id === undefined ? -1 : databases.indexOf(id)
    const what =
      databases.length !== count
        ? `it has ${databases.length}, got ${count}. Give as many as it was begun with, in the same order`
        : before !== -1 && before !== at
          ? `this is number ${before + 1} of them, got as number ${at + 1}. Give them in the same order`
          : 'others are databases of another fleet. Give those with which it was begun, in the same order'
    throw new EntiaError(
      'config-invalid',
      `${this.#placeOf(at)} belongs to a fleet with another list of databases: ${what}: ` +
        'the list says in which of them a world is.',
      { place: this.#placeOf(at), databases: databases.length },
    )
  }

  #assertEachOnce(ids: readonly string[]): void {
    const twice = ids.findIndex((id, at) => ids.indexOf(id) !== at)
    if (twice === -1) return
    const what = `${this.#placeOf(twice)} and ${this.#placeOf(ids.indexOf(ids[twice] ?? ''))} are the same database, or one is a copy of the other`
    throw new EntiaError('config-invalid', `${what}. Name each database of a fleet once.`, {
      place: this.#placeOf(twice),
    })
  }

  /** What it has was put there under another list, and would not be found. */
  async #assertEmpty(at: number, client: SqlClient): Promise<void> {
    const { rows } = await client.query(
      `SELECT EXISTS (SELECT FROM ${this.#schema}.worlds) OR EXISTS (SELECT FROM ${this.#schema}.mail) AS is_used`,
    )
    if (rows[0]?.['is_used'] !== true) return
    throw new EntiaError(
      'config-invalid',
      `${this.#placeOf(at)} has worlds or letters already, and was in no list of databases. Begin a fleet over several ` +
        "databases with new ones, or give this one alone in 'database'.",
      { place: this.#placeOf(at) },
    )
  }

  #placeOf(at: number): string {
    return this.#members[at]?.place ?? ''
  }
}

function isSame(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((id, at) => id === other[at])
}
