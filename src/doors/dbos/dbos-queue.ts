import type {
  Dispatcher,
  Holding,
  LaunchedSession,
  QueuedSession,
  SessionClaim,
  SessionCounts,
  SlotRequest,
  Suspects,
} from '../../stores/postgres/dispatcher.ts'
import { explained } from '../../stores/postgres/errors.ts'
import type { SqlClient } from '../../stores/postgres/port.ts'
import type { DispatcherPlace } from '../postgres/postgres-dispatcher.ts'
import { EntiaError } from '../../base/entia-error.ts'
import { DbosSystem } from './dbos-sdk.ts'
import type { SessionRow } from './session-row.ts'
import { type ClaimKey, SessionWorkflows } from './session-workflows.ts'

export interface DbosQueuePlace extends DispatcherPlace {
  readonly applicationName: string
  /** Of DBOS's tables. */
  readonly dbosSchema: string
}

/**
 * One process's end of the queue of DBOS. Each call is one transaction on a connection of the store, so that what it writes in the
 * tables of DBOS and in those of worlds is there together.
 */
export class DbosQueue implements Dispatcher {
  readonly #place: DbosQueuePlace
  readonly #workflows: SessionWorkflows
  #system: Promise<DbosSystem> | undefined
  #hasTables = false

  constructor(place: DbosQueuePlace) {
    this.#place = place
    this.#workflows = new SessionWorkflows({ schema: place.dbosSchema, fleet: place.schema })
  }

  on(hear: () => void): () => void {
    return this.#place.store.line.on(hear)
  }

