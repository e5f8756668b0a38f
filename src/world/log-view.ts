/**
 * A window on a log as it was when the window was made: later appends do not show in it, and making one costs the same
 * for 10 and for 10,000 items. Reads like an array; `[...view]` copies it into one.
 */
export class LogView<T> implements Iterable<T> {
  readonly #parts: readonly Part<T>[]
  readonly length: number

  private constructor(parts: readonly Part<T>[]) {
    this.#parts = parts
    this.length = parts.reduce((sum, part) => sum + part.to - part.from, 0)
  }

  /** The items of an append-only array from index `from` up to, not including, `to`. */
  static of<T>(items: readonly T[], from = 0, to = items.length): LogView<T> {
    const start = Math.min(Math.max(0, from), items.length)
    return new LogView([{ items, from: start, to: Math.max(start, Math.min(to, items.length)) }])
  }

  /** This view and, behind it, the items of another. */
  concat(other: LogView<T> | readonly T[]): LogView<T> {
    const behind = other instanceof LogView ? other.#parts : [{ items: other, from: 0, to: other.length }]
    return new LogView([...this.#parts, ...behind])
  }

  /** The item at an index; negative indices count from the end. */
  at(index: number): T | undefined {
    let rest = index < 0 ? index + this.length : index
    if (rest < 0) return undefined
    for (const { items, from, to } of this.#parts) {
      if (rest < to - from) return items[from + rest]
      rest -= to - from
    }
    return undefined
  }

  *[Symbol.iterator](): Iterator<T> {
    for (const { items, from, to } of this.#parts) {
      for (let index = from; index < to; index++) yield items[index] as T
    }
  }

  slice(start?: number, end?: number): T[] {
    const from = clamp(start ?? 0, this.length)
    const to = clamp(end ?? this.length, this.length)
    const result: T[] = []
    for (let index = from; index < to; index++) result.push(this.at(index) as T)
    return result
  }

  filter(test: (item: T, index: number) => boolean): T[] {
    return [...this].filter(test)
  }

  map<U>(make: (item: T, index: number) => U): U[] {
    return [...this].map(make)
  }

  some(test: (item: T, index: number) => boolean): boolean {
    let index = 0
    for (const item of this) if (test(item, index++)) return true
    return false
  }

  findLast(test: (item: T) => boolean): T | undefined {
    for (let index = this.length - 1; index >= 0; index--) {
      const item = this.at(index) as T
      if (test(item)) return item
    }
    return undefined
  }

  toJSON(): T[] {
    return [...this]
  }
}

interface Part<T> {
  readonly items: readonly T[]
  readonly from: number
  readonly to: number
}

function clamp(index: number, length: number): number {
  return Math.min(length, Math.max(0, index < 0 ? index + length : index))
}
