/** A world to be given free. */
export interface Parked {
  readonly id: number
  readonly epoch: number
  /** By Postgres's clock. */
  readonly wakeAtMs: number | undefined
}

/** Gives those worlds free together that are closed while the last ones are being given free. */
export class Parking {
  readonly #park: (worlds: readonly Parked[]) => Promise<void>
  #waiting: Parked[] = []
  #next: Promise<void> | undefined
  #running: Promise<unknown> = Promise.resolve()

  constructor(park: (worlds: readonly Parked[]) => Promise<void>) {
    this.#park = park
  }

  add(world: Parked): Promise<void> {
    this.#waiting.push(world)
    this.#next ??= this.#running.then(() => {
      const worlds = this.#waiting
      this.#waiting = []
      this.#next = undefined
      const done = this.#park(worlds)
      this.#running = done.catch(() => undefined)
      return done
    })
    return this.#next
  }
}
