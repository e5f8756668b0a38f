import { World } from 'entia'
import type { Board, Claim } from '../../src/engine/fleet/board.ts'
import { letterLine } from '../../src/protocol/letter.ts'

/** The root world that launches all sessions. */
export const root = 'desk'

/** A worker of a fleet as far as its dispatcher goes. It drives nothing: what it is given it has until a call says otherwise. */
export interface Seat {
  /** @param epoch under which the root is held */
  launch(session: string, epoch: number): Promise<void>
  withdraw(session: string): Promise<boolean>
  position(session: string): Promise<number | undefined>
  /** What it is given now, those that only wait with a `~`. */
  next(room: number): Promise<readonly string[]>
  /** By the nth claim on it that this worker was given. @default the newest */
  giveBack(session: string, nth?: number): Promise<void>
  /** Resolves once it has a slot; false: it was taken from this worker. */
  slotAgain(session: string): Promise<boolean>
  putBack(session: string, nth?: number, unfitMs?: number): Promise<void>
  rest(session: string, nth?: number): Promise<void>
  finished(session: string, nth?: number): Promise<void>
  /** The sessions that the dispatcher says it has. */
  holds(): Promise<readonly string[]>
  /** Puts a letter into the box of a session. */
  post(session: string): Promise<void>
}

export type SeatCall = keyof Seat

const orderOf = (sessionId: string) => ({ root, sessionId, parent: root, path: [sessionId] })

export function seatOver(board: Board): Seat {
  const claims = new Map<string, Claim[]>()
  const claimOn = (session: string, nth = -1): Claim => {
    const claim = claims.get(session)?.at(nth)
    if (claim === undefined) throw new Error(`This worker was not given the session ${session}.`)
    return claim
  }
  return {
    launch: (session, epoch) => board.launch(orderOf(session), new World({ name: session }), epoch),
    withdraw: (session) => board.withdraw(orderOf(session)),
    position: (session) => board.position(orderOf(session)),
    next: async (room) => {
      await board.due({ room: 0, hasSuspect: false }, [])
      const given = await board.next({ room, hasSuspect: false })
      for (const claim of given) {
        const { sessionId } = claim.order
        claims.set(sessionId, [...(claims.get(sessionId) ?? []), claim])
      }
      return given.map(({ isWaiting, order }) => `${order.sessionId}${isWaiting === true ? '~' : ''}`)
    },
    giveBack: (session, nth) => board.giveBack(claimOn(session, nth)),
    slotAgain: (session) => board.slotAgain(claimOn(session), new AbortController().signal),
    putBack: async (session, nth, unfitMs) => void (await board.putBack(claimOn(session, nth), unfitMs)),
    rest: (session, nth) => board.rest(claimOn(session, nth)),
    finished: (session, nth) => board.finished(claimOn(session, nth)),
    holds: async () =>
      [...(await board.state()).sessions.values()].map(({ claim }) => claim.order.sessionId).toSorted(),
    post: (session) => board.post({ root, world: session, line: letterLine({ wait: true }), id: 'a letter' }),
  }
}
