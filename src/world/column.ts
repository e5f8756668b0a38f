import type { Component, Entity } from './component.ts'
import type { LogEdit } from './changes.ts'
import type { Json } from './json.ts'

/** All values of one component, packed by the entities' private rows. */
export interface Column {
  readonly token: Component
  readonly values: (Json | undefined)[]
  /** What entities had before the step under way, or the last one, first wrote here. */
  readonly touched: Touched
}

/** From here on entities are looked up by a Map instead of one after another. */
const maxListed = 8

/** What a step has written over in one column, by entity. Mostly it is very little, many times over. */
export class Touched {
  readonly #entities: Entity[] = []
  readonly #befores: Before[] = []
  #index: Map<Entity, number> | undefined

  get(entity: Entity): Before | undefined {
    const at = this.#index === undefined ? this.#entities.indexOf(entity) : (this.#index.get(entity) ?? -1)
    return this.#befores[at]
  }

  add(entity: Entity, before: Before): void {
    this.#entities.push(entity)
    this.#befores.push(before)
    if (this.#index !== undefined) this.#index.set(entity, this.#entities.length - 1)
    else if (this.#entities.length > maxListed) this.#index = new Map(this.#entities.map((known, at) => [known, at]))
  }

  /** In the order in which they were first written. */
  get entities(): readonly Entity[] {
    return this.#entities
  }

  clear(): void {
    this.#entities.length = 0
    this.#befores.length = 0
    this.#index = undefined
  }
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
