import type { Clock } from './clock.ts'

interface Timer {
  readonly instantMs: number
  readonly sequence: number
  readonly fire: () => void
}

export interface VirtualClockOptions {
  /** Unix time at the start. @default 0 */
  readonly dateMs?: number
  /** Jump to the next timer by itself whenever nothing is under way. @default true */
  readonly auto?: boolean
}

/**
 * Time that passes only by jumps: from timer to timer as soon as all work waits for the clock, or by `advance`. Hours of
 * an agent's life take no longer than its work.
 */
export class VirtualClock implements Clock {
  readonly #dateMs: number
  readonly #auto: boolean
  readonly #timers = new Set<Timer>()
  #nowMs = 0
  #sequence = 0
  #working = 0
  #considering = false

  constructor({ dateMs = 0, auto = true }: VirtualClockOptions = {}) {
    this.#dateMs = dateMs
    this.#auto = auto
  }

  now(): number {
    return this.#nowMs
  }

  date(): number {
    return this.#dateMs + this.#nowMs
  }

  at(instantMs: number, fire: () => void): () => void {
    const timer = { instantMs, sequence: this.#sequence++, fire }
    this.#timers.add(timer)
    this.#consider()
    return () => {
      this.#timers.delete(timer)
    }
  }

  begin(): void {
    this.#working++
  }

  end(): void {
    this.#working--
    this.#consider()
  }

  /** Lets so much time pass, firing what comes due on the way, in order. */
  advance(durationMs: number): void {
    const endMs = this.#nowMs + durationMs
    for (let timer = this.#next(); timer !== undefined && timer.instantMs <= endMs; timer = this.#next())
      this.#fire(timer)
    this.#nowMs = endMs
  }

  /** Jumps once everything that can go on without time passing has gone on. */
  #consider(): void {
    if (!this.#auto || this.#considering || this.#working > 0 || this.#timers.size === 0) return
    this.#considering = true
    setImmediate(() => {
      this.#considering = false
      const timer = this.#next()
      if (this.#working > 0 || timer === undefined) return
      this.#fire(timer)
      this.#consider()
    })
  }

  #fire(timer: Timer): void {
    this.#timers.delete(timer)
    this.#nowMs = Math.max(this.#nowMs, timer.instantMs)
    timer.fire()
  }

  #next(): Timer | undefined {
    let first: Timer | undefined
    for (const timer of this.#timers) {
      if (first === undefined || timer.instantMs < first.instantMs) first = timer
    }
    return first
  }
}
