import type { Component, Entity } from './component.ts'
import type { LogEdit } from './changes.ts'
import type { Json } from './json.ts'

/** One component's values by row, from the first row that has it, so late columns stay short. */
export class Column {
  readonly token: Component
  /** Overwritten in the current or last step. */
  touched: Touched | undefined
  writer: string | undefined
  #values: (Json | undefined)[] = empty
  #firstRow = 0
  #count = 0

  constructor(token: Component) {
    this.token = token
  }

  get size(): number {
    return this.#values.length
  }

  get count(): number {
    return this.#count
  }

  get(row: number): Json | undefined {
    return row < this.#firstRow ? undefined : this.#values[row - this.#firstRow]
  }

  set(row: number, value: Json | undefined): void {
    if (this.#count === 0) return this.#setFirst(row, value)
    if (row < this.#firstRow) this.#makeRoom(row)
    const place = row - this.#firstRow
    while (this.#values.length <= place) this.#values.push(undefined)
    if (this.#values[place] !== undefined) this.#count--
    if (value !== undefined) this.#count++
    this.#values[place] = value
    if (this.#count === 0) this.#values = empty
  }

  /** Uses a literal: an empty array that is pushed to has room for 17. */
  #setFirst(row: number, value: Json | undefined): void {
    if (value === undefined) return
    this.#firstRow = row
    this.#values = [value]
    this.#count = 1
  }

  /** Rows with a value, ascending. */
  rows(): number[] {
    const found: number[] = []
    if (this.#count === 0) return found
    for (let place = 0; place < this.#values.length; place++) {
      if (this.#values[place] !== undefined) found.push(place + this.#firstRow)
    }
    return found
  }

  /** Reserves more than needed, so that descending rows do not move all values each time. */
  #makeRoom(row: number): void {
    const firstRow = Math.max(0, Math.min(row, this.#firstRow - this.#values.length))
    const places = Array.from({ length: this.#firstRow - firstRow }, () => undefined)
    this.#values = [...places, ...this.#values]
    this.#firstRow = firstRow
  }
}

/** Shared; never written to. */
const empty: (Json | undefined)[] = []

/** Above this many entities a Map finds them. */
const maxListed = 8

/** Overwritten values of one column, as a linked list: usually few entities. */
export class Touched {
  first: Before | undefined
  #isAscending = true
  #last: Before | undefined
  #count = 0
  #index: Map<Entity, Before> | undefined

  get(entity: Entity): Before | undefined {
    if (this.#index !== undefined) return this.#index.get(entity)
    for (let before = this.first; before !== undefined; before = before.next) {
      if (before.entity === entity) return before
    }
    return undefined
  }

  add(before: Before): void {
    if (this.#last === undefined) this.first = before
    else {
      this.#last.next = before
      this.#isAscending &&= before.entity > this.#last.entity
    }
    this.#last = before
    this.#count++
    if (this.#index !== undefined) this.#index.set(before.entity, before)
    else if (this.#count > maxListed) this.#index = new Map(this.all().map((each) => [each.entity, each]))
  }

  all(): Before[] {
    const found: Before[] = []
    for (let before = this.first; before !== undefined; before = before.next) found.push(before)
    return found
  }

  sort(): void {
    if (this.#isAscending) return
    const [first, ...others] = this.all().sort((a, b) => a.entity - b.entity)
    this.first = this.#last = first
    for (const before of others) {
      ;(this.#last as Before).next = before
      this.#last = before
    }
    if (this.#last !== undefined) this.#last.next = undefined
    this.#isAscending = true
  }
}

/** An entity's value before the step, and how its log changed since. */
export class Before {
  readonly entity: Entity
  readonly value: Json | undefined
  /** A log's array only grows, so the old items are still in it. */
  readonly length: number
  /** For a log changed before its end. */
  edits: LogEdit[] | undefined
  /** Removed; a present log is new. */
  isTaken = false
  next: Before | undefined

  constructor(entity: Entity, value: Json | undefined, length: number) {
    this.entity = entity
    this.value = value
    this.length = length
  }

  appended(at: number, items: readonly Json[]): void {
    this.edits?.push([at, 0, items])
  }

  edited(log: readonly Json[], edit: LogEdit): void {
    if (this.edits === undefined) {
      this.edits = log.length > this.length ? [[this.length, 0, log.slice(this.length)]] : []
    }
    this.edits.push(edit)
  }
}
