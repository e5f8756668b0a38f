import type { FirstSnapshot, SharedStore } from '../port.ts'

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

/** What a worker has, and what it has to know of the others. */
export interface PeerState {
  /** `isOpen`: this worker holds the World too. */
  readonly sessions: readonly { readonly claim: LineClaim; readonly isOpen: boolean }[]
  /** Root worlds. */
  readonly worlds: readonly string[]
  /** Those that are alive and drive worlds, this one too, the oldest first. `can`: as it has said when it entered. */
  readonly workers: readonly { readonly id: number; readonly can: string }[]
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

/** The first snapshot of a world, to be written unless the world is there. */
export interface Placement extends FirstSnapshot {
  readonly root: string
}

/** A world of the same root, as one holder has it. */
export interface Holding {
  readonly world: string
  readonly epoch: number
}

/** A session that waits for a slot, and its World as it begins. */
export interface LinePlace extends Placement {
  /** Whose it is: each tenant gets its share of the slots. */
  readonly tenant: string
  /** What a worker has to know of it: opaque to the store. */
  readonly job: string
}

/** What a worker asks the line for. */
export interface LineAsking {
  /** Most sessions with a slot, over all workers. */
  readonly cap: number
  /** Most of them of one tenant. @default `cap` */
  readonly tenantCap?: number
  /** Most sessions with a slot that it takes now. Those that only wait need no room. */
  readonly room: number
  /** Which worlds may be what their holders died of. @default none */
  readonly suspects?: Suspects | undefined
}

/** Worlds that may be what their holders died of, as far as they are not driven alone. */
export interface Suspects {
  /** They have as many strikes at least. */
  readonly from: number
  /** With as many a world is no suspect any more: it is not driven. */
  readonly below: number
  /** Most of them that are given at once. */
  readonly most: 0 | 1
}

/** A session that was given to a worker. It counts until the session is given away again. */
export interface LineClaim {
  readonly id: number
  readonly world: string
  readonly root: string
  readonly job: string
  /** How often in a row its holder died. */
  readonly strikes: number
  /** False: it only waits. */
  readonly hasSlot: boolean
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
  /** It only waits, and no worker is given it before a letter or an instant wakes it. */
  readonly isResting: boolean
  /** Milliseconds since it came, or was given to its worker. */
  readonly ageMs: number
}

/** The line of sessions that wait for one of the slots that all workers share. */
export interface SessionLine {
  /** Calls a listener when a session may get a slot. */
  on(hear: () => void): () => void
  /**
   * Writes the World of a session and puts it in line, unless that was done before: it has perhaps ended since.
   * @param by who launches it: one that was succeeded launches none. @default anybody
   * @throws `world-fenced`
   */
  enter(place: LinePlace, by?: Holding): Promise<void>
  /** Removes a session that never had a slot, with its World. False: it has begun, or is not there. */
  withdraw(world: string, root: string): Promise<boolean>
  /** How many wait ahead of it for a first slot; `undefined` unless it waits for its own first. */
  position(world: string, root: string): Promise<number | undefined>
  /**
   * Gives this worker the next sessions that get a slot: its share of those in line, where other workers could take some, too. None
   * to a worker that is thought dead, which would lose it at once.
   */
  next(asking: LineAsking): Promise<readonly LineClaim[]>
  giveBack(claim: LineClaim): Promise<void>
  wantSlot(claim: LineClaim): Promise<void>
  hasSlot(claim: LineClaim): Promise<boolean | undefined>
  /** @returns for how many milliseconds one worker after the other has put it back with `unfitMs` */
  putBack(claim: LineClaim, unfitMs?: number): Promise<number | undefined>
  /** Takes a session from its worker that only waits: it is out of line until it is woken. */
  rest(claim: LineClaim): Promise<void>
  /** Has sessions given to workers that rest, and have letters or are past their `wakeAtMs`. */
  wake(): Promise<void>
  finish(claim: LineClaim): Promise<void>
  /** What workers have to know of the sessions of a root that are in line, or with a worker. */
  jobs(root: string): Promise<readonly string[]>
  /** Removes sessions of a root from the line, also those that a worker has. */
  remove(worlds: readonly string[], root: string): Promise<void>
  list(): Promise<readonly LineInfo[]>
}

/** A store in Postgres, and what a fleet of workers needs of it besides. */
export interface PostgresStore extends SharedStore {
  readonly line: SessionLine
  readonly peers: Peers
  /** How many commits of worlds this store object has written. */
  readonly commits: number
  totals(): Promise<FleetTotals>
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
   * @returns the ids of those workers
   */
  sweep(): Promise<readonly number[]>
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
  /** Does several things in one transaction. Rejects with `store-failed` if the connection is lost: then it may have been committed. */
  transaction<T>(act: (client: SqlClient) => Promise<T>): Promise<T>
  /**
   * Writes the first snapshot of a world, which then has no holder.
   * @param by who wants it: one that was succeeded writes nothing. @default anybody
   * @returns false where the world is written already
   * @throws `world-fenced`
   */
  place(placement: Placement, client: SqlClient, by?: Holding): Promise<boolean>
}
