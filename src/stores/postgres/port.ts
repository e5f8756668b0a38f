import type { SharedStore } from '../port.ts'

/** A row, by the names of its columns. */
export type SqlRow = Readonly<Record<string, unknown>>

/** A connection in a transaction: what a client of the package `pg` offers. */
export interface SqlClient {
  query(text: string, values?: readonly unknown[]): Promise<{ readonly rows: readonly SqlRow[] }>
}

/** A store object that is, or was, at work on a database. */
export interface WorkerInfo {
  readonly id: number
  readonly pid: number
  readonly host: string
  /** What it says of itself. */
  readonly note: string
  /** How long ago it last said that it lives. */
  readonly seenMs: number
  /** Whether it has its lock and was seen within its lease. */
  readonly isAlive: boolean
  /** How many root worlds, and worlds of sessions, it holds. */
  readonly worlds: number
  readonly sessions: number
}

/** What all workers of a schema do together, in numbers. */
export interface FleetTotals {
  readonly workersAlive: number
  /** Sessions that have a slot. */
  readonly sessionsRunning: number
  /** Sessions in line for one, for the first time or again. */
  readonly sessionsWaiting: number
  readonly worldsQuarantined: number
  readonly lettersWaiting: number
  /** For how many milliseconds the oldest letter has waited; 0: none does. */
  readonly oldestLetterMs: number
}

/** A root world that no living worker holds, and that has something to do. */
export interface DueWorld {
  readonly name: string
  readonly root: string
  /** How many holders it has had. 0: it was never opened, and may not be written yet. */
  readonly epoch: number
  /** How often in a row its holder died. */
  readonly strikes: number
}

/** The first snapshot of a world, to be written unless the world is there. */
export interface Placement {
  readonly world: string
  readonly root: string
  readonly tick: number
  readonly lines: Iterable<string>
  /** Whether it has work in flight. @default undefined: not known */
  readonly isBusy?: boolean | undefined
}

/** A session that waits for a slot. */
export interface LinePlace {
  readonly world: string
  readonly root: string
  /** Whose it is: each tenant gets its share of the slots. */
  readonly tenant: string
  /** What a worker has to know of it: opaque to the store. */
  readonly job: string
}

/** A session that was given to a worker. It counts until the session is given away again. */
export interface LineClaim {
  readonly id: number
  readonly world: string
  readonly root: string
  readonly job: string
  /** How often in a row its holder died. */
  readonly strikes: number
}

/** A session in line, or with a worker. */
export interface LineInfo {
  readonly world: string
  readonly root: string
  readonly tenant: string
  /** Absent: it is in line. */
  readonly worker: number | undefined
  readonly hasSlot: boolean
  readonly wantsSlot: boolean
  /** Milliseconds since it came, or was given to its worker. */
  readonly ageMs: number
}

/** The line of sessions that wait for one of the slots that all workers share. */
export interface SessionLine {
  /** Puts a session in line, unless it is there, in the transaction of a client. */
  enter(place: LinePlace, client: SqlClient): Promise<void>
  /** Removes a session that never had a slot, with its World. False: it has begun, or is not there. */
  withdraw(world: string, root: string): Promise<boolean>
  /** How many wait ahead of it for a first slot; `undefined` unless it waits for its own first. */
  position(world: string, root: string): Promise<number | undefined>
  /** Gives this worker the next session that gets a slot. @param tenantCap most slots of one tenant. @default `cap` */
  next(cap: number, tenantCap?: number): Promise<LineClaim | undefined>
  giveBack(claim: LineClaim): Promise<void>
  wantSlot(claim: LineClaim): Promise<void>
  hasSlot(claim: LineClaim): Promise<boolean | undefined>
  putBack(claim: LineClaim, unfitMs?: number): Promise<void>
  finish(claim: LineClaim): Promise<void>
  /** What this worker has. */
  held(): Promise<readonly { readonly root: string; readonly world: string; readonly isSession: boolean }[]>
  list(): Promise<readonly LineInfo[]>
}

/** A store in Postgres, and what a fleet of workers needs of it besides. */
export interface PostgresStore extends SharedStore {
  readonly line: SessionLine
  /** How many commits of worlds this store object has written. */
  readonly commits: number
  totals(): Promise<FleetTotals>
  /** Calls a listener when a session may get a slot. */
  onLine(hear: () => void): () => void
  /** Enters this store object as a worker, as opening a world does too. Resolves with its id, by which it holds worlds. */
  enter(): Promise<number>
  workers(): Promise<readonly WorkerInfo[]>
  /**
   * Removes workers that are dead, and frees their worlds: those that were busy are due at once, and each has a strike more.
   * @returns the ids of those workers
   */
  sweep(): Promise<readonly number[]>
  /**
   * Root worlds that no living worker holds and that have letters, or are past their `wakeAtMs`. Those in quarantine are left out.
   * @param limit at most so many, at least 1
   * @param kinds only those whose names begin with one of these, up to their first `/`. @default all
   */
  due(limit: number, kinds?: readonly string[]): Promise<readonly DueWorld[]>
  /**
   * Puts a world in quarantine: it is not due any more, and can still be opened.
   * @param options `seize`: who holds it now loses it, and its commits are refused from then on. @default false
   * @throws `no-such-world`
   */
  hold(
    world: string,
    options: { readonly root?: string | undefined; readonly reason: string; readonly seize?: boolean },
  ): Promise<void>
  /** Ends the quarantine of a world, and takes back its strikes. @throws `no-such-world` */
  release(world: string, options?: { readonly root?: string | undefined }): Promise<void>
  /** Does several things in one transaction. Rejects with `store-failed` if the connection is lost: then it may have been committed. */
  transaction<T>(act: (client: SqlClient) => Promise<T>): Promise<T>
  /** Writes the first snapshot of a world, which nobody holds then. @returns false where the world is written already */
  place(placement: Placement, client: SqlClient): Promise<boolean>
}