  async launch(session: LaunchedSession, by?: Holding): Promise<void> {
    const { store } = this.#place
    const system = await this.#opened()
    const workflow = this.#workflows.workflowOf(session)
    const { job: _, tenant: __, ...placement } = session
    await this.#write(async (client) => {
      if (!(await store.place(placement, client, by))) return false
      await system.enqueue(client, workflow)
      await this.#workflows.begin(client, workflow)
      return true
    })
  }

  async withdraw(world: string, root: string): Promise<boolean> {
    const { store } = this.#place
    const id = this.#workflows.idOf(world, root)
    return this.#write(async (client) => {
      if (!(await this.#workflows.withdraw(client, id))) return false
      await store.sessions.remove(world, root, client)
      return true
    })
  }

  position(world: string, root: string): Promise<number | undefined> {
    return this.#read((client) => this.#workflows.position(client, this.#workflows.idOf(world, root)))
  }

  async next({ cap, room, suspects, tenantCap = cap }: SlotRequest): Promise<readonly SessionClaim[]> {
    const worker = await this.#worker()
    const { again, awake, queued, running } = await this.#read((client) => this.#workflows.look(client))
    const mayGrant = running < cap && (again > 0 || (queued > 0 && room > 0))
    if (!mayGrant && awake === 0) return []
    const { schema, store } = this.#place
    return this.#read(async (client) => {
      // One worker after the other, so that the cap holds: each statement sees what the last one has committed.
      await client.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [`entia dbos ${schema}`])
      const { drivers, ids } = await store.sessions.living([worker], client)
      if (!ids.has(worker)) return []
      if (await this.#workflows.grantAgain(client, cap)) await store.sessions.tell(client)
      const before = await this.#withStrikes(await this.#workflows.givenBefore(client, worker), client)
      const except = tooSuspect(before, suspects)
      const taken = await this.#workflows.take(client, { cap, tenantCap, room, drivers, worker, except })
      return this.#withStrikes(taken, client)
    })
  }

  async held(): Promise<readonly SessionClaim[]> {
    const worker = await this.#worker()
    return this.#read(async (client) => this.#withStrikes(await this.#workflows.held(client, worker), client))
  }

  async giveBack(claim: SessionClaim): Promise<void> {
    await this.#change(claim, (client, key) => this.#workflows.giveBack(client, key))
  }

  async wantSlot(claim: SessionClaim): Promise<void> {
    await this.#change(claim, (client, key) => this.#workflows.wantSlot(client, key))
  }

  async hasSlot(claim: SessionClaim): Promise<boolean | undefined> {
    const key = await this.#keyOf(claim)
    return this.#read((client) => this.#workflows.hasSlot(client, key))
  }

  async putBack(claim: SessionClaim, unfitMs = 0): Promise<number | undefined> {
    let forMs: number | undefined
    await this.#change(claim, async (client, key) => {
      const done = await this.#workflows.putBack(client, key, unfitMs)
      forMs = done?.unfitMs
      return done !== undefined
    })
    return forMs
  }

  async rest(claim: SessionClaim): Promise<void> {
    await this.#change(claim, (client, key) => this.#workflows.rest(client, key))
  }

  async finish(claim: SessionClaim): Promise<void> {
    await this.#change(claim, async (client, key) => {
      if (!(await this.#workflows.finish(client, key))) return false
      await this.#place.store.sessions.ended([claim], client)
      return true
    })
  }

  /** What workers that have died had is given again, too. */
  async wake(among?: readonly string[]): Promise<void> {
    const { sessions } = this.#place.store
    await this.#write(async (client) => {
      const isRecovered = among === undefined && (await this.#recover(client))
      const due = await sessions.due(client, among)
      const ids = due.map(({ root = '', world }) => this.#workflows.idOf(world, root))
      const isWoken = ids.length > 0 && (await this.#workflows.wake(client, ids))
      return isRecovered || isWoken
    })
  }

  jobs(root: string): Promise<readonly string[]> {
    return this.#read((client) => this.#workflows.jobs(client, root))
  }

  async remove(worlds: readonly string[], root: string): Promise<void> {
    const ids = worlds.map((world) => this.#workflows.idOf(world, root))
    await this.#write(async (client) => {
      await this.#workflows.remove(client, ids)
      await this.#place.store.sessions.ended(
        worlds.map((world) => ({ world, root })),
        client,
      )
      return true
    })
  }

  async list(): Promise<readonly QueuedSession[]> {
    return (await this.#looked((client) => this.#workflows.list(client))) ?? []
  }

  async counts(): Promise<SessionCounts> {
    const look = await this.#looked((client) => this.#workflows.look(client))
    return { sessionsRunning: look?.running ?? 0, sessionsWaiting: (look?.queued ?? 0) + (look?.again ?? 0) }
  }

  async close(): Promise<void> {
    const system = await this.#system?.catch(() => undefined)
    await system?.close()
  }

  async #recover(client: SqlClient): Promise<boolean> {
    const workers = await this.#workflows.workers(client)
    if (workers.length === 0) return false
    // Each was a worker when it took what it has.
    const { ids } = await this.#place.store.sessions.living(workers, client)
    const dead = workers.filter((worker) => !ids.has(worker))
    return dead.length > 0 && (await this.#workflows.recover(client, dead))
  }

  async #withStrikes(rows: readonly SessionRow[], client: SqlClient): Promise<readonly SessionRow[]> {
    const strikes = await this.#place.store.sessions.strikes(rows, client)
    return rows.map((row, at) => ({ ...row, strikes: strikes[at] ?? 0 }))
  }

  async #worker(): Promise<number> {
    await this.#opened()
    return this.#place.store.enter()
  }

  async #keyOf(claim: SessionClaim): Promise<ClaimKey> {
    const id = this.#workflows.idOf(claim.world, claim.root)
    return { workflow: id, worker: await this.#worker(), claim: claim.id }
  }

  async #change(claim: SessionClaim, act: (client: SqlClient, key: ClaimKey) => Promise<boolean>): Promise<boolean> {
    const key = await this.#keyOf(claim)
    return this.#write((client) => act(client, key))
  }

  /** All workers are told of what changes the queue. */
  #write(act: (client: SqlClient) => Promise<boolean>): Promise<boolean> {
    return this.#read(async (client) => {
      const isChanged = await act(client)
      if (isChanged) await this.#place.store.sessions.tell(client)
      return isChanged
    })
  }

  async #read<T>(act: (client: SqlClient) => Promise<T>): Promise<T> {
    await this.#opened()
    return this.#place.store.transaction(act, { isRepeatable: true })
  }

  /** Looks without making tables. */
  #looked<T>(act: (client: SqlClient) => Promise<T>): Promise<T | undefined> {
    return this.#place.store.transaction(
      async (client) => {
        this.#hasTables ||= await this.#workflows.exists(client)
        return this.#hasTables ? act(client) : undefined
      },
      { isRepeatable: true },
    )
  }

  #opened(): Promise<DbosSystem> {
    if (this.#system === undefined) {
      const opening = this.#open()
      this.#system = opening
      // The next call tries again.
      opening.catch(() => (this.#system = undefined))
    }
    return this.#system
  }

  /** No transaction of this process is open meanwhile: it would be waited for. */
  async #open(): Promise<DbosSystem> {
    const { applicationName, database, dbosSchema: schema, direct = database, schema: fleet } = this.#place
    if (schema === fleet) {
      throw new EntiaError(
        'config-invalid',
        `dbosDispatcher: the tables of DBOS must be in another schema than those of worlds, got '${schema}' for both. Name another one in 'schema'.`,
        { schema },
      )
    }
    try {
      return await DbosSystem.open({ applicationName, database: direct, schema })
    } catch (error) {
      throw explained(error, `the tables of DBOS, schema ${schema}`)
    }
  }
}

/** The suspects among sessions that are not to be given now: all but as many as are asked for. */
function tooSuspect(rows: readonly SessionRow[], suspects: Suspects | undefined): readonly string[] {
  if (suspects === undefined) return []
  const { below, from, most } = suspects
  const found = rows.filter(({ strikes }) => strikes >= from && strikes < below)
  return found.slice(most).map(({ workflow }) => workflow)
}
