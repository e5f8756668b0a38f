import type { Clock } from './clock.ts'
import { type Timer, TimerHeap } from './timer-heap.ts'

export interface VirtualClockOptions {
  /** Unix time at the start. @default 0 */
  readonly dateMs?: number
  /** Jump to the next timer by itself whenever nothing is under way. @default true */
  readonly auto?: boolean
  /** Called when nothing is under way and there is no timer to jump to: of itself nothing will happen any more. */
  readonly whenQuiet?: () => void
  /**
   * Whether the timers of an instant go off together, as far as nothing that takes longer begins with one of them: a world
   * then takes in one tick what comes of them. @default each with all that follows from it, before the next one
   */
  readonly together?: () => boolean
}

/**
 * Time that passes only by jumps: from timer to timer as soon as all work waits for the clock, or by `advance`. Hours of
 * an agent's life take no longer than its work.
 */
export class VirtualClock implements Clock {
  readonly #dateMs: number
  readonly #auto: boolean
  readonly #whenQuiet: (() => void) | undefined
  readonly #together: () => boolean
  readonly #timers = new TimerHeap()
  #nowMs = 0
  #working = 0
  /** Worlds among those at work that are only about to tick. */
  #ticking = 0
  #considering = false

  constructor({ dateMs = 0, auto = true, whenQuiet, together = () => false }: VirtualClockOptions = {}) {
    this.#dateMs = dateMs
    this.#auto = auto
    this.#whenQuiet = whenQuiet
    this.#together = together
  }

  now(): number {
    return this.#nowMs
  }

  date(): number {
    return this.#dateMs + this.#nowMs
  }

  at(instantMs: number, fire: () => void): () => void {
    const cancel = this.#timers.add(instantMs, fire)
    this.#consider()
    return cancel
  }

  begin(what?: 'tick'): void {
    this.#working++
    if (what === 'tick') this.#ticking++
  }

  end(what?: 'tick'): void {
    this.#working--
    if (what === 'tick') this.#ticking--
    this.#consider()
  }

  /** Lets so much time pass, firing what comes due on the way, in order. */
  advance(durationMs: number): void {
    const endMs = this.#nowMs + durationMs
    const isDue = (): boolean => this.#timers.size > 0 && (this.#timers.next as Timer).instantMs <= endMs
    while (isDue()) this.#fire()
    this.#nowMs = endMs
  }

  /** Jumps once everything that can go on without time passing has gone on. */
  #consider(): void {
    const isOver = this.#timers.size === 0 && this.#whenQuiet === undefined
    if (!this.#auto || this.#considering || this.#working > 0 || isOver) return
    this.#considering = true
    setImmediate(() => {
      this.#considering = false
      if (this.#working > 0) return
      if (this.#timers.size === 0) return this.#whenQuiet?.()
      this.#fire()
      if (this.#isNow && this.#together()) this.#fireOthers()
      this.#consider()
    })
  }

  /** Fires the other timers of this instant, each when all that a timer has set off without waiting is over. */
  #fireOthers(): void {
    this.#considering = true
    const next = (): void => {
      if (this.#isNow && this.#working === this.#ticking) {
        this.#fire()
        queueMicrotask(afterMicrotasks)
      } else {
        this.#considering = false
        this.#consider()
      }
    }
    // From a microtask, nextTick comes once no microtask is left.
    const afterMicrotasks = (): void => process.nextTick(next)
    queueMicrotask(afterMicrotasks)
  }

  /** Is there a timer left of this instant? */
  get #isNow(): boolean {
    return this.#timers.size > 0 && (this.#timers.next as Timer).instantMs <= this.#nowMs
  }

  #fire(): void {
    const timer = this.#timers.take()
    if (timer === undefined) return
    this.#nowMs = Math.max(this.#nowMs, timer.instantMs)
    timer.fire()
  }
}
