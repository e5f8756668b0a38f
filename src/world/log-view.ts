import { isIndex } from './canonical.ts'
import { itemsOf } from './read-only-log.ts'

/** Answers `view[7]`. At the end of the prototype chain, so that named members stay fast. */
const byIndex = new Proxy(
  {},
  {
    get(target, key, view: LogView<unknown>) {
      if (typeof key === 'string' && isIndex(key)) return view.at(Number(key))
      return Reflect.get(target, key, view) as unknown
    },
  },
)

/** A fixed window on a log, without later appends; O(1) to make. Reads like an array; `[...view]` copies. */
export class LogView<T> implements Iterable<T> {
  static {
    Object.setPrototypeOf(LogView.prototype, byIndex)
  }

  readonly [index: number]: T
  readonly #parts: readonly Part<T>[]
  readonly length: number

  private constructor(parts: readonly Part<T>[]) {
    this.#parts = parts
    this.length = parts.reduce((sum, part) => sum + part.to - part.from, 0)
    Object.freeze(this)
  }

  static of<T>(log: readonly T[], from = 0, to = Infinity): LogView<T> {
    const items = itemsOf(log)
    const start = Math.min(Math.max(0, from), items.length)
    return new LogView([{ items, from: start, to: Math.max(start, Math.min(to, items.length)) }])
  }

  concat(other: LogView<T> | readonly T[]): LogView<T> {
    const behind = other instanceof LogView ? other : LogView.of(other)
    return new LogView([...this.#parts, ...behind.#parts])
  }

  /** Negative indices count from the end. */
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

  find<U extends T>(test: (item: T, index: number) => item is U): U | undefined
  find(test: (item: T, index: number) => boolean): T | undefined
  find(test: (item: T, index: number) => boolean): T | undefined {
    let index = 0
    for (const item of this) if (test(item, index++)) return item
    return undefined
  }

  findLast<U extends T>(test: (item: T, index: number) => item is U): U | undefined
  findLast(test: (item: T, index: number) => boolean): T | undefined
  findLast(test: (item: T, index: number) => boolean): T | undefined {
    const index = this.findLastIndex(test)
    return index < 0 ? undefined : this.at(index)
  }

  /** -1 if none. */
  findLastIndex(test: (item: T, index: number) => boolean): number {
    for (let index = this.length - 1; index >= 0; index--) if (test(this.at(index) as T, index)) return index
    return -1
  }

  /** Like an array's, errors included. */
  reduce(combine: (sum: T, item: T, index: number) => T): T
  reduce<U>(combine: (sum: U, item: T, index: number) => U, first: U): U
  reduce(combine: (sum: T, item: T, index: number) => T, ...first: readonly T[]): T {
    const items = [...this]
    return first.length === 0 ? items.reduce(combine) : items.reduce(combine, first[0] as T)
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
