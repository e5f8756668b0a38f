import { thrownMessage } from '../../base/thrown-message.ts'
import { setTimeout } from 'node:timers/promises'
import type { Client, ClientBase, ClientConfig, Pool, PoolClient } from 'pg'
import { optionalPackages } from '../../base/optional-packages.ts'
import { EntiaError } from '../../base/entia-error.ts'
import { explained, isPassing } from './errors.ts'
import type { SqlClient, SqlRow } from './port.ts'

export interface ConnectionsOptions {
  readonly database: string
  /** The same past a pooler of transactions, behind which `database` lies. @default it lies behind none */
  readonly direct?: string | undefined
  /** Of the database and the schema, for error messages. */
  readonly place: string
  /** Besides the one that writes. 0: that does all. */
  readonly maxConnections: number
  readonly retryMs: number
  /** A process that hangs in a transaction keeps others from what it has locked for no longer. */
  readonly idleInTransactionMs: number
  /** Prepares the database once, before anything else is done in it. */
  readonly prepare: (client: SqlClient) => Promise<void>
}

/** A query with parameters. A name lets a connection keep its plan. */
export interface Statement {
  readonly name?: string
  readonly text: string
  readonly values: readonly unknown[]
  /** For how long an answer is waited for. @default nearly as long as for a connection, so that it is asked for again */
  readonly answerMs?: number
}

/** A connection of its own, for what belongs to a connection. */
export type Dedicated = Pick<Client, 'end' | 'on' | 'query'>

/** A server that takes a connection and says nothing is waited for no longer than a lost one, and for a second in any case. */
const longestConnectMs = 10_000
const shortestConnectMs = 1_000
const answerPart = 0.8
const shortestAnswerMs = 1_000
const firstPauseMs = 10
const longestPauseMs = 1_000

/** The connections of a store: one that writes, some that do all else. Errors of theirs that pass are waited out. */
export class Connections {
  readonly place: string
  readonly #options: ConnectionsOptions
  #pools: Promise<{ readonly writer: Pool; readonly others: Pool }> | undefined
  /** A server that never answered is not waited for: its address is wrong. */
  #hasAnswered = false

  constructor(options: ConnectionsOptions) {
    this.place = options.place
    this.#options = options
  }

