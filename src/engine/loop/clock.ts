/** Where a Runner has its time from. */
export interface Clock {
  /** Milliseconds since some fixed instant; never goes back. */
  now(): number
  /** Unix time in milliseconds. */
  date(): number
  /** Calls `fire` once `now()` has reached an instant, never at once. Gives a function that calls it off. */
  at(instantMs: number, fire: () => void): () => void
  /**
   * Has a world tick once all is there that comes without waiting. Gives a function that calls it off.
   *
   * @default at the next turn of the event loop
   */
  soon?(tick: () => void): () => void
  /**
   * Work begins that this clock must not run ahead of; `tick`: a world is about to take in what has arrived. A clock that
   * keeps real time needs neither of the two.
   */
  begin?(what?: 'tick'): void
  /** Such work has ended, or waits for this clock. */
  end?(what?: 'tick'): void
}

/** setTimeout takes no longer wait than this. */
const maxTimeoutMs = 2 ** 31 - 1

/** Real time. */
export const realClock: Clock = {
  now: () => performance.now(),
  date: () => Date.now(),
  at(instantMs, fire) {
    let timer: NodeJS.Timeout
    const wait = (): void => {
      const leftMs = Math.max(instantMs - performance.now(), 0)
      timer = setTimeout(check, Math.min(Math.ceil(leftMs), maxTimeoutMs))
    }
    // A timer may fire a little early, and one that was too long for setTimeout is not over yet.
    const check = (): void => (performance.now() < instantMs ? wait() : fire())
    wait()
    return () => clearTimeout(timer)
  },
}

/** Work that may wait for a clock, in several places at once. */
export interface Sleeper {
  /** Why it was called off, if it was. */
  readonly abortReason: DOMException | undefined
  /** From here on it sleeps as well: if it is called off, the sleep is to end. */
  asleep(sleep: Sleep): void
  /** That sleep is over. */
  awake(sleep: Sleep): void
}

/** Waits so long on a clock. Rejects with the reason when the work is called off. */
export function sleep(clock: Clock, durationMs: number, sleeper: Sleeper): Promise<void> {
  return new Promise((resolve, reject) => {
    if (sleeper.abortReason !== undefined) return reject(sleeper.abortReason)
    const wait = new Sleep(sleeper, resolve, reject)
    wait.cancel = clock.at(clock.now() + durationMs, () => wait.end())
  })
}

/** One wait of some work for a clock. Ten thousand may wait at once, so that little is kept of each. */
export class Sleep {
  cancel: (() => void) | undefined
  readonly #sleeper: Sleeper
  readonly #resolve: () => void
  readonly #reject: (reason: DOMException) => void

  constructor(sleeper: Sleeper, resolve: () => void, reject: (reason: DOMException) => void) {
    this.#sleeper = sleeper
    this.#resolve = resolve
    this.#reject = reject
    sleeper.asleep(this)
  }

  /** Its time has come. */
  end(): void {
    this.#sleeper.awake(this)
    this.#resolve()
  }

  /** The work was called off. */
  breakOff(): void {
    this.cancel?.()
    this.#sleeper.awake(this)
    this.#reject(this.#sleeper.abortReason ?? new DOMException('Called off.', 'AbortError'))
  }
}
