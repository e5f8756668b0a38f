import type { Clock } from '../engine/loop/clock.ts'
import type { VirtualClock } from '../engine/loop/virtual-clock.ts'

/** How long a process that can write nothing more goes on. */
export const maxDyingMs = 60_000

/** The simulation's clock for one process: after its death its timers do not fire, and its work is not awaited. */
export class ProcessClock implements Clock {
  readonly #shared: VirtualClock
  #working = 0
  #ticking = 0
  #isDead = false
  readonly #isOff = (): boolean => this.#isDead

  constructor(shared: VirtualClock) {
    this.#shared = shared
  }

  now(): number {
    return this.#shared.now()
  }

  date(): number {
    return this.#shared.date()
  }

  at(instantMs: number, fire: () => void): () => void {
    // What waits forever needs no timer: it is no reason to advance the clock.
    if (this.#isDead || instantMs === Infinity) return () => undefined
    return this.#shared.at(instantMs, fire, this.#isOff)
  }

  soon(tick: () => void): () => void {
    if (this.#isDead) return () => undefined
    return this.#shared.soon(() => {
      if (!this.#isDead) tick()
    })
  }

  begin(what?: 'tick'): void {
    if (this.#isDead) return
    if (what === 'tick') this.#ticking++
    else this.#working++
    this.#shared.begin(what)
  }

  end(what?: 'tick'): void {
    if (this.#isDead) return
    if (what === 'tick') this.#ticking--
    else this.#working--
    this.#shared.end(what)
  }

  die(): void {
    if (this.#isDead) return
    this.#isDead = true
    // A tick whose commit never finishes was already subtracted from the work.
    for (; this.#working < 0; this.#working++) this.#shared.begin()
    for (; this.#working > 0; this.#working--) this.#shared.end()
    for (; this.#ticking > 0; this.#ticking--) this.#shared.end('tick')
  }
}

/** `dying`: writes nothing more, but finishes the work it started. */
export type ProcessState = 'alive' | 'dying' | 'dead'

export function never<T>(): Promise<T> {
  return new Promise<T>(() => undefined)
}
