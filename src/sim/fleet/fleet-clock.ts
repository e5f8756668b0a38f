import type { Clock } from '../../engine/loop/clock.ts'
import type { VirtualClock } from '../../engine/loop/virtual-clock.ts'

export interface Skew {
  /** What its date is ahead of the others', in milliseconds. */
  readonly offsetMs: number
  /** Its milliseconds for each of the others'. */
  readonly rate: number
}

/**
 * The clock of one of several processes: it may be off, run at another rate, and stand still. The simulation's clock waits for
 * its ticks, except while they wait for the store; what else it waits for, it knows itself.
 */
export class FleetClock implements Clock {
  readonly #shared: VirtualClock
  readonly #skew: Skew
  #ticking = 0
  #state: 'dead' | 'paused' | 'running' = 'running'
  /** What has come due while it stood still. */
  readonly #held: (() => void)[] = []
  readonly #heldTicks: (() => void)[] = []
  #resumed: PromiseWithResolvers<void> | undefined
  readonly #isOff = (): boolean => this.#state === 'dead'

  constructor(shared: VirtualClock, skew: Skew) {
    this.#shared = shared
    this.#skew = skew
  }

  now(): number {
    return this.#shared.now() * this.#skew.rate
  }

  date(): number {
    return this.#shared.date() + this.#skew.offsetMs
  }

  at(instantMs: number, fire: () => void): () => void {
    if (this.#state === 'dead' || instantMs === Infinity) return () => undefined
    let isOff = false
    const unlessOff = (): void => {
      if (!isOff) fire()
    }
    // Rates make fractions; the simulation's instants are whole.
    const sharedMs = Math.ceil(instantMs / this.#skew.rate - 1e-6)
    const cancel = this.#shared.at(sharedMs, () => this.#run(unlessOff, this.#held), this.#isOff)
    return () => {
      isOff = true
      cancel()
    }
  }

  soon(tick: () => void): () => void {
    if (this.#state === 'dead') return () => undefined
    let isOff = false
    const unlessOff = (): void => {
      if (!isOff) tick()
    }
    const cancel = this.#shared.soon(() => this.#run(unlessOff, this.#heldTicks))
    return () => {
      isOff = true
      cancel()
    }
  }

  begin(what?: 'tick'): void {
    if (what !== 'tick' || this.#state === 'dead') return
    this.#ticking++
    if (this.#state === 'running') this.#shared.begin('tick')
  }

  end(what?: 'tick'): void {
    if (what !== 'tick' || this.#state === 'dead') return
    this.#ticking--
    if (this.#state === 'running') this.#shared.end('tick')
  }

  get isPaused(): boolean {
    return this.#state === 'paused'
  }

  /** Resolves once it does not stand still. */
  async awake(): Promise<void> {
    while (this.#state === 'paused') await this.#resumed?.promise
  }

  pause(): void {
    if (this.#state !== 'running') return
    this.#state = 'paused'
    this.#resumed = Promise.withResolvers()
    this.#count('end')
  }

  resume(): void {
    if (this.#state !== 'paused') return
    this.#state = 'running'
    this.#count('begin')
    // The clock waits for the ticks; then the timers fire, each with all that follows from it before the next.
    for (const tick of this.#heldTicks.splice(0)) this.#shared.soon(() => this.#run(tick, this.#heldTicks))
    for (const fire of this.#held.splice(0)) {
      this.#shared.at(this.#shared.now(), () => this.#run(fire, this.#held), this.#isOff)
    }
    this.#resumed?.resolve()
  }

  die(): void {
    if (this.#state === 'running') this.#count('end')
    this.#state = 'dead'
    for (const held of [this.#held, this.#heldTicks]) held.length = 0
  }

  /** @param held where it waits while the process stands still */
  #run(call: () => void, held: (() => void)[]): void {
    if (this.#state === 'running') call()
    else if (this.#state === 'paused') held.push(call)
  }

  #count(how: 'begin' | 'end'): void {
    for (let count = 0; count < this.#ticking; count++) this.#shared[how]('tick')
  }
}
