/** Does one thing after the other: each begins once the one before it has ended, even if that has failed. */
export class Serial {
  #last: Promise<unknown> = Promise.resolve()

  /** Resolves as the work does. */
  run<T>(work: () => T | Promise<T>): Promise<T> {
    const done = this.#last.then(work)
    this.#last = done.catch(() => undefined)
    return done
  }

  /** Resolves once all that was asked for so far has ended. */
  async settled(): Promise<void> {
    await this.#last
  }
}

/** The same for each key by itself, such as a path. It keeps nothing of a key that has no work. */
export class SerialByKey {
  readonly #last = new Map<string, Promise<unknown>>()

  /** Resolves as the work does. */
  run<T>(key: string, work: () => T | Promise<T>): Promise<T> {
    const done = (this.#last.get(key) ?? Promise.resolve()).then(work)
    const forget = (): void => {
      if (this.#last.get(key) === last) this.#last.delete(key)
    }
    const last: Promise<void> = done.then(forget, forget)
    this.#last.set(key, last)
    return done
  }

  /** Resolves once all that was asked for so far has ended. */
  async settled(): Promise<void> {
    await Promise.all(this.#last.values())
  }
}
