import type { Column } from './column.ts'
import type { Component, Entity } from './component.ts'
import { EntiaError } from './entia-error.ts'
import { shortly } from './known-options.ts'
import { Membership, type Shape } from './membership.ts'

const inverses: (NotTerm | undefined)[] = []

/** Excludes a component from a query: `world.query(Llm, not(Paused))`. */
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

/** A component that entities of a query must not have. */
export interface NotTerm {
  readonly kind: 'not'
  readonly not: Component
}

/** What entities of a query must have, or must not have. */
export type QueryTerm = Component | NotTerm

interface Known {
  shape: Shape | undefined
  /** At 2 × the component's index; its `not` at one more. */
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

interface Found {
  readonly revision: number
  readonly count: number
  readonly entities: readonly Entity[]
}

const none: readonly Entity[] = Object.freeze([])
/** Freed rows that rest before one is reused. */
const minResting = 16
const maxResting = 4_096
/** With at most this many rows a query scans: bitECS would need more memory than such a world. */
const maxSearched = 32
/** `first` merges when it has this many times `count` candidates. */
const chunkOf = 8

/** Entities and their components. Values stand in private, reused rows; bitECS keeps queries of larger worlds. */
export class Entities {
  readonly #rowOf = new Map<Entity, number>()
  readonly #entityOf: Entity[] = [0]
  readonly #column: (token: Component) => Column | undefined
  #membership: Membership | undefined
  #firsts: Map<Shape, Found> | undefined
  #revision = 0
  #resting: number[] = []
  #nextResting = 0
  #lastEntity: Entity = 0
  #lastRow = 0

  /** @param column the values of a component, if the world has any */
  constructor(column: (token: Component) => Column | undefined) {
    this.#column = column
  }

  get size(): number {
    return this.#rowOf.size
  }

  all(): Entity[] {
    return [...this.#rowOf.keys()].sort((a, b) => a - b)
  }

  has(entity: Entity): boolean {
    return this.#rowOf.has(entity)
  }

  /** The row of an entity in the columns; `undefined` when it does not exist. */
  row(entity: Entity): number | undefined {
    // Systems mostly read one entity many times in a row.
    if (entity === this.#lastEntity) return this.#lastRow
    const row = this.#rowOf.get(entity)
    if (row !== undefined) {
      this.#lastEntity = entity
      this.#lastRow = row
    }
    return row
  }

  at(row: number): Entity {
    return this.#entityOf[row] as Entity
  }

  add(entity: Entity): void {
    this.#revision++
    const row = this.#restedRow() ?? this.#entityOf.length
    this.#rowOf.set(entity, row)
    this.#entityOf[row] = entity
    this.#membership?.add(row)
  }

  remove(entity: Entity): void {
    const row = this.#rowOf.get(entity)
    if (row === undefined) return
    this.#revision++
    this.#membership?.remove(row)
    this.#resting.push(row)
    this.#rowOf.delete(entity)
    this.#lastEntity = 0
  }

  attach(row: number, token: Component): void {
    this.#revision++
    this.#membership?.attach(row, token)
  }

  detach(row: number, token: Component): void {
    this.#revision++
    this.#membership?.detach(row, token)
  }

  /** Entities that have all plain terms and none of the `not` terms, ascending. */
  query(terms: readonly QueryTerm[]): readonly Entity[] {
    return this.#ascending(this.#rows(terms))
  }

  /** Without sorting all. Kept until something changes, as several systems of a tick ask the same. */
  first(count: number, terms: readonly QueryTerm[]): readonly Entity[] {
    const rows = this.#rows(terms)
    if (rows.length <= count) return this.#ascending(rows)
    const shape = shapeOf(terms)
    const last = this.#firsts?.get(shape)
    if (last?.revision === this.#revision && last.count === count) return last.entities
    const entities = this.#lowest(count, rows)
    ;(this.#firsts ??= new Map()).set(shape, { revision: this.#revision, count, entities })
    return entities
  }

  #lowest(count: number, rows: readonly number[]): readonly Entity[] {
    // The lowest so far, ascending: an entity above them all can be skipped.
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
    this.#membership ??= new Membership(this.#rowOf.values(), (token) => this.#column(token)?.rows() ?? [])
    return this.#membership.rows(shapeOf(terms))
  }

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

  /**
   * The longest-resting row, if enough rest. bitECS keeps ids in a Map, where deleting and adding one id over and over leaves
   * tombstones: rows rotate to keep those chains short.
   */
  #restedRow(): number | undefined {
    const resting = this.#resting.length - this.#nextResting
    if (resting <= Math.min(maxResting, Math.max(minResting, this.size >> 3))) return undefined
    const row = this.#resting[this.#nextResting++]
    if (this.#nextResting >= 1_024) {
      this.#resting = this.#resting.slice(this.#nextResting)
      this.#nextResting = 0
    }
    return row
  }
}
