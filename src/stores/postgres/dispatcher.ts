import type { FirstSnapshot } from '../port.ts'

/** The first snapshot of a world, to be written unless the world is there. */
export interface Placement extends FirstSnapshot {
  readonly root: string
}

/** A world of the same root, as one holder has it. */
export interface Holding {
  readonly world: string
  readonly epoch: number
}

/** A session that is launched, and its World as it begins. Its name is unique in its root only. */
export interface LaunchedSession extends Placement {
  /** Whose it is: each tenant gets its share of the slots, where the dispatcher shares by tenant. */
  readonly tenant: string
  /** What a worker has to know of the session: opaque to dispatchers, which keep it until the session is finished. */
  readonly job: string
}

/** What a worker asks a dispatcher for. */
export interface SlotRequest {
  /** Most sessions with a slot, over all workers. */
  readonly cap: number
  /** Most of them of one tenant. @default `cap` */
  readonly tenantCap?: number
  /** Most sessions with a slot that the worker takes now. Sessions that only wait need no room. */
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

/** A session that a dispatcher gave to a worker. It counts until the session is given to another, or to the same one again. */
export interface SessionClaim {
  /** Tells it from earlier and later claims of the same worker on the session. */
  readonly id: number
  readonly world: string
  readonly root: string
  readonly job: string
  /** How often in a row its holder died. */
  readonly strikes: number
  /** False: it only waits. */
  readonly hasSlot: boolean
}

/** A session in the queue, or with a worker. */
export interface QueuedSession {
  readonly world: string
  readonly root: string
  readonly tenant: string
  /** Absent: it is in the queue. */
  readonly worker: number | undefined
  readonly hasSlot: boolean
  readonly wantsSlot: boolean
  /** It only waits, and no worker is given it before a letter or an instant wakes it. */
  readonly isResting: boolean
  /** Milliseconds since it was launched, or given to its worker. */
  readonly ageMs: number
}

/** How many sessions there are, over all workers. */
export interface SessionCounts {
  /** Those that have a slot. */
  readonly sessionsRunning: number
  /** Those that wait for one, for the first time or again. */
  readonly sessionsWaiting: number
}

/**
 * Gives sessions to the workers of a fleet: one process's end of a queue that all of them share. A session has a slot while it runs,
 * none while it only waits for its own sessions or for people, and one again before it goes on.
 *
 * - **Every call may be repeated**, since its answer may be lost, and rejects with `store-failed` where the queue cannot be reached.
 * - **A claim that does not count any more changes nothing**: the calls that take one resolve as if they had.
 * - **It may give a session late, or to two workers.** The store lets one of them write: the newest that has opened the World. It
 *   must not lose a session, nor have more than `cap` with a slot.
 * - **Who is alive is said by the store** (`store.workers()`), and what a worker had that is not is given to others by itself.
 */
export interface Dispatcher {
  /** Calls a listener when a session may be given, or a slot may be free. Returns a function that ends it. */
  on(hear: () => void): () => void
  /**
   * Writes the World of a session and puts it in the queue, both or neither, unless that was done before: the session has perhaps
   * ended since. Resolves once it is durable.
   * @param by who launches it: one that was succeeded launches none. @default anybody
   * @throws `world-fenced`
   */
  launch(session: LaunchedSession, by?: Holding): Promise<void>
  /** Removes a session that was never given to a worker, with its World. False: it was, or is not there. */
  withdraw(world: string, root: string): Promise<boolean>
  /** How many wait ahead of it for a first slot; `undefined` unless it waits for its own first. */
  position(world: string, root: string): Promise<number | undefined>
  /**
   * Gives this worker the next sessions: those that only wait, and those that get a slot. Of the latter those first that had a slot
   * before, then in order of their launches. None to a worker that is thought dead, which would lose it at once. None: there may be
   * some when `on` calls.
   */
  next(request: SlotRequest): Promise<readonly SessionClaim[]>
  /** What this worker was given and still has, also where the answer that gave it was lost. */
  held(): Promise<readonly SessionClaim[]>
  /** A session that is held only waits: its slot is free for another. */
  giveBack(claim: SessionClaim): Promise<void>
  /** A session that is held needs a slot again, ahead of all that never had one. `hasSlot` says when it has it. */
  wantSlot(claim: SessionClaim): Promise<void>
  /** Whether a session has a slot; `undefined`: this worker does not have the session any more. */
  hasSlot(claim: SessionClaim): Promise<boolean | undefined>
  /**
   * The worker lets go of a session that has not ended: another is given it, ahead of all that never had a slot, or without one if it
   * had none.
   * @param unfitMs milliseconds for which this worker, which cannot drive it, is not given it again. @default 0
   * @returns for how many milliseconds one worker after the other has put it back with `unfitMs`
   */
  putBack(claim: SessionClaim, unfitMs?: number): Promise<number | undefined>
  /** The worker lets go of a session that only waits: none is given it until it is woken. */
  rest(claim: SessionClaim): Promise<void>
  /** A session has ended: it leaves the queue. */
  finish(claim: SessionClaim): Promise<void>
  /**
   * Compares what is there, several times a second: sessions that rest and have letters, or are past their `wakeAtMs`, are given to
   * workers again, without a slot. A few workers of all ask for it.
   * @param among their Worlds have got letters, by the keys of the tables: others need not be looked at. @default all
   */
  wake(among?: readonly string[]): Promise<void>
  /** The jobs of all sessions of a root that are in the queue, with a worker, or at rest. */
  jobs(root: string): Promise<readonly string[]>
  /** Removes sessions of a root, also those that a worker has. */
  remove(worlds: readonly string[], root: string): Promise<void>
  /** Sessions with a worker, behind them those in the queue in order, behind them those at rest. */
  list(): Promise<readonly QueuedSession[]>
  counts(): Promise<SessionCounts>
  /** Lets go of what this end of the queue uses. Sessions go on elsewhere. The store is closed after it. */
  close(): Promise<void>
}
