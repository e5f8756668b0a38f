import type { SessionFleet, SessionOrder } from '../children/session-fleet.ts'
import type { Abilities, Share } from '../effects/host.ts'

/** A session that a worker was given. It counts until the session is given to another, or to the same one again. */
export interface Claim {
  readonly id: number
  readonly order: SessionOrder
  /** It only waited when its last holder went, and needs no slot until it goes on. @default false */
  readonly isWaiting?: boolean | undefined
  /** The worker that had it last has died. */
  readonly isRecovered?: boolean | undefined
  /** Several workers in a row have died with it: of it, or of another suspect beside it. @default false */
  readonly isSuspect?: boolean | undefined
}

/** What a worker says of itself when it asks for more. */
export interface Asking {
  /** Most sessions with a slot, or root worlds, that it takes now. */
  readonly room: number
  /** It holds a suspect, and is given no second one: with both, nobody could tell of which of them it dies. */
  readonly hasSuspect: boolean
}

/** A session that was given to this worker. */
export interface HeldSession {
  readonly claim: Claim
  /** Its World is open here. False: not yet, not any more, or who was given the session before has seized it since. */
  readonly isOpen: boolean
}

/** What a worker has, and what it has to know of the others. */
export interface BoardState {
  /** What this worker still has: root worlds by name, sessions by `sessionKey`. The rest was taken from it. */
  readonly worlds: ReadonlySet<string>
  readonly sessions: ReadonlyMap<string, HeldSession>
  /** Workers that are alive, this one too, and how many of them come before this one in an order that all agree on. */
  readonly workers: Share
  /** What any of them has. */
  readonly has: Abilities
  /** There may be something in line or due. @default true */
  readonly hasWork?: boolean | undefined
  /** Providers that asked one of them for a pause, and for how many milliseconds more. */
  readonly pauses: ReadonlyMap<string, number>
}

export interface DueWorld {
  readonly name: string
  /** Its holder is thought dead: it is taken from it. */
  readonly isLost?: boolean | undefined
  /** The worker that had it last has died. */
  readonly isRecovered?: boolean | undefined
  /** Several workers in a row have died with it: of it, or of another suspect beside it. @default false */
  readonly isSuspect?: boolean | undefined
  /** For how many milliseconds it has had something to do, where that is known. */
  readonly waitedMs?: number | undefined
}

/**
 * What the workers of a fleet share beside their worlds: sessions in line for a slot, and root worlds that are due. One cap
 * holds for all workers together. What a worker had that has died is in line, or due, again.
 */
export interface Board extends SessionFleet {
  /**
   * The next sessions for this worker to hold: some that only wait, and the next that get a slot. None: none is in line, or no
   * slot is free. There may be more after these. A session that only waits needs no room: what has the last slot may wait for it.
   * At most one of them is a suspect.
   */
  next(asking: Asking): Promise<readonly Claim[]>
  /** A session that is held only waits: its slot is free for another. */
  giveBack(claim: Claim): Promise<void>
  /** A session that is held needs a slot again, ahead of all that never had one. False: not before the signal has aborted. */
  slotAgain(claim: Claim, signal: AbortSignal): Promise<boolean>
  /**
   * This worker lets go of a session that has not ended: another takes it, ahead of all that never had a slot, or without one
   * if it had none.
   * @param unfitMs milliseconds for which this worker, which cannot drive it, is not given it again. @default 0
   * @returns for how many milliseconds no worker could drive it
   */
  putBack(claim: Claim, unfitMs?: number): Promise<number | undefined>
  /**
   * This worker lets go of a session that only waits: it is given to a worker again, without a slot, once it has a letter or is due.
   */
  rest(claim: Claim): Promise<void>
  /** A session needs no slot any more. */
  finished(claim: Claim): Promise<void>
  /**
   * Root worlds that nobody living holds, and that have letters, are due, or were at work when their holder went. At most one of
   * them is a suspect.
   */
  due(asking: Asking, except: readonly string[]): Promise<readonly DueWorld[]>
  state(): Promise<BoardState>
  /** Calls a listener when there may be something in line or due. */
  onWork(hear: () => void): () => void
  /** Calls a listener when a worker has come, or a pause begins. */
  onState(hear: () => void): () => void
}

/** What any of several workers has. What two declare differently is as the first one declares it. */
export function hadByAny(workers: readonly Abilities[]): Abilities {
  return {
    tools: new Map(workers.toReversed().flatMap(({ tools }) => [...tools])),
    providers: new Set(workers.flatMap(({ providers }) => [...providers])),
  }
}

/** Names a session among those of all roots. */
export function sessionKey({ root, sessionId }: Pick<SessionOrder, 'root' | 'sessionId'>): string {
  return JSON.stringify([root, sessionId])
}
