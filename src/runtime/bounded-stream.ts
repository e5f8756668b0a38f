/** Things for one reader, in order. It never holds up the writer, and what waits in it is bounded: the oldest are skipped. */
export abstract class BoundedStream<T> implements AsyncIterableIterator<T> {
  protected waiting: T[] = []
  #skipped = 0
  #isEnded = false
  #error: Error | undefined
  #ended: (() => void) | undefined
  #news = Promise.withResolvers<void>()

  /** Does more wait than may? */
  protected abstract isTooFull(): boolean

  /** Says how many were skipped. */
  protected abstract skippedNote(count: number): T

  /** One left the queue. @param isRead the reader got it; otherwise it was skipped */
  protected left(_item: T, _isRead: boolean): void {}

  get isEnded(): boolean {
    return this.#isEnded
  }

  /** Calls a function once all is written, or the reader reads no more. */
  onEnd(ended: () => void): void {
    this.#ended = ended
  }

  /** Ends the stream behind what waits. */
  end(): void {
    if (this.#isEnded) return
    this.#isEnded = true
    this.wake()
    this.#ended?.()
  }

  /** Ends the stream with an error, behind what waits. */
  fail(error: Error): void {
    if (this.#isEnded) return
    this.#error = error
    this.end()
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  async next(): Promise<IteratorResult<T, undefined>> {
    for (;;) {
      const item = this.#take()
      if (item !== undefined) return { done: false, value: item }
      if (this.#error !== undefined) {
        const error = this.#error
        this.#error = undefined
        throw error
      }
      if (this.#isEnded) return { done: true, value: undefined }
      await this.#news.promise
    }
  }

  async return(): Promise<IteratorResult<T, undefined>> {
    this.waiting = []
    this.#skipped = 0
    this.#error = undefined
    this.end()
    return { done: true, value: undefined }
  }

  /** Puts one at the end of the queue, and skips the oldest where that is too much. */
  protected add(item: T): void {
    this.waiting.push(item)
    while (this.isTooFull()) {
      this.left(this.waiting.shift() as T, false)
      this.#skipped++
    }
  }

  /** Wakes the reader, if it waits. */
  protected wake(): void {
    this.#news.resolve()
    this.#news = Promise.withResolvers<void>()
  }

  #take(): T | undefined {
    if (this.#skipped > 0) {
      const count = this.#skipped
      this.#skipped = 0
      return this.skippedNote(count)
    }
    const item = this.waiting.shift()
    if (item !== undefined) this.left(item, true)
    return item
  }
}
