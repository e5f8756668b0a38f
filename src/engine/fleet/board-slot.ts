import type { Slot } from '../children/pool.ts'
import { untilAborted } from '../../base/until-aborted.ts'
import type { Board, Claim } from './board.ts'

/** The slot of a session that this worker holds: unless it only waits, it had one when it came. */
export class BoardSlot implements Slot {
  readonly #board: Board
  readonly #claim: Claim
  readonly #signal: AbortSignal
  #hasSlot: boolean
  #entering: Promise<boolean> | undefined
  #leaving: Promise<void> | undefined

  constructor(board: Board, claim: Claim, signal: AbortSignal) {
    this.#board = board
    this.#claim = claim
    this.#signal = signal
    this.#hasSlot = claim.isWaiting !== true
  }

  get isHeld(): boolean {
    return this.#hasSlot
  }

  enter(): Promise<boolean> {
    if (this.#hasSlot) return Promise.resolve(true)
    return (this.#entering ??= this.#enter())
  }

  leave(): void {
    if (!this.#hasSlot) return
    this.#hasSlot = false
    // What fails here is found by the next look at the board: the session's holder has it.
    this.#leaving = this.#board.giveBack(this.#claim).catch(() => undefined)
  }

  async #enter(): Promise<boolean> {
    try {
      await this.#leaving
      this.#hasSlot = await this.#board.slotAgain(this.#claim, this.#signal)
      // It was taken from this worker, which lets go of it at its next look: it does not go on here.
      if (!this.#hasSlot) await untilAborted(new Promise(() => undefined), this.#signal)
      return this.#hasSlot
    } finally {
      this.#entering = undefined
    }
  }
}
