import type { Board, Claim } from '../../engine/fleet/board.ts'
import type { Clock } from '../../engine/loop/clock.ts'

/** How a worker reaches the board. */
export interface Reach {
  readonly call: <T>(what: BoardCall, act: () => Promise<T>) => Promise<T>
  /** Calls a listener when there may be something in line. */
  readonly hear: (hear: () => void) => () => void
  /** Calls a listener when a worker has come, or a pause begins. */
  readonly hearState: (hear: () => void) => () => void
  /** For what is not heard. Absent: all is. */
  readonly clock?: Clock
}
export type BoardCall = Exclude<keyof Board, 'onState' | 'onWork' | 'slotAgain'> | 'wantSlot' | 'hasSlot'

/** How often a session that waits for its slot again looks where nothing is heard. */
const slotLookMs = 500

/** What a worker does with the sessions that it was given. */
export type Line = Pick<Board, 'finished' | 'giveBack' | 'next' | 'putBack' | 'rest'> & {
  readonly wantSlot: (claim: Claim) => Promise<void>
  /** `undefined`: this worker does not have it any more. */
  readonly hasSlot: (claim: Claim) => Promise<boolean | undefined>
}

/** Asks for a slot, and then whether it is there, until it is. */
export async function slotAgain(line: Line, reach: Reach, claim: Claim, signal: AbortSignal): Promise<boolean> {
  const { call, clock, hear } = reach
  let news = Promise.withResolvers<void>()
  const wake = (): void => news.resolve()
  const deaf = hear(wake)
  signal.addEventListener('abort', wake)
  try {
    await call('wantSlot', () => line.wantSlot(claim))
    for (;;) {
      if (signal.aborted) return false
      news = Promise.withResolvers()
      const hasSlot = await call('hasSlot', () => line.hasSlot(claim))
      if (hasSlot !== false) return hasSlot === true
      if (signal.aborted) return false
      const cancel = clock?.at(clock.now() + slotLookMs, wake)
      await news.promise
      cancel?.()
    }
  } finally {
    signal.removeEventListener('abort', wake)
    deaf()
  }
}
