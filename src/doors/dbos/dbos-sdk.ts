import { setTimeout } from 'node:timers/promises'
import { optionalPackages } from '../../base/optional-packages.ts'
import type { SqlClient } from '../../stores/postgres/port.ts'
import { EntiaError } from '../../base/entia-error.ts'

const sdk = () => optionalPackages('dbosDispatcher', ['@dbos-inc/dbos-sdk'], () => import('@dbos-inc/dbos-sdk'))
/** The function of `DBOS.migrate`, which writes what it does on the console. */
const migrations = () => import('@dbos-inc/dbos-sdk/internal/system_database')

export interface DbosPlace {
  /** Past any pooler of transactions. */
  readonly database: string
  readonly schema: string
  readonly applicationName: string
}

/** A session as DBOS has it: a workflow that no process of DBOS runs. */
export interface NewWorkflow {
  readonly id: string
  readonly queue: string
  /** 0 is the most urgent. */
  readonly priority: number
  readonly attributes: Readonly<Record<string, unknown>>
  /** What its console shows as arguments. */
  readonly shown: readonly string[]
}

/** The version that workflows have: the form of their attributes. */
const applicationVersion = 'entia-1'
/** The name of the function that a workflow is of. */
const workflowName = 'entiaSession'

/** The tables are tried to be made so often, after some milliseconds each: a program may start its own DBOS at that moment. */
const maxTries = 5
const longestPauseMs = 500
/** Another worker that makes them is waited for. */
const maxLooks = 1_200
const lookMs = 50

/** What Entia has of DBOS: its tables, and the form of a workflow in its queue. It runs no executor, and keeps no connection. */
export class DbosSystem {
  readonly #client: Client

  private constructor(client: Client) {
    this.#client = client
  }

  /** Makes the tables of DBOS, or brings them to its version. @throws `missing-peer`, `store-failed`, and errors of Postgres */
  static async open(place: DbosPlace): Promise<DbosSystem> {
    const maker = await clientOf(place)
    try {
      await prepare(maker, place)
    } finally {
      await maker.destroy()
    }
    return new DbosSystem(await clientOf(place))
  }

  /** Puts a workflow into its queue, in a transaction. */
  async enqueue(client: SqlClient, { attributes, id, priority, queue, shown }: NewWorkflow): Promise<void> {
    const options = {
      queueName: queue,
      workflowName,
      workflowID: id,
      appVersion: applicationVersion,
      priority,
      attributes,
    }
    await this.#client.enqueueInTransaction(client as Parameters<Client['enqueueInTransaction']>[0], options, ...shown)
  }

  async close(): Promise<void> {
    await this.#client.destroy()
  }
}

/**
 * One process after the other: of two that build an index at once, each waits for the other. No one may wait for the lock, since
 * who builds an index waits for all statements that are under way.
 */
async function prepare(maker: Client, { database, schema }: DbosPlace): Promise<void> {
  const { ensureSystemDatabase } = await migrations()
  const system = maker['systemDatabase']
  const lock = await system.connect()
  try {
    await locked(lock, schema)
    for (let tries = 1; ; tries++) {
      try {
        return await ensureSystemDatabase(database, maker['logger'], system.pool, schema)
      } catch (error) {
        if (tries === maxTries) throw error
        await setTimeout(Math.random() * longestPauseMs)
      }
    }
  } finally {
    // Its lock goes with it.
    lock.release(true)
  }
}

async function locked(client: SqlClient, schema: string): Promise<void> {
  for (let looks = 0; looks < maxLooks; looks++) {
    const { rows } = await client.query('SELECT pg_try_advisory_lock(hashtextextended($1, 0)) AS is_ours', [
      `entia makes the tables of dbos in ${schema}`,
    ])
    if (rows[0]?.['is_ours'] === true) return
    await setTimeout(lookMs)
  }
  throw new EntiaError(
    'store-failed',
    `dbosDispatcher: another worker has been making the tables of DBOS in the schema ${schema} for ${(maxLooks * lookMs) / 1_000} s. ` +
      'Does it hang? End it, and start this one again.',
    { schema },
  )
}

type Client = Awaited<ReturnType<typeof clientOf>>

async function clientOf({ applicationName, database, schema }: DbosPlace) {
  const { DBOSClient } = await sdk()
  const silent = { info: ignore, debug: ignore, warn: ignore, error: ignore }
  return DBOSClient.create({
    systemDatabaseUrl: database,
    systemDatabaseSchemaName: schema,
    systemDatabasePoolSize: 2,
    // It would be set while the first query is under way, of which the driver warns.
    systemDatabaseIdleTransactionTimeoutMs: 0,
    applicationName,
    // What fails is thrown.
    logger: silent,
  })
}

function ignore(): void {}
