import type { Component } from './component.ts'

/** Which system has written each component last, in the order in which components were first written. */
export class Writers {
  readonly #written: Component[] = []
  /** By the components' indices. */
  readonly #systems: string[] = []

  note(token: Component, system: string): void {
    const { index } = token
    while (this.#systems.length <= index) this.#systems.push('')
    if (this.#systems[index] === '') this.#written.push(token)
    this.#systems[index] = system
  }

  /** For the next tick. */
  clear(): void {
    for (const { index } of this.#written) this.#systems[index] = ''
    this.#written.length = 0
  }

  /** Component → system. */
  record(): Readonly<Record<string, string>> {
    return Object.fromEntries(this.#written.map(({ index, name }) => [name, this.#systems[index] as string]))
  }
}
