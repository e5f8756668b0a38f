/** Work of a simulation that goes on in real time: handlers and scripts that have neither ended nor sleep. */
export class Underway {
  readonly #names = new Map<symbol, string>()

  /** Who is at work, such as `tool 'search' of team`. */
  get names(): readonly string[] {
    return [...this.#names.values()]
  }

  /** Does work under a name; sleeps on the simulation's clock do not count as work. */
  async doing<T>(name: string, work: (awake: Awake) => Promise<T>): Promise<T> {
    const id = Symbol(name)
    this.#names.set(id, name)
    try {
      return await work({
        sleeping: async (sleep) => {
          this.#names.delete(id)
          try {
            await sleep
          } finally {
            this.#names.set(id, name)
          }
        },
      })
    } finally {
      this.#names.delete(id)
    }
  }
}

/** Says of work that is under way that it sleeps, until a promise is settled. */
export interface Awake {
  readonly sleeping: (sleep: Promise<void>) => Promise<void>
}
