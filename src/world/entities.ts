import type { Column } from './column.ts'
import type { Component, Entity } from './component.ts'
import { EntiaError } from '../base/entia-error.ts'
import { shortly } from '../base/known-options.ts'
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
  if (wanted.length === 0) throw noPlainTerm()
  return { wanted, unwanted }
}

function noPlainTerm(): EntiaError {
  return new EntiaError('invalid-argument', 'A query needs at least one component besides not(…).')
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
  /** The rows of entities in the columns. */
  readonly rowOf = new Map<Entity, number>()
  readonly #entityOf: Entity[] = [0]
  readonly #columns: readonly (Column | undefined)[]
  /** Of larger worlds: to be told of each component that a row gets or loses. */
  membership: Membership | undefined
  #firsts: Map<Shape, Found> | undefined
  /** Counts what entities get and lose. */
  revision = 0
  #resting: number[] = []
  #nextResting = 0

  /** @param columns of components, by their index */
  constructor(columns: readonly (Column | undefined)[]) {
    this.#columns = columns
  }

  all(): Entity[] {
    return [...this.rowOf.keys()].sort((a, b) => a - b)
  }

  at(row: number): Entity {
    return this.#entityOf[row] as Entity
  }

  add(entity: Entity): void {
    this.revision++
    const row = this.#restedRow() ?? this.#entityOf.length
    this.rowOf.set(entity, row)
    this.#entityOf[row] = entity
    this.membership?.add(row)
  }

  remove(entity: Entity): void {
    const row = this.rowOf.get(entity)
    if (row === undefined) return
    this.revision++
    this.membership?.remove(row)
    this.#resting.push(row)
    this.rowOf.delete(entity)
  }

  /** A row has a component now that it did not have. */
  attach(row: number, token: Component): void {
    this.revision++
    if (this.membership !== undefined) this.membership.attach(row, token)
  }

  detach(row: number, token: Component): void {
    this.revision++
    if (this.membership !== undefined) this.membership.detach(row, token)
  }

  /** Entities that have all plain terms and none of the `not` terms, ascending. */
  query(terms: readonly QueryTerm[]): readonly Entity[] {
    const [term] = terms
    if (terms.length === 1 && term?.kind !== 'not' && term?.kind !== undefined) {
      const column = this.#columns[term.index]
      if (column === undefined || column.count === 0) return none
      if (column.only >= 0) return [this.#entityOf[column.only] as Entity]
    }
    const fewest = this.#fewest(terms)
    if (fewest === undefined) return none
    if (fewest.only >= 0) return [this.#entityOf[fewest.only] as Entity]
    return this.#ascending(this.#rows(fewest, terms))
  }

  /** Without sorting all. Kept until something changes, as several systems of a tick ask the same. */
  first(count: number, terms: readonly QueryTerm[]): readonly Entity[] {
    const fewest = this.#fewest(terms)
    if (fewest === undefined) return none
    if (fewest.only >= 0 && count >= 1) return [this.#entityOf[fewest.only] as Entity]
    const rows = this.#rows(fewest, terms)
    if (rows.length <= count) return this.#ascending(rows)
    const shape = shapeOf(terms)
    const last = this.#firsts?.get(shape)
    if (last?.revision === this.revision && last.count === count) return last.entities
    const entities = this.#lowest(count, rows)
    ;(this.#firsts ??= new Map()).set(shape, { revision: this.revision, count, entities })
    return entities
  }

  /** The column of the plain term that fewest entities have; `undefined` if none has one of them, or a single one lacks a term. */
  #fewest(terms: readonly QueryTerm[]): Column | undefined {
    let fewest: Column | undefined
    let hasPlain = false
    for (const term of terms) {
      if (term === undefined || term === null) throw noTerm(term)
      if (term.kind === 'not') continue
      hasPlain = true
      const column = this.#columns[term.index]
      if (column === undefined || column.count === 0) return undefined
      if (fewest === undefined || column.count < fewest.count) fewest = column
    }
    if (!hasPlain) throw noPlainTerm()
    const row = fewest?.only ?? -1
    if (row < 0) return fewest
    for (const term of terms) {
      const isWanted = term.kind !== 'not'
      const column = this.#columns[isWanted ? term.index : term.not.index]
      const place = column === undefined ? -1 : row - column.firstRow
      const { length } = column?.values ?? none
      const isThere = place >= 0 && place < length && column?.values[place] !== undefined
      if (isThere !== isWanted) return undefined
    }
    return fewest
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

  #rows(fewest: Column, terms: readonly QueryTerm[]): readonly number[] {
    if (this.#entityOf.length - 1 <= maxSearched) return this.#search(fewest, terms)
    this.membership ??= new Membership(this.rowOf.values(), (token) => this.#columns[token.index]?.rows() ?? [])
    return this.membership.rows(shapeOf(terms))
  }

  #search(fewest: Column, terms: readonly QueryTerm[]): readonly number[] {
    const rows = fewest.rows()
    for (const term of terms) {
      const isWanted = term.kind !== 'not'
      const column = this.#columns[isWanted ? term.index : term.not.index]
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
    if (resting <= Math.min(maxResting, Math.max(minResting, this.rowOf.size >> 3))) return undefined
    const row = this.#resting[this.#nextResting++]
    if (this.#nextResting >= 1_024) {
      this.#resting = this.#resting.slice(this.#nextResting)
      this.#nextResting = 0
    }
    return row
  }
}
