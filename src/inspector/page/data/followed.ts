import { effect, signal } from '@preact/signals'
import type { Problem } from '../../reading/wire.ts'
import { connection, problemOf, source, worlds } from './state.ts'

/** What a route says of how things are now: read again when worlds have moved. */
export class Followed<Reply> {
  readonly reply = signal<Reply | undefined>(undefined)
  readonly problem = signal<Problem | undefined>(undefined)
  /** When the reply came, by `performance.now()`. */
  readMs = 0
  readonly #route: string
  readonly #query: () => object | undefined
  readonly #pauseMs: number
  #timer: ReturnType<typeof setTimeout> | undefined
  #isReading = false
  #isStale = false

  /** @param query `undefined`: there is nothing to ask for. What it reads is followed as well */
  constructor(route: string, query: () => object | undefined, pauseMs: number) {
    this.#route = route
    this.#query = query
    this.#pauseMs = pauseMs
  }

  /** Returns a function that ends it. */
  follow(): () => void {
    const end = effect(() => {
      const isThere = source.value !== undefined && worlds.value.size > 0
      if (isThere && this.#query() !== undefined) this.soon(this.reply.peek() === undefined ? 0 : this.#pauseMs)
    })
    return () => {
      end()
      clearTimeout(this.#timer)
      this.#timer = undefined
    }
  }

  /** Reads, once for all who ask meanwhile. */
  soon(waitMs = 0): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined
      void this.#read()
    }, waitMs)
  }

  async #read(): Promise<void> {
    const query = this.#query()
    if (query === undefined) return
    this.#isStale = this.#isReading
    if (this.#isReading) return
    this.#isReading = true
    try {
      this.reply.value = await connection.get<Reply>(this.#route, query)
      this.readMs = performance.now()
      this.problem.value = undefined
    } catch (error) {
      this.problem.value = problemOf(error)
    } finally {
      this.#isReading = false
      if (this.#isStale) this.soon(this.#pauseMs)
      this.#isStale = false
    }
  }
}