  /** Runs a statement, again where its connection is lost: it has to be one that may be run twice. */
  async run(statement: Statement): Promise<readonly SqlRow[]> {
    return this.patiently(() => this.#query('others', statement))
  }

  /** The same on the connection that writes, which does one thing after the other. */
  async write(statement: Statement): Promise<readonly SqlRow[]> {
    return this.patiently(() => this.#query('writer', statement))
  }

  /** Does several things in one transaction, again where it is lost: they have to be such that may be done twice. */
  repeatable<T>(act: (client: SqlClient) => Promise<T>): Promise<T> {
    return this.patiently(() => this.#transaction(act))
  }

  async transaction<T>(act: (client: SqlClient) => Promise<T>): Promise<T> {
    try {
      return await this.#transaction(act)
    } catch (error) {
      // What is not of Postgres is the caller's.
      throw isPassing(error) || isOfPostgres(error) ? explained(error, this.place) : error
    }
  }

  /** Does something again until it is done, or fails for a reason that lasts, or time is up. @throws `store-failed` */
  async patiently<T>(act: () => Promise<T>): Promise<T> {
    const until = performance.now() + this.#options.retryMs
    for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
      try {
        return await act()
      } catch (error) {
        if (!isPassing(error) || !this.#hasAnswered) throw explained(error, this.place)
        if (performance.now() + pauseMs > until) throw this.#unreachable(error)
        await setTimeout(pauseMs)
      }
    }
  }

  async dedicated(): Promise<Dedicated> {
    await this.#loaded()
    return this.early()
  }

  /** The same before the database is prepared. */
  async early(): Promise<Dedicated> {
    const { Client } = await driver()
    const { database, direct = database, idleInTransactionMs } = this.#options
    const client = new Client({
      ...this.#config(direct),
      idle_in_transaction_session_timeout: idleInTransactionMs,
    })
    client.on('error', ignore)
    // A store that nobody waits for lets its process end.
    if ('unref' in client && typeof client.unref === 'function') client.unref()
    await client.connect()
    return client
  }

  async close(): Promise<void> {
    const pools = await this.#pools?.catch(() => undefined)
    await endAll(pools)
  }

  async #query(which: 'others' | 'writer', statement: Statement): Promise<readonly SqlRow[]> {
    // A network that is cut without a word to either end is not noticed by the system for a quarter of an hour.
    const answerMs = Math.max(shortestAnswerMs, answerPart * this.#options.retryMs)
    const { name, ...rest } = statement
    // Behind a pooler each transaction is on another connection, which does not know the name.
    const named = this.#options.direct === undefined && name !== undefined ? { name } : {}
    return query(await this.#client(which), { answerMs, ...rest, ...named })
  }

  async #transaction<T>(act: (client: SqlClient) => Promise<T>): Promise<T> {
    const client = await this.#client('others')
    let failure: Error | undefined
    try {
      await client.query('BEGIN')
      const result = await act(client)
      await client.query('COMMIT')
      return result
    } catch (error) {
      failure = isPassing(error) ? (error as Error) : undefined
      await client.query('ROLLBACK').catch((lost: Error) => (failure = lost))
      throw error
    } finally {
      client.release(failure)
    }
  }

  async #client(which: 'others' | 'writer'): Promise<PoolClient> {
    return (await this.#loaded())[which].connect()
  }

  #loaded(): Promise<{ readonly writer: Pool; readonly others: Pool }> {
    if (this.#pools === undefined) {
      const pools = this.#open()
      this.#pools = pools
      // The next call tries again.
      pools.catch(() => (this.#pools = undefined))
    }
    return this.#pools
  }

  async #open() {
    const { Pool } = await driver()
    const { database, direct, maxConnections, prepare } = this.#options
    const pool = (max: number, idleTimeoutMillis: number): Pool => {
      const made = new Pool({
        ...this.#config(database),
        max,
        idleTimeoutMillis,
        allowExitOnIdle: true,
        // A pooler gives the connection to another client next, which would get the settings.
        onConnect: direct === undefined ? this.#prepared : heard,
      })
      made.on('error', ignore)
      return made
    }
    const writer = pool(1, 0)
    const others = maxConnections === 0 ? writer : pool(maxConnections, 30_000)
    try {
      const client = await others.connect()
      let failure: Error | undefined
      try {
        await prepare(client)
      } catch (error) {
        failure = error as Error
        throw error
      } finally {
        client.release(failure)
      }
    } catch (error) {
      await endAll({ writer, others })
      throw error
    }
    this.#hasAnswered = true
    return { writer, others }
  }

  #config(address: string): ClientConfig {
    return {
      connectionString: address,
      application_name: 'entia',
      connectionTimeoutMillis: Math.max(shortestConnectMs, Math.min(longestConnectMs, this.#options.retryMs)),
      keepAlive: true,
      keepAliveInitialDelayMillis: 10_000,
    }
  }

  /** Plans that fit any number of rows: rows are searched by their keys. The pool waits for it, which its types do not say. */
  readonly #prepared: (client: ClientBase) => unknown = async (client) => {
    heard(client)
    const { idleInTransactionMs } = this.#options
    await client.query(
      `SET plan_cache_mode = force_generic_plan; SET jit = off; SET max_parallel_workers_per_gather = 0; SET idle_in_transaction_session_timeout = ${idleInTransactionMs}`,
    )
  }

  #unreachable(error: unknown): EntiaError {
    const { retryMs } = this.#options
    const cause = thrownMessage(error)
    return new EntiaError(
      'store-failed',
      `${this.place} could not be reached for ${retryMs / 1_000} s: ${cause}. Whether what was under way is there is not known. ` +
        'Mend the connection or the server, and open the world again.',
      { place: this.place, cause },
      { cause: error },
    )
  }
}

/** Keeps the process until something has settled, as connections that only end do not. */
export async function keptUntil<T>(settled: Promise<T>): Promise<T> {
  const stay = setInterval(() => undefined, longestConnectMs)
  try {
    return await settled
  } finally {
    clearInterval(stay)
  }
}

async function query(client: PoolClient, statement: Required<Omit<Statement, 'name'>> & Statement) {
  const { answerMs, name, text, values } = statement
  let failure: Error | undefined
  let isLate = false
  // Ends the connection, and with it the query.
  const end = (): void => {
    isLate = true
    client.release(new Error('Connection terminated: no answer'))
  }
  const timer = globalThis.setTimeout(end, answerMs)
  try {
    const { rows } = await client.query<SqlRow>({ ...(name !== undefined && { name }), text, values: [...values] })
    return rows
  } catch (error) {
    failure = isPassing(error) ? (error as Error) : undefined
    throw error
  } finally {
    clearTimeout(timer)
    if (!isLate) client.release(failure)
  }
}

async function endAll(pools: { readonly writer: Pool; readonly others: Pool } | undefined): Promise<void> {
  const all = pools === undefined ? [] : [pools.writer, pools.others]
  await Promise.all([...new Set(all)].map((pool) => pool.end()))
}

/** That a connection is lost ends no process. */
function heard(client: ClientBase): void {
  client.on('error', ignore)
}

/** The query under way fails with it. */
function ignore(): void {}

function isOfPostgres(error: unknown): boolean {
  return error instanceof Error && 'severity' in error
}

function driver(): Promise<typeof import('pg')> {
  return optionalPackages('postgresStore', ['pg'], () => import('pg'))
}
