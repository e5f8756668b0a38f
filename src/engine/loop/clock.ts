import { FarAlarms, maxTimeoutMs } from './far-alarms.ts'

/** Time for a Runner: milliseconds, the date, and alarms. */
export interface Clock {
  /** Milliseconds since some fixed instant; never goes back. */
  now(): number
  /** Unix time in milliseconds. */
  date(): number
  /** Calls `fire` once `now()` has reached an instant, never synchronously. Returns a function that cancels it. */
  at(instantMs: number, fire: () => void): () => void
  /** Schedules a tick behind all work that does not wait; returns its cancel function. @default the next event loop turn */
  soon?(tick: () => void): () => void
  /** Work begins that this clock must not run ahead of; `tick`: a world is about to tick. Real time needs neither of the two. */
  begin?(what?: 'tick'): void
  /** Such work has ended, or waits for the clock. */
  end?(what?: 'tick'): void
}

/** Alarms at least this far off share a timer. */
const farMs = 10_000
/** By the timers of the machine, which tests may replace for a while. */
const farAlarms = new WeakMap<typeof setTimeout, FarAlarms>()

/** The time of the machine. */
export const realClock: Clock = {
  now: () => performance.now(),
  date: () => Date.now(),
  at: (instantMs, fire) => (instantMs - performance.now() >= farMs ? atFar(instantMs, fire) : atNear(instantMs, fire)),
}

function atNear(instantMs: number, fire: () => void): () => void {
  let timer: NodeJS.Timeout
  const wait = (): void => {
    const leftMs = Math.max(instantMs - performance.now(), 0)
    timer = setTimeout(check, Math.min(Math.ceil(leftMs), maxTimeoutMs))
  }
  // A timer may fire early, and a long wait takes several.
  const check = (): void => (performance.now() < instantMs ? wait() : fire())
  wait()
  return () => clearTimeout(timer)
}

function atFar(instantMs: number, fire: () => void): () => void {
  let alarms = farAlarms.get(setTimeout)
  if (alarms === undefined) farAlarms.set(setTimeout, (alarms = new FarAlarms(atNear)))
  return alarms.at(instantMs, fire)
}

/** Work that may sleep in several places at once. */
export interface Sleeper {
  /** It has ended: what sleeps is not woken any more. */
  readonly isOver: boolean
  readonly abortReason: DOMException | undefined
  /** Begins a sleep, which ends if the work is called off. */
  asleep(sleep: Sleep): void
  awake(sleep: Sleep): void
}

/** Sleeps on a clock. Rejects with the reason if the work is called off; never settles if the work ends before. */
export function sleep(clock: Clock, durationMs: number, sleeper: Sleeper): Promise<void> {
  return new Promise((resolve, reject) => {
    if (sleeper.abortReason !== undefined) return reject(sleeper.abortReason)
    if (sleeper.isOver) return
    const wait = new Sleep(sleeper, resolve, reject)
    wait.cancel = clock.at(clock.now() + durationMs, () => wait.end())
  })
}

/** One sleep. Ten thousand may sleep at once, so it is small. */
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

  end(): void {
    this.#sleeper.awake(this)
    this.#resolve()
  }

  breakOff(): void {
    this.cancel?.()
    this.#sleeper.awake(this)
    this.#reject(this.#sleeper.abortReason ?? new DOMException('Called off.', 'AbortError'))
  }
}
