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

/** A store in Postgres, and what a fleet of workers needs of it besides. */
export interface PostgresStore extends SharedStore {
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
   */
  due(limit: number): Promise<readonly DueWorld[]>
  /** Puts a world in quarantine: it is not due any more, and can still be opened. @throws `no-such-world` */
  hold(world: string, options: { readonly root?: string | undefined; readonly reason: string }): Promise<void>
  /** Ends the quarantine of a world, and takes back its strikes. @throws `no-such-world` */
  release(world: string, options?: { readonly root?: string | undefined }): Promise<void>
  /** Does several things in one transaction. Rejects with `store-failed` if the connection is lost: then it may have been committed. */
  transaction<T>(act: (client: SqlClient) => Promise<T>): Promise<T>
  /** Writes the first snapshot of a world, which nobody holds then. @returns false where the world is written already */
  place(placement: Placement, client: SqlClient): Promise<boolean>
}
