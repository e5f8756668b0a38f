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

/** Work that may wait for a clock. */
export interface Sleeper {
  /** Why it was called off, if it was. */
  readonly abortReason: DOMException | undefined
  /** Calls this when it is called off. Gives a function that ends that. */
  whenAborted(call: () => void): () => void
  begin(): void
  end(): void
}

/** Waits so long on a clock. Rejects with the reason when the work is called off. */
export function sleep(clock: Clock, durationMs: number, sleeper: Sleeper): Promise<void> {
  return new Promise((resolve, reject) => {
    const refuse = (): void => reject(sleeper.abortReason ?? new DOMException('Called off.', 'AbortError'))
    if (sleeper.abortReason !== undefined) return refuse()
    sleeper.end()
    const wake = (settle: () => void): void => {
      cancel()
      forget()
      sleeper.begin()
      settle()
    }
    const cancel = clock.at(clock.now() + durationMs, () => wake(resolve))
    const forget = sleeper.whenAborted(() => wake(refuse))
  })
}
