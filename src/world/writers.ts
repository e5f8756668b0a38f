import type { Component } from './component.ts'

/** Which system has written each component last, in the order in which components were first written. */
export class Writers {
  readonly #written: Component[] = []
  /** By the components' indices. */
  readonly #systems: (string | undefined)[] = []

  note(token: Component, system: string): void {
    const { index } = token
    if (this.#systems[index] === undefined) this.#written.push(token)
    this.#systems[index] = system
  }

  /** For the next tick. */
  clear(): void {
    for (let token = this.#written.pop(); token !== undefined; token = this.#written.pop())
      this.#systems[token.index] = undefined
  }

  /** Component → system. */
  record(): Readonly<Record<string, string>> {
    return Object.fromEntries(this.#written.map(({ index, name }) => [name, this.#systems[index] as string]))
  }
}
