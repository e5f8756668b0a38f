import { Serial } from '../../base/serial.ts'
import { hostname } from 'node:os'
import { clearInterval, clearTimeout, setInterval, setTimeout } from 'node:timers'
import type { Connections, Dedicated, Statement } from './connections.ts'
import type { SqlRow } from './port.ts'

export interface PresenceOptions {
  readonly schema: string
  readonly lockClass: number
  readonly leaseMs: number
  readonly note: string
  /** Notifies the others that a worker has come, as SQL. */
  readonly entered: string
}

type Ask = (text: string, values: readonly unknown[]) => Promise<{ readonly rows: readonly SqlRow[] }>

/** It says that it lives so many times within its lease. */
const beatsPerLease = 5
/** A world whose holder has lived so long with it has no strikes. */
const strikesLastMs = 60_000
/** Until it has its lock again it tries so soon, then after twice as long each time. */
const lockAgainMs = 25
/** A clock that differs by less is not corrected: an answer takes its time too. */
const leastOffsetMs = 1_000

/**
 * That this store object lives: an advisory lock, which is free at once when its process ends, on a connection of its own, and
 * a time in `workers`, which ages when the process hangs or is cut off. The same connection hears of letters.
 */
export class Presence {
  readonly #connections: Connections
  readonly #options: PresenceOptions
  readonly #onNews: (payload: string) => void
  readonly #onListening: () => void
  #channel: string | undefined
  #entering: Promise<number> | undefined
  #connecting: Promise<void> | undefined
  #client: Dedicated | undefined
  /** The one that listens. */
  #hearing: Dedicated | undefined
  #worker: number | undefined
  /** The query under way on its connection, which does one after the other. */
  readonly #asking = new Serial()
  #can: Buffer | null = null
  /** Its row has what it can, which may be long. */
  #hasSaid = false
  #hasLock = false
  #beatenAt = -Infinity
  #isClosed = false
  #lockAgainMs = lockAgainMs / 2
  #timer: NodeJS.Timeout | undefined
  /** What Postgres's clock is ahead of ours. */
  clockOffsetMs = 0

  /** @param onListening news before it may have been missed */
  constructor(
    connections: Connections,
    options: PresenceOptions,
    onNews: (payload: string) => void,
    onListening: () => void,
  ) {
    this.#connections = connections
    this.#options = options
    this.#onNews = onNews
    this.#onListening = onListening
  }

  /** `undefined` before `enter`. */
  get worker(): number | undefined {
    return this.#worker
  }

