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
import type { Column } from './column.ts'
import type { Component, Entity } from './component.ts'
import { EntiaError } from './entia-error.ts'
import { shortly } from './known-options.ts'

/** By the components' indices. */
const inverses: (NotTerm | undefined)[] = []

/** Leaves a component out of a query: `world.query(Llm, not(Paused))`. */
export function not(token: Component): NotTerm {
  if (typeof token !== 'function') throw noTerm(token)
  const { index } = token
  while (inverses.length <= index) inverses.push(undefined)
  return (inverses[index] ??= { kind: 'not', not: token })
}

function noTerm(given: unknown): EntiaError {
  const what = `A query takes components, and not(component), got ${shortly(given)}`
  return new EntiaError('invalid-argument', `${what}. Look at the import.`)
}

export interface NotTerm {
  readonly kind: 'not'
  readonly not: Component
}

export type QueryTerm = Component | NotTerm

type Query = ReturnType<typeof registerQuery>

/** What a list of terms asks for. There is one a list, for all worlds: they are many, and ask for the same. */
interface Shape {
  readonly wanted: readonly Component[]
  readonly unwanted: readonly Component[]
}

/** Shapes by their terms, one level a term. */
interface Known {
  shape: Shape | undefined
  /** Twice the index of a component, and one more for its `not`. */
  readonly next: (Known | undefined)[]
}

const shapes: Known = { shape: undefined, next: [] }

function shapeOf(terms: readonly QueryTerm[]): Shape {
  let known = shapes
  for (const term of terms) {
    const place = term.kind === 'not' ? 2 * term.not.index + 1 : 2 * term.index
    while (known.next.length <= place) known.next.push(undefined)
    known = known.next[place] ??= { shape: undefined, next: [] }
  }
  return (known.shape ??= newShape(terms))
}

function newShape(terms: readonly QueryTerm[]): Shape {
  const wanted = terms.filter((term) => term.kind !== 'not')
  const unwanted = terms.filter((term) => term.kind === 'not').map((term) => term.not)
  if (wanted.length > 0) return { wanted, unwanted }
  throw new EntiaError('invalid-argument', 'A query needs at least one component besides not(…).')
}

/** What was found last, after which change. */
interface Found {
  readonly revision: number
  readonly count: number
  readonly entities: readonly Entity[]
}

const none: readonly Entity[] = Object.freeze([])
/** Bounds of how many dead private ids rest before one is used again. */
const minResting = 16
const maxResting = 4_096
/** In a world with so few rows, a query looks at them: one that bitECS keeps weighs more than all else there. */
const maxSearched = 32
/** How many times as many as are wanted are looked at between two merges. */
const chunkOf = 8

/**
 * Who is in a world and which components each has. bitECS does the bitmasks and the cached queries; its own ids stay
 * private, since it reuses them at once.
 */
export class Entities {
  readonly #index = createEntityIndex({ versioning: false, versionBits: 1 })
  readonly #bits = createWorld(this.#index)
  readonly #rowOf = new Map<Entity, number>()
  readonly #entityOf: Entity[] = [0]
  readonly #queries = new Map<Shape, Query>()
  readonly #queried = new Set<Component>()
  readonly #column: (token: Component) => Column | undefined
  readonly #firsts = new Map<Shape, Found>()
  /** Another number after each change of who is there and which components each has. */
  #revision = 0
  #resting: number[] = []
  #nextResting = 0
  #lastEntity: Entity = 0
  #lastRow = 0

  /** @param column the values of a component: bitECS learns of it only when a query that is kept there names it */
  constructor(column: (token: Component) => Column | undefined) {
    this.#column = column
  }

  get size(): number {
    return this.#rowOf.size
  }

