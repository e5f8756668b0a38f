import type { SharedStore, WorldName } from '../port.ts'
import type { Dispatcher, Holding, Placement, SessionCounts, Suspects } from './dispatcher.ts'

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

/** What all workers of a schema hold together, in numbers. */
export interface StoreTotals {
  readonly workersAlive: number
  readonly worldsQuarantined: number
  readonly lettersWaiting: number
  /** For how many milliseconds the oldest letter has waited; 0: none does. */
  readonly oldestLetterMs: number
}

/** What all workers of a fleet do together, in numbers. */
export interface FleetTotals extends StoreTotals, SessionCounts {}

/** What a worker has, and what it has to know of the others. */
export interface PeerState {
  /** Root worlds that it holds. */
  readonly worlds: readonly string[]
  /** Sessions whose Worlds it holds. */
  readonly sessions: readonly WorldName[]
  /** Those that are alive and drive worlds, this one too, the oldest first. `can`: as it has said when it entered. */
  readonly workers: readonly { readonly id: number; readonly can: string }[]
  /** There is something in line, due, or in a box. */
  readonly hasWork: boolean
  /** Another worker, alive or dead, holds something. */
  readonly othersHold: boolean
  /** Providers that nobody calls now, and for how many milliseconds more. */
  readonly pauses: readonly { readonly provider: string; readonly forMs: number }[]
}

/** The workers that share the tables. */
export interface Peers {
  state(): Promise<PeerState>
  /** Asks all workers to call a provider no more for so long. */
  pause(provider: string, forMs: number): Promise<void>
  /** Calls a listener when a worker has come, or a pause begins. */
  on(hear: () => void): () => void
  /** Calls a listener with the keys of worlds that have got letters: at notifications alone, of which one may be lost. */
  onLetters(hear: (places: readonly string[]) => void): () => void
}

/** A root world that no living worker holds, and that has something to do. */
export interface DueWorld {
  readonly name: string
  readonly root: string
  /** How many holders it has had. 0: it was never opened, and may not be written yet. */
  readonly epoch: number
  /** How often in a row its holder died. */
  readonly strikes: number
  /** For how many milliseconds it has had something to do. A world whose holder has died: since ever. */
  readonly waitedMs: number
}

/**
 * The Worlds of sessions, for a dispatcher that keeps its queue elsewhere than `line` does. All of it belongs to a transaction of
 * the store, so that it holds together with what the dispatcher writes.
 */
export interface SessionWorlds {
  /**
   * Those that no worker holds and that have letters, or are past their `wakeAtMs`, as what a dead worker was driving is.
   * @param among only these, by the keys of the tables, as `Dispatcher.wake` is given them. @default all
   */
  due(client: SqlClient, among?: readonly string[]): Promise<readonly WorldName[]>
  /** How often in a row the holder of each of these died; 0 for one that is not there. */
  strikes(sessions: readonly WorldName[], client: SqlClient): Promise<readonly number[]>
  /** Which of these workers are alive, and how many there are that drive worlds, at least 1. */
  living(
    workers: readonly number[],
    client: SqlClient,
  ): Promise<{ readonly ids: ReadonlySet<number>; readonly drivers: number }>
  /** Removes a World that was never opened, with its letters. False: it was opened, or is not there. */
  remove(world: string, root: string, client: SqlClient): Promise<boolean>
  /** Removes letters that sessions which have ended did not read. */
  ended(sessions: readonly WorldName[], client: SqlClient): Promise<void>
  /** Calls the listeners of `line.on` in all processes, once the transaction is committed. */
  tell(client: SqlClient): Promise<void>
}

/** A store in Postgres, and what a fleet of workers needs of it besides. */
export interface PostgresStore extends SharedStore {
  /** The dispatcher of `postgresDispatcher`. */
  readonly line: Dispatcher
  readonly sessions: SessionWorlds
  readonly peers: Peers
  /** How many commits of worlds this store object has written. */
  readonly commits: number
  totals(): Promise<StoreTotals>
  /**
   * Enters this store object as a worker, as opening a world does too. Resolves with its id, by which it holds worlds.
   * @param can what the others are told of one that drives worlds, once: opaque to the store. @default it drives none
   */
  enter(can?: string): Promise<number>
  workers(): Promise<readonly WorkerInfo[]>
  /**
   * Removes workers that are dead, and frees their worlds: those that were busy are due at once, and each has a strike more,
   * until the worker says that it lives.
   * Frees what this worker has without knowing it, and removes letters to sessions that have ended.
   * @param options `isQueueElsewhere`: another dispatcher than `line` knows which sessions have ended, and letters to a World that is
   * there stay. @default false
   * @returns the ids of those workers
   */
  sweep(options?: { readonly isQueueElsewhere?: boolean }): Promise<readonly number[]>
  /**
   * Root worlds that no living worker holds and that have letters, or are past their `wakeAtMs`. Those in quarantine are left out.
   * @param limit at most so many, at least 1
   * @param options `kinds`: only those whose names begin with one of these, up to their first `/`. @default all; `except`: none of
   * these. @default none
   * @returns those first that have waited longest
   */
  due(
    limit: number,
    options?: {
      readonly kinds?: readonly string[] | undefined
      readonly except?: readonly string[] | undefined
      /** @default all */
      readonly suspects?: Suspects | undefined
    },
  ): Promise<readonly DueWorld[]>
  /**
   * Puts a world in quarantine: it is not due any more, and can still be opened.
   * @param options `seize`: who holds it now loses it, and its commits are refused from then on. @default false. `strikes`: only
   * where nobody holds it, and so many holders have died in a row, the last one a lease ago. @default in any case
   * @returns false where it is otherwise by now
   * @throws `no-such-world`
   */
  hold(
    world: string,
    options: {
      readonly root?: string | undefined
      readonly reason: string
      readonly seize?: boolean
      readonly strikes?: number
    },
  ): Promise<boolean>
  /** Ends the quarantine of a world, and takes back its strikes. @throws `no-such-world` */
  release(world: string, options?: { readonly root?: string | undefined }): Promise<void>
  /**
   * Does several things in one transaction. Rejects with `store-failed` if the connection is lost: then it may have been committed.
   * @param options `isRepeatable`: they may be done twice, and are done again until the connection is there. @default false
   */
  transaction<T>(act: (client: SqlClient) => Promise<T>, options?: { readonly isRepeatable?: boolean }): Promise<T>
  /**
   * Writes the first snapshot of a world, which then has no holder.
   * @param by who wants it: one that was succeeded writes nothing. @default anybody
   * @returns false where the world is written already
   * @throws `world-fenced`
   */
  place(placement: Placement, client: SqlClient, by?: Holding): Promise<boolean>
}
