import {
  addComponent,
  addEntity,
  commitRemovals,
  createEntityIndex,
  createWorld,
  Not,
  registerQuery,
  removeComponent,
  removeEntity,
} from 'bitecs'
import type { Component } from './component.ts'

/** Compiled query terms, shared by all worlds of the process. */
export interface Shape {
  readonly wanted: readonly Component[]
  readonly unwanted: readonly Component[]
}

type Query = ReturnType<typeof registerQuery>

/** Cached bitECS queries over rows. Made with the first kept query; follows only components that such queries name. */
export class Membership {
  readonly #index = createEntityIndex({ versioning: false, versionBits: 1 })
  readonly #bits = createWorld(this.#index)
  readonly #queries = new Map<Shape, Query>()
  readonly #followed = new Set<Component>()
  readonly #rowsWith: (token: Component) => readonly number[]

  constructor(rows: Iterable<number>, rowsWith: (token: Component) => readonly number[]) {
    this.#rowsWith = rowsWith
    for (const row of rows) this.add(row)
  }

  add(row: number): void {
    // bitECS takes ids from the end of its dense list before it makes new ones: so its ids are the rows.
    this.#index.dense.push(row)
    addEntity(this.#bits)
  }

  remove(row: number): void {
    removeEntity(this.#bits, row)
    // bitECS keeps the dead id at the end of its dense list and would reuse it at once.
    while (this.#index.dense.length > this.#index.aliveCount) this.#index.dense.pop()
  }

  attach(row: number, token: Component): void {
    if (this.#followed.has(token)) addComponent(this.#bits, row, token)
  }

  detach(row: number, token: Component): void {
    if (this.#followed.has(token)) removeComponent(this.#bits, row, token)
  }

  /** In no order; valid until the next change. */
  rows(shape: Shape): readonly number[] {
    let query = this.#queries.get(shape)
    if (query === undefined) this.#queries.set(shape, (query = this.#register(shape)))
    commitRemovals(this.#bits)
    return query.dense as readonly number[]
  }

  #register({ wanted, unwanted }: Shape): Query {
    for (const token of [...wanted, ...unwanted]) {
      if (this.#followed.has(token)) continue
      this.#followed.add(token)
      for (const row of this.#rowsWith(token)) addComponent(this.#bits, row, token)
    }
    return registerQuery(this.#bits, unwanted.length === 0 ? [...wanted] : [...wanted, Not(...unwanted)])
  }
}