  /** Every living entity, ascending. */
  all(): Entity[] {
    return [...this.#rowOf.keys()].sort((a, b) => a - b)
  }

  has(entity: Entity): boolean {
    return this.#rowOf.has(entity)
  }

  /** The private row of an entity, where its values stand in the columns; `undefined` when it does not exist. */
  row(entity: Entity): number | undefined {
    // A system mostly asks about one entity many times in a row.
    if (entity === this.#lastEntity) return this.#lastRow
    const row = this.#rowOf.get(entity)
    if (row !== undefined) {
      this.#lastEntity = entity
      this.#lastRow = row
    }
    return row
  }

  /** Whose row this is. */
  at(row: number): Entity {
    return this.#entityOf[row] as Entity
  }

  add(entity: Entity): number {
    this.#revision++
    this.#wakeOldest()
    const row = addEntity(this.#bits)
    this.#rowOf.set(entity, row)
    this.#entityOf[row] = entity
    return row
  }

  remove(entity: Entity): void {
    const row = this.#rowOf.get(entity)
    if (row === undefined) return
    this.#revision++
    removeEntity(this.#bits, row)
    // bitECS keeps the dead id at the end of its dense list and would reuse it at once; let it rest instead.
    while (this.#index.dense.length > this.#index.aliveCount) this.#index.dense.pop()
    this.#resting.push(row)
    this.#rowOf.delete(entity)
    this.#lastEntity = 0
  }

  attach(row: number, token: Component): void {
    this.#revision++
    if (this.#queried.size > 0 && this.#queried.has(token)) addComponent(this.#bits, row, token)
  }

  detach(row: number, token: Component): void {
    this.#revision++
    if (this.#queried.size > 0 && this.#queried.has(token)) removeComponent(this.#bits, row, token)
  }

  /** Entities that have all plain terms and none of the `not` terms, ascending. */
  query(terms: readonly QueryTerm[]): readonly Entity[] {
    return this.#ascending(this.#rows(terms))
  }

  /** The first so many of them. Costs a look at each, but no sorting of all; several systems of a tick may ask for the same. */
  first(count: number, terms: readonly QueryTerm[]): readonly Entity[] {
    const rows = this.#rows(terms)
    if (rows.length <= count) return this.#ascending(rows)
    const shape = shapeOf(terms)
    const last = this.#firsts.get(shape)
    if (last?.revision === this.#revision && last.count === count) return last.entities
    const entities = this.#lowest(count, rows)
    this.#firsts.set(shape, { revision: this.#revision, count, entities })
    return entities
  }

  #lowest(count: number, rows: readonly number[]): readonly Entity[] {
    // The lowest numbers so far, in order; an entity that is above them all is none of the first.
    let lowest: Entity[] = []
    let chunk: Entity[] = []
    const merge = (): void => {
      lowest = [...lowest, ...chunk].sort((a, b) => a - b).slice(0, count)
      chunk = []
    }
    for (const row of rows) {
      const entity = this.#entityOf[row] as Entity
      if (lowest.length === count && entity > (lowest[count - 1] as Entity)) continue
      if (chunk.push(entity) >= chunkOf * count) merge()
    }
    merge()
    return lowest
  }

  #ascending(rows: readonly number[]): readonly Entity[] {
    if (rows.length === 0) return none
    const found: Entity[] = []
    let isAscending = true
    let last = 0
    for (const row of rows) {
      const entity = this.#entityOf[row] as Entity
      isAscending &&= entity > last
      last = entity
      found.push(entity)
    }
    return isAscending ? found : found.sort((a, b) => a - b)
  }

  /** The rows that a query finds. What nobody has is found nowhere, whatever else is asked for. */
  #rows(terms: readonly QueryTerm[]): readonly number[] {
    let fewest: Column | undefined
    for (const term of terms) {
      if (term === undefined || term === null) throw noTerm(term)
      if (term.kind === 'not') continue
      const column = this.#column(term)
      if (column === undefined || column.count === 0) return none
      if (fewest === undefined || column.count < fewest.count) fewest = column
    }
    if (fewest !== undefined && this.#entityOf.length - 1 <= maxSearched) return this.#search(fewest, terms)
    const shape = shapeOf(terms)
    let query = this.#queries.get(shape)
    if (query === undefined) this.#queries.set(shape, (query = this.#register(shape)))
    commitRemovals(this.#bits)
    return query.dense as readonly number[]
  }

  /** @param fewest the column of one of the terms, the one that the fewest have */
  #search(fewest: Column, terms: readonly QueryTerm[]): readonly number[] {
    const rows = fewest.rows()
    for (const term of terms) {
      const isWanted = term.kind !== 'not'
      const column = this.#column(isWanted ? term : term.not)
      if (isWanted && column === fewest) continue
      let kept = 0
      for (const row of rows) if ((column?.get(row) !== undefined) === isWanted) rows[kept++] = row
      if (kept === 0) return none
      while (rows.length > kept) rows.pop()
    }
    return rows
  }

  #register({ wanted, unwanted }: Shape): Query {
    for (const token of wanted) this.#follow(token)
    for (const token of unwanted) this.#follow(token)
    return registerQuery(this.#bits, unwanted.length === 0 ? [...wanted] : [...wanted, Not(...unwanted)])
  }

  #follow(token: Component): void {
    if (this.#queried.has(token)) return
    this.#queried.add(token)
    for (const row of this.#column(token)?.rows() ?? []) addComponent(this.#bits, row, token)
  }

  /**
   * bitECS keeps its entities in one Map, in which an id that dies and comes back over and over leaves a chain of
   * tombstones behind, and in a crowd each spawn walks along it. Turn by turn, chains stay short.
   */
  #wakeOldest(): void {
    const resting = this.#resting.length - this.#nextResting
    if (resting <= Math.min(maxResting, Math.max(minResting, this.size >> 3))) return
    this.#index.dense.push(this.#resting[this.#nextResting++] as number)
    if (this.#nextResting < 1_024) return
    this.#resting = this.#resting.slice(this.#nextResting)
    this.#nextResting = 0
  }
}