  /** Resolves with the id of this worker, once it has its lock. @param can what it says of itself, once */
  enter(can?: string): Promise<number> {
    if (can !== undefined) this.#can = Buffer.from(can)
    this.#entering ??= this.#enter().catch((error: unknown) => {
      // The next call tries again.
      this.#entering = undefined
      throw error
    })
    return this.#entering
  }

  /** Resolves once news of this channel is heard. */
  async listen(channel: string): Promise<void> {
    this.#channel = channel
    if (this.#hearing === undefined || this.#hearing !== this.#client) await this.#connected()
  }

  /**
   * Runs a statement in one transaction with the next beat, where that is due soon: a worker at rest has no other ones. Else, or
   * where that fails, it is run otherwise.
   */
  async withBeat(statement: Statement, otherwise: () => Promise<readonly SqlRow[]>): Promise<readonly SqlRow[]> {
    const worker = this.#worker
    const isSoon = performance.now() > this.#beatenAt + this.#options.leaseMs / beatsPerLease / 2
    if (worker === undefined || this.#client === undefined || !this.#hasLock || !isSoon) return otherwise()
    try {
      return await this.#inTurn(async (ask) => {
        await ask('BEGIN', [])
        try {
          const { rows } = await ask(statement.text, statement.values)
          await this.#sayAlive(worker, ask)
          await ask('COMMIT', [])
          this.#beatLater()
          return rows
        } catch (error) {
          await ask('ROLLBACK', []).catch(() => undefined)
          throw error
        }
      })
    } catch {
      return otherwise()
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#timer)
    await this.#entering?.catch(() => undefined)
    await this.#connecting?.catch(() => undefined)
    const client = this.#client
    this.#client = undefined
    await client?.end().catch(() => undefined)
  }

  async #enter(): Promise<number> {
    // Its connection keeps no process, which must not end while somebody waits for this.
    const stay = setInterval(() => undefined, this.#options.leaseMs)
    try {
      await this.#connected()
      const worker = this.#worker ?? (await this.#connections.patiently(() => this.#enroll()))
      this.#worker = worker
      this.#beatLater()
      return worker
    } finally {
      clearInterval(stay)
    }
  }

  /** The row is seen by others once the lock is there. */
  async #enroll(): Promise<number> {
    await this.#connected()
    const { entered, leaseMs, lockClass, note, schema } = this.#options
    const can = this.#can
    const { rows } = await this.#asked(
      `WITH me AS (
        INSERT INTO ${schema}.workers (lease_ms, pid, host, note, can) VALUES ($1, $2, $3, $4, $5) RETURNING id
      ) SELECT id, pg_advisory_lock($6, id), ${entered} FROM me`,
      [leaseMs, process.pid, hostname(), Buffer.from(note), can, lockClass],
    )
    this.#hasSaid = can !== null
    this.#hasLock = true
    return Number(rows[0]?.['id'])
  }

  #connected(): Promise<void> {
    this.#connecting ??= this.#connections
      .patiently(() => this.#connect())
      .finally(() => (this.#connecting = undefined))
    return this.#connecting
  }

  async #connect(): Promise<void> {
    const client = this.#client ?? (await this.#connections.dedicated())
    if (this.#client === undefined) {
      this.#hasLock = false
      client.on('notification', ({ payload }) => this.#onNews(payload ?? ''))
      client.on('end', () => {
        if (this.#client !== client) return
        this.#client = undefined
        // At once: the lock is free, and others think that this worker is dead.
        if (!this.#isClosed) void this.#beat()
      })
      this.#client = client
    }
    if (this.#channel === undefined) return
    await this.#asked(`LISTEN ${this.#channel}`, [])
    this.#hearing = client
    this.#onListening()
  }

  #beatLater(): void {
    if (this.#isClosed) return
    clearTimeout(this.#timer)
    const beatMs = this.#options.leaseMs / beatsPerLease
    // Who asks whether it lives has its lock for that moment. Others think that it is dead until it has it.
    const isThoughtDead = this.#client !== undefined && this.#worker !== undefined && !this.#hasLock
    this.#lockAgainMs = isThoughtDead ? Math.min(2 * this.#lockAgainMs, beatMs) : lockAgainMs / 2
    this.#timer = setTimeout(() => void this.#beat(), isThoughtDead ? this.#lockAgainMs : beatMs).unref()
  }

  async #beat(): Promise<void> {
    try {
      if (this.#client === undefined) await this.#connected()
      if (this.#worker !== undefined && !this.#isClosed) await this.#sayAlive(this.#worker)
    } catch {
      // The next beat tries again; until then the lease runs.
    } finally {
      this.#beatLater()
    }
  }

  /**
   * Enters a worker again that was thought dead, so that it is not so a second time, and takes back the strikes of that; and all
   * strikes of worlds that it has held for long. What it can goes along where its row lacks that.
   */
  async #sayAlive(worker: number, ask: Ask = (text, values) => this.#asked(text, values)): Promise<void> {
    const { leaseMs, lockClass, note, schema } = this.#options
    const can = this.#hasSaid ? null : this.#can
    const sentAt = Date.now()
    const { rows } = await ask(
      `WITH me AS (
        INSERT INTO ${schema}.workers AS w (id, lease_ms, pid, host, note, can) VALUES ($1, $2, $3, $4, $5, $6)
        ON CONFLICT (id) DO UPDATE SET seen = clock_timestamp(), can = coalesce(excluded.can, w.can)
        RETURNING id, can IS NOT NULL AS has_said
      ), struck AS MATERIALIZED (
        SELECT id, worker = $1 AND since < clock_timestamp() - make_interval(secs => ${strikesLastMs / 1_000}) AS lives
        FROM ${schema}.worlds WHERE strikes <> '{}' AND ($1 = ANY(strikes) OR worker = $1) FOR UPDATE SKIP LOCKED
      ), taken_back AS (
        UPDATE ${schema}.worlds AS w SET strikes = CASE WHEN s.lives THEN '{}' ELSE array_remove(w.strikes, $1) END
        FROM struck AS s WHERE w.id = s.id AND (s.lives OR $1 = ANY(w.strikes))
      ) SELECT extract(epoch FROM clock_timestamp()) * 1000 AS now, has_said,
          ${this.#hasLock ? 'true' : 'pg_try_advisory_lock($7, id)'} AS has_lock FROM me`,
      [worker, leaseMs, process.pid, hostname(), Buffer.from(note), can, ...(this.#hasLock ? [] : [lockClass])],
    )
    // The server may not have noticed yet that the last connection is gone, and so keep its lock for a time.
    this.#hasLock = rows[0]?.['has_lock'] === true
    const offsetMs = Number(rows[0]?.['now']) - (sentAt + Date.now()) / 2
    // Its row was removed: others do not know any more what it can.
    const isForgotten = this.#hasSaid && rows[0]?.['has_said'] === false
    this.#hasSaid = rows[0]?.['has_said'] === true
    this.clockOffsetMs = Math.abs(offsetMs) < leastOffsetMs ? 0 : Math.round(offsetMs)
    this.#beatenAt = performance.now()
    if (isForgotten) await this.#sayAlive(worker, ask)
  }

  #asked(text: string, values: readonly unknown[]): ReturnType<Ask> {
    return this.#inTurn((ask) => ask(text, values))
  }

  /** Its connection does one thing after the other. */
  #inTurn<T>(act: (ask: Ask) => Promise<T>): Promise<T> {
    return this.#asking.run(() => act((text, values) => this.#ask(text, values)))
  }

  /** A connection that does not answer within half a lease is given up. */
  async #ask(text: string, values: readonly unknown[]) {
    const client = this.#client
    if (client === undefined) throw new Error('Connection terminated')
    const timer = setTimeout(() => void client.end().catch(() => undefined), this.#options.leaseMs / 2).unref()
    try {
      return await client.query<Record<string, unknown>>(text, [...values])
    } finally {
      clearTimeout(timer)
    }
  }
}

/**
 * Whether a worker is alive, as a condition over its row. Asking keeps no one from its lock but for a moment. Who was there before
 * the server began has a lease from then on: all locks were free.
 */
export function isAlive(row: string, lockClass: number): string {
  const leaseAgo = `clock_timestamp() - make_interval(secs => ${row}.lease_ms / 1000.0)`
  return `CASE WHEN ${row}.seen < pg_postmaster_start_time() THEN pg_postmaster_start_time() > ${leaseAgo}
    ELSE ${row}.seen > ${leaseAgo} AND NOT pg_try_advisory_xact_lock_shared(${lockClass}, ${row}.id) END`
}

/** The strikes of a world whose holder has died, as SQL: a worker dies once. */
export function struck(world: string): string {
  return `array_append(array_remove(${world}.strikes, ${world}.worker), ${world}.worker)`
}
