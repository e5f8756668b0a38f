export interface Timer {
  readonly instantMs: number
  readonly fire: () => void
  /** Asked at that instant: skip it. */
  readonly isOff: (() => boolean) | undefined
}

interface Placed extends Timer {
  readonly sequence: number
  /** Its index in the heap; -1 once it was removed. */
  place: number
}

export class TimerHeap {
  readonly #heap: Placed[] = []
  #sequence = 0

  get size(): number {
    return this.#heap.length
  }

  /** The earliest; of one instant, the one added first. */
  get next(): Timer | undefined {
    return this.#heap[0]
  }

  /** Returns a function that removes it; idempotent. */
  add(instantMs: number, fire: () => void, isOff?: () => boolean): () => void {
    const timer = { instantMs, fire, isOff, sequence: this.#sequence++, place: this.#heap.length }
    this.#heap.push(timer)
    this.#rise(timer)
    return () => this.#remove(timer)
  }

  take(): Timer | undefined {
    const [first] = this.#heap
    if (first !== undefined) this.#remove(first)
    return first
  }

  #remove(timer: Placed): void {
    const { place } = timer
    if (place === -1) return
    timer.place = -1
    const last = this.#heap.pop() as Placed
    if (last === timer) return
    this.#put(last, place)
    this.#rise(last)
    this.#sink(last)
  }

  #rise(timer: Placed): void {
    while (timer.place > 0) {
      const above = this.#heap[(timer.place - 1) >> 1] as Placed
      if (!isBefore(timer, above)) return
      this.#swap(timer, above)
    }
  }

  #sink(timer: Placed): void {
    for (;;) {
      const left = this.#heap[2 * timer.place + 1]
      const right = this.#heap[2 * timer.place + 2]
      const below = left !== undefined && right !== undefined && isBefore(right, left) ? right : left
      if (below === undefined || !isBefore(below, timer)) return
      this.#swap(timer, below)
    }
  }

  #swap(one: Placed, other: Placed): void {
    const { place } = one
    this.#put(one, other.place)
    this.#put(other, place)
  }

  #put(timer: Placed, place: number): void {
    this.#heap[place] = timer
    timer.place = place
  }
}

function isBefore(one: Placed, other: Placed): boolean {
  return one.instantMs < other.instantMs || (one.instantMs === other.instantMs && one.sequence < other.sequence)
}
