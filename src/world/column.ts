import type { Component, Entity } from './component.ts'
import type { LogEdit } from './changes.ts'
import type { Json } from './json.ts'

/** All values of one component, packed by the entities' private rows. */
export interface Column {
  readonly token: Component
  readonly values: (Json | undefined)[]
  /** What entities had before the step under way first wrote here. */
  readonly touched: Map<Entity, Before>
}

/** What one entity had of one component before the step, and how its log has changed since. */
export class Before {
  readonly value: Json | undefined
  /** Of a log: how long it was. Its array only grows, so the old items stand in it still. */
  readonly length: number
  /** Of a log that changed elsewhere than at its end. */
  edits: LogEdit[] | undefined

  constructor(value: Json | undefined, length: number) {
    this.value = value
    this.length = length
  }

  /** Of a log that was removed; if it is there again, it is another one. */
  isTaken = false

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
