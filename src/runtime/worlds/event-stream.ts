import type { RunnerEvent } from '../../engine/loop/events.ts'

/** Events that wait for a reader at most. */
const maxWaitingEvents = 10_000

export interface EventsSkipped {
  readonly type: 'events-skipped'
  readonly count: number
}

/** Events for one reader, from the moment it was made. It holds nothing up: a reader who is too slow loses the oldest. */
export class EventStream implements AsyncIterableIterator<RunnerEvent | EventsSkipped> {
  readonly #end: () => void
  #waiting: RunnerEvent[] = []
  #skipped = 0
  #isEnded = false
  #news = Promise.withResolvers<void>()

  /** @param listen begins to call a listener; returns a function that ends it */
  constructor(listen: (listener: (event: RunnerEvent) => void) => () => void) {
    this.#end = listen((event) => this.#write(event))
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  async next(): Promise<IteratorResult<RunnerEvent | EventsSkipped, undefined>> {
    for (;;) {
      if (this.#isEnded) return { done: true, value: undefined }
      if (this.#skipped > 0) {
        const count = this.#skipped
        this.#skipped = 0
        return { done: false, value: { type: 'events-skipped', count } }
      }
      const event = this.#waiting.shift()
      if (event !== undefined) return { done: false, value: event }
      await this.#news.promise
    }
  }

  async return(): Promise<IteratorResult<RunnerEvent | EventsSkipped, undefined>> {
    this.#isEnded = true
    this.#end()
    this.#wake()
    return { done: true, value: undefined }
  }

  #write(event: RunnerEvent): void {
    this.#waiting.push(event)
    if (this.#waiting.length > maxWaitingEvents) {
      this.#waiting.shift()
      this.#skipped++
    }
    this.#wake()
  }

  #wake(): void {
    this.#news.resolve()
    this.#news = Promise.withResolvers<void>()
  }
}
