/** Who works, such as `tool 'search' of team`. */
export interface Worker {
  readonly name: string
}

/** Work of a simulation that goes on in real time: handlers and scripts that have neither ended nor sleep. */
export class Underway {
  readonly #awake = new Set<Worker>()

  /** Who is at work. */
  get names(): readonly string[] {
    return [...this.#awake].map(({ name }) => name)
  }

  /** Somebody begins, or wakes. */
  begin(worker: Worker): void {
    this.#awake.add(worker)
  }

  /** Somebody has ended, or sleeps on the simulation's clock, which does not count as work. */
  end(worker: Worker): void {
    this.#awake.delete(worker)
  }
}
