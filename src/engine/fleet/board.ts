import type { SessionFleet, SessionOrder } from '../children/session-fleet.ts'

/** A session that a worker was given. It counts until the session is given to another, or to the same one again. */
export interface Claim {
  readonly id: number
  readonly order: SessionOrder
  /** The worker that had it last has died. */
  readonly isRecovered?: boolean | undefined
}

export interface DueWorld {
  readonly name: string
  /** Its holder is thought dead: it is taken from it. */
  readonly isLost?: boolean | undefined
  /** The worker that had it last has died. */
  readonly isRecovered?: boolean | undefined
}

/**
 * What the workers of a fleet share beside their worlds: sessions in line for a slot, and root worlds that are due. One cap
 * holds for all workers together. What a worker had that has died is in line, or due, again.
 */
export interface Board extends SessionFleet {
  /** The next session that gets a slot, for this worker to hold. `undefined`: none is in line, or no slot is free. */
  next(): Promise<Claim | undefined>
  /** A session that is held only waits: its slot is free for another. */
  giveBack(claim: Claim): Promise<void>
  /** A session that is held needs a slot again, ahead of all that never had one. False: not before the signal has aborted. */
  slotAgain(claim: Claim, signal: AbortSignal): Promise<boolean>
  /**
   * This worker lets go of a session that has not ended: another takes it, ahead of all that never had a slot.
   * @param unfitMs milliseconds for which this worker is not given it again. @default 0
   */
  putBack(claim: Claim, unfitMs?: number): Promise<void>
  /** A session needs no slot any more. */
  finished(claim: Claim): Promise<void>
  /** Root worlds that nobody living holds, and that have letters, are due, or were at work when their holder went. */
  due(limit: number): Promise<readonly DueWorld[]>
  /** What this worker still has: root worlds by name, sessions by `sessionKey`. The rest was taken from it. */
  held(): Promise<{ readonly worlds: ReadonlySet<string>; readonly sessions: ReadonlySet<string> }>
  /** Calls a listener when there may be something in line or due. */
  onWork(hear: () => void): () => void
}

/** Names a session among those of all roots. */
export function sessionKey({ root, sessionId }: Pick<SessionOrder, 'root' | 'sessionId'>): string {
  return JSON.stringify([root, sessionId])
}
