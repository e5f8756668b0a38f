import type { LogEdit } from './changes.ts'
import type { Component, Entity } from './component.ts'
import type { Json } from '../base/json.ts'
import type { Presence } from './wake-plan.ts'

/** What columns note of the step under way. */
export class Writes {
  /** What is overwritten is kept. */
  isOn = false
  /** The first entity of the step. An undo removes it and those after it whole. */
  newFrom = Infinity
  /** Counts all writes, kept or not. */
  revision = 0
  /** In order of their first write. */
  readonly columns: Column[] = []
}

/**
 * One component's values by row, from the first row that has it, so late columns stay short; and what the step under way has
 * overwritten of them. `World`, `Core` and `State` read its fields themselves: a call costs more than the read.
 */
export class Column {
  readonly token: Component
  /** A value or tag without `ref` and `refusal`: to write it is to replace it. */
  readonly isPlain: boolean
  /** Of row `firstRow` and those behind it. */
  values: (Json | undefined)[] = empty
  firstRow = 0
  /** Rows with a value. */
  count = 0
  /** The row of the only value, where it came first; otherwise -1. */
  only = -1
  /** Written in the current or last step. */
  isWritten = false
  /** The system that wrote it last in that step. */
  writer: string | undefined
  /** What that step has overwritten: usually of few entities. */
  overwritten: Before[] | undefined
  /** The same by entity, where it is many. */
  overwrittenOf: Map<Entity, Before> | undefined
  readonly #presence: Presence
  readonly #waking: number
  readonly #writes: Writes

  constructor(token: Component, presence: Presence, writes: Writes) {
    this.token = token
    this.#writes = writes
    this.isPlain = token.kind !== 'log' && (token.kind === 'tag' || (token.ref ?? token.refusal) === undefined)
    this.#presence = presence
    this.#waking = presence.indexOf(token)
  }

  get size(): number {
    return this.values.length
  }

  get(row: number): Json | undefined {
    const place = row - this.firstRow
    return place >= 0 && place < this.values.length ? this.values[place] : undefined
  }

  /** `isNew`: the row has no value yet. */
  put(row: number, value: Json, isNew: boolean): void {
    if (!isNew) this.values[row - this.firstRow] = value
    else if (this.count === 0) {
      this.firstRow = row
      // A literal: an empty array that is pushed to has room for 17.
      this.values = [value]
      this.count = 1
      this.only = row
      if (this.#waking >= 0) this.#presence.flip(this.#waking)
    } else {
      if (row < this.firstRow) this.#makeRoom(row)
      const place = row - this.firstRow
      while (this.values.length <= place) this.values.push(undefined)
      this.values[place] = value
      this.count++
      this.only = -1
    }
  }

  /** The row has a value. */
  drop(row: number): void {
    this.only = -1
    this.values[row - this.firstRow] = undefined
    if (--this.count > 0) return
    this.values = empty
    if (this.#waking >= 0) this.#presence.flip(this.#waking)
  }

  /** Rows with a value, ascending. */
  rows(): number[] {
    const found: number[] = []
    if (this.count === 0) return found
    for (let place = 0; place < this.values.length; place++) {
      if (this.values[place] !== undefined) found.push(place + this.firstRow)
    }
    return found
  }

  /** Reserves more than needed, so that descending rows do not move all values each time. */
  #makeRoom(row: number): void {
    const firstRow = Math.max(0, Math.min(row, this.firstRow - this.values.length))
    const places = Array.from({ length: this.firstRow - firstRow }, () => undefined)
    this.values = [...places, ...this.values]
    this.firstRow = firstRow
  }

  /** Call before each write, with the value before it: notes what an entity had before the step. */
  touch(entity: Entity, value: Json | undefined): Before | undefined {
    const writes = this.#writes
    writes.revision++
    if (!writes.isOn) return undefined
    if (!this.isWritten) {
      this.isWritten = true
      writes.columns.push(this)
    }
    if (entity >= writes.newFrom) return undefined
    if (this.overwrittenOf !== undefined) {
      const known = this.overwrittenOf.get(entity)
      if (known !== undefined) return known
    } else if (this.overwritten !== undefined) {
      for (const known of this.overwritten) if (known.entity === entity) return known
    }
    const isLog = value !== undefined && this.token.kind === 'log'
    const length = isLog ? (value as Json[]).length : 0
    const before: Before = { entity, value, length, edits: undefined, isTaken: false }
    if (this.overwritten === undefined) this.overwritten = [before]
    else this.overwritten.push(before)
    if (this.overwrittenOf !== undefined) this.overwrittenOf.set(entity, before)
    else if (this.overwritten.length > maxListed)
      this.overwrittenOf = new Map(this.overwritten.map((each) => [each.entity, each]))
    return before
  }
}

/** Shared; never written to. */
const empty: (Json | undefined)[] = []

/** Above this many entities a Map finds them. */
const maxListed = 8

/** An entity's value before the step, and how its log changed since. */
export interface Before {
  readonly entity: Entity
  readonly value: Json | undefined
  /** A log's array only grows, so the old items are still in it. */
  readonly length: number
  /** For a log changed before its end. */
  edits: LogEdit[] | undefined
  /** Removed; a present log is new. */
  isTaken: boolean
}

/** Notes an edit of a log, before it is made. */
export function noteEdit(before: Before, log: readonly Json[], edit: LogEdit): void {
  before.edits ??= log.length > before.length ? [[before.length, 0, log.slice(before.length)]] : []
  before.edits.push(edit)
}
