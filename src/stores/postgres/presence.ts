import { hostname } from 'node:os'
import { clearInterval, clearTimeout, setInterval, setTimeout } from 'node:timers'
import type { Connections, Dedicated } from './connections.ts'

export interface PresenceOptions {
  readonly schema: string
  readonly lockClass: number
  readonly leaseMs: number
  readonly note: string
}

/** It says that it lives so many times within its lease. */
const beatsPerLease = 5
/** A world whose holder has lived so long with it has no strikes. */
const strikesLastMs = 60_000
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
  #worker: number | undefined
  #hasLock = false
  #isClosed = false
  #timer: NodeJS.Timeout | undefined
  #strikesTakenBackAt = 0
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

  /** Resolves with the id of this worker, once it has its lock. */
  enter(): Promise<number> {
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
    await this.#connected()
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
    const { leaseMs, lockClass, note, schema } = this.#options
    const { rows } = await this.#asked(
      `WITH me AS (
        INSERT INTO ${schema}.workers (lease_ms, pid, host, note) VALUES ($1, $2, $3, $4) RETURNING id
      ) SELECT id, pg_advisory_lock($5, id) FROM me`,
      [leaseMs, process.pid, hostname(), Buffer.from(note), lockClass],
    )
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
    await client.query(`LISTEN ${this.#channel}`)
    this.#onListening()
  }

  #beatLater(): void {
    if (this.#isClosed) return
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => void this.#beat(), this.#options.leaseMs / beatsPerLease).unref()
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

  /** Enters a worker again that was thought dead, so that it is not so a second time. */
  async #sayAlive(worker: number): Promise<void> {
    const { leaseMs, lockClass, note, schema } = this.#options
    const sentAt = Date.now()
    const { rows } = await this.#asked(
      `WITH me AS (
        INSERT INTO ${schema}.workers (id, lease_ms, pid, host, note) VALUES ($1, $2, $3, $4, $5)
        ON CONFLICT (id) DO UPDATE SET seen = clock_timestamp() RETURNING id
      ) SELECT extract(epoch FROM clock_timestamp()) * 1000 AS now,
          ${this.#hasLock ? 'true' : 'pg_try_advisory_lock($6, id)'} AS has_lock FROM me`,
      [worker, leaseMs, process.pid, hostname(), Buffer.from(note), ...(this.#hasLock ? [] : [lockClass])],
    )
    // The server may not have noticed yet that the last connection is gone, and so keep its lock for a time.
    this.#hasLock = rows[0]?.['has_lock'] === true
    const offsetMs = Number(rows[0]?.['now']) - (sentAt + Date.now()) / 2
    this.clockOffsetMs = Math.abs(offsetMs) < leastOffsetMs ? 0 : Math.round(offsetMs)
    await this.#takeBackStrikes(worker)
  }

  async #takeBackStrikes(worker: number): Promise<void> {
    if (performance.now() - this.#strikesTakenBackAt < strikesLastMs) return
    this.#strikesTakenBackAt = performance.now()
    await this.#asked(
      `UPDATE ${this.#options.schema}.worlds SET strikes = 0
       WHERE worker = $1 AND strikes > 0 AND since < clock_timestamp() - make_interval(secs => ${strikesLastMs / 1_000})`,
      [worker],
    )
  }

  /** A connection that does not answer within half a lease is given up. */
  async #asked(text: string, values: readonly unknown[]) {
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

/** Whether a worker is alive, as a condition over its row. Asking keeps no one from its lock but for a moment. */
export function isAlive(row: string, lockClass: number): string {
  return `(${row}.seen > clock_timestamp() - make_interval(secs => ${row}.lease_ms / 1000.0)
    AND NOT pg_try_advisory_xact_lock_shared(${lockClass}, ${row}.id))`
}
