import type { Component, Entity } from './component.ts'
import type { LogEdit } from './changes.ts'
import type { Json } from './json.ts'

/**
 * All values of one component, packed by the entities' private rows from the first that has it: effects come and go in
 * rows behind a crowd of agents, and their columns have no places for those.
 */
export class Column {
  readonly token: Component
  /** What entities had before the step under way, or the last one, first wrote here. */
  readonly touched = new Touched()
  #values: (Json | undefined)[] = []
  #firstRow = 0
  #count = 0

  constructor(token: Component) {
    this.token = token
  }

  /** How many rows it keeps room for. */
  get size(): number {
    return this.#values.length
  }

  /** How many rows have a value. */
  get count(): number {
    return this.#count
  }

  get(row: number): Json | undefined {
    return row < this.#firstRow ? undefined : this.#values[row - this.#firstRow]
  }

  set(row: number, value: Json | undefined): void {
    if (this.#values.length === 0) this.#firstRow = row
    else if (row < this.#firstRow) this.#makeRoom(row)
    const place = row - this.#firstRow
    while (this.#values.length <= place) this.#values.push(undefined)
    if (this.#values[place] !== undefined) this.#count--
    if (value !== undefined) this.#count++
    this.#values[place] = value
  }

  /** The rows that have a value, ascending. */
  rows(): number[] {
    const found: number[] = []
    if (this.#count === 0) return found
    for (let place = 0; place < this.#values.length; place++) {
      if (this.#values[place] !== undefined) found.push(place + this.#firstRow)
    }
    return found
  }

  /** More than is asked for, so that rows that come in descending order do not move everything each time. */
  #makeRoom(row: number): void {
    const firstRow = Math.max(0, Math.min(row, this.#firstRow - this.#values.length))
    const places = Array.from({ length: this.#firstRow - firstRow }, () => undefined)
    this.#values = [...places, ...this.#values]
    this.#firstRow = firstRow
  }
}

/** From here on entities are looked up by a Map instead of one after another. */
const maxListed = 8

/** What a step has written over in one column, by entity: a chain of it. Mostly it is very little, many times over. */
class Touched {
  first: Before | undefined
  /** Its column is among those that the step has written in. */
  isNoted = false
  /** Entities were first written over in ascending order: mostly it is one, or they were gone through so. */
  isAscending = true
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
      this.isAscending &&= before.entity > this.#last.entity
    }
    this.#last = before
    this.#count++
    if (this.#index !== undefined) this.#index.set(before.entity, before)
    else if (this.#count > maxListed) {
      this.#index = new Map()
      for (let each = this.first; each !== undefined; each = each.next) this.#index.set(each.entity, each)
    }
  }

  /** All of it, in the order in which it was first written over. */
  all(): Before[] {
    const found: Before[] = []
    for (let before = this.first; before !== undefined; before = before.next) found.push(before)
    return found
  }

  /** Puts the chain in order: entities ascending. */
  sort(): void {
    if (this.isAscending) return
    const [first, ...others] = this.all().sort((a, b) => a.entity - b.entity)
    this.first = this.#last = first
    for (const before of others) {
      ;(this.#last as Before).next = before
      this.#last = before
    }
    if (this.#last !== undefined) this.#last.next = undefined
    this.isAscending = true
  }

  clear(): void {
    this.first = undefined
    this.isNoted = false
    this.isAscending = true
    this.#last = undefined
    this.#count = 0
    this.#index = undefined
  }
}

/** What one entity had of one component before the step, and how its log has changed since. */
export class Before {
  readonly entity: Entity
  readonly value: Json | undefined
  /** Of a log: how long it was. Its array only grows, so the old items stand in it still. */
  readonly length: number
  /** Of a log that changed elsewhere than at its end. */
  edits: LogEdit[] | undefined
  /** Of a log that was removed; if it is there again, it is another one. */
  isTaken = false
  /** What was written over next in the same column. */
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

  taken(): void {
    this.isTaken = true
  }
}
