import type { Changes, LogEdit } from './changes.ts'
import type { Component, Entity } from './component.ts'
import type { Json } from '../base/json.ts'
import { type Before, type Column, Writes } from './column.ts'
import type { Entities } from './entities.ts'

/** An entity that a step has despawned, with what it had then. */
export interface Despawned {
  readonly entity: Entity
  readonly values: OldValue[]
}

/** What an entity had. */
export interface OldValue {
  readonly entity: Entity
  readonly token: Component
  readonly value: Json | undefined
  /** Of a log: only its items up to here. */
  readonly length: number
}

/** What a step has overwritten. */
export interface Past {
  readonly spawned: readonly Entity[]
  readonly despawned: readonly Entity[]
  readonly values: readonly OldValue[]
}

/** Records what a step overwrites, to list or undo its changes. */
export class Tracking extends Writes {
  readonly #entities: Entities
  /** Ascending; some may be despawned again. */
  readonly #spawned: Entity[] = []
  /** Older than the step. */
  readonly #despawned: Despawned[] = []

  constructor(entities: Entities) {
    super()
    this.#entities = entities
  }

  begin(): void {
    this.forget()
    this.isOn = true
  }

  /** What was tracked stays until `forget`. */
  stop(): void {
    this.isOn = false
  }

  /** What the step has overwritten. */
  past(): Past {
    const values = this.#despawned.flatMap((despawned) => despawned.values)
    for (const column of this.columns) {
      const { token } = column
      for (const { entity, length, value } of column.overwritten ?? []) values.push({ entity, token, value, length })
    }
    return { spawned: this.#newcomers(), despawned: this.#despawned.map(({ entity }) => entity), values }
  }

  forget(): void {
    this.isOn = false
    // Popped one by one: setting `length` costs as much as many small writes.
    for (let column = this.columns.pop(); column !== undefined; column = this.columns.pop()) {
      column.isWritten = false
      column.writer = undefined
      column.overwritten = undefined
      column.overwrittenOf = undefined
    }
    while (this.#despawned.length > 0) this.#despawned.pop()
    if (this.newFrom === Infinity) return
    this.newFrom = Infinity
    while (this.#spawned.length > 0) this.#spawned.pop()
  }

  spawned(entity: Entity): void {
    this.revision++
    if (!this.isOn) return
    if (this.newFrom === Infinity) this.newFrom = entity
    this.#spawned.push(entity)
  }

  /** A record for an entity that is about to go, if an undo has to bring it back. */
  despawning(entity: Entity): Despawned | undefined {
    this.revision++
    if (!this.isOn || entity >= this.newFrom) return undefined
    const despawned = { entity, values: [] }
    this.#despawned.push(despawned)
    return despawned
  }

  #newcomers(): readonly Entity[] {
    return this.#spawned.length === 0 ? none : this.#spawned.filter((entity) => this.#entities.rowOf.has(entity))
  }

  writers(): Readonly<Record<string, string>> {
    const written = this.columns.filter(({ writer }) => writer !== undefined)
    return Object.fromEntries(written.map(({ token, writer }) => [token.name, writer as string]))
  }

  get despawned(): readonly Despawned[] {
    return this.#despawned
  }

  /** Entities that were written in one of these columns and still exist, ascending. */
  written(columns: readonly Column[]): readonly Entity[] {
    const found = new Set<Entity>()
    for (const column of columns) {
      if (column.overwritten !== undefined) for (const { entity } of column.overwritten) found.add(entity)
      for (const entity of this.#spawned) {
        const row = this.#entities.rowOf.get(entity)
        if (row !== undefined && column.get(row) !== undefined) found.add(entity)
      }
    }
    const written: Entity[] = []
    for (const entity of found) if (this.#entities.rowOf.has(entity)) written.push(entity)
    return written.length > 1 ? written.sort((a, b) => a - b) : written
  }

  /** `columns`: all of the world, by name; `into` gets the changes. */
  changes<T extends object>(columns: readonly Column[], into: T): T & Changes {
    const spawned = this.#newcomers()
    let set: Record<string, readonly Put[]> | undefined
    let appended: Record<string, readonly Appended[]> | undefined
    let spliced: Record<string, readonly Spliced[]> | undefined
    let removed: Record<string, readonly Entity[]> | undefined
    for (const column of columns) {
      if (!column.isWritten) continue
      const { name } = column.token
      const found = this.#changesIn(column, spawned)
      if (found.set !== undefined) (set ??= {})[name] = found.set
      if (found.appended !== undefined) (appended ??= {})[name] = found.appended
      if (found.spliced !== undefined) (spliced ??= {})[name] = found.spliced
      if (found.removed !== undefined) (removed ??= {})[name] = found.removed
    }
    const changes: T & { -readonly [K in keyof Changes]: Changes[K] } = into
    if (spawned.length > 0) changes.spawned = spawned
    if (this.#despawned.length > 0) changes.despawned = ascending(this.#despawned)
    if (set !== undefined) changes.set = set
    if (appended !== undefined) changes.appended = appended
    if (spliced !== undefined) changes.spliced = spliced
    if (removed !== undefined) changes.removed = removed
    return changes
  }

  #changesIn(column: Column, spawned: readonly Entity[]): ColumnChanges {
    const changes: ColumnChanges = { set: undefined, appended: undefined, spliced: undefined, removed: undefined }
    const isLog = column.token.kind === 'log'
    for (const before of ascendingBefore(column.overwritten ?? [])) {
      const { entity } = before
      const row = this.#entities.rowOf.get(entity)
      if (row === undefined) continue
      const now = column.get(row)
      if (now === undefined) {
        if (before.value !== undefined) changes.removed = entered(changes.removed, entity)
      } else if (before.value === undefined || before.isTaken || !isLog) {
        // Listed even if it is the same object: which values share an object is no part of the state.
        const isListed = now !== before.value || typeof now === 'object'
        if (isListed) changes.set = entered(changes.set, [entity, asListed(column, now)])
      } else if (before.edits !== undefined) {
        changes.spliced = entered(changes.spliced, [entity, before.edits.slice()])
      } else if ((now as Json[]).length > before.length) {
        changes.appended = entered(changes.appended, [entity, (now as Json[]).slice(before.length)])
      }
    }
    // Entities of this step are listed whole, after all others: their numbers are higher.
    for (const entity of spawned) {
      const now = column.get(this.#entities.rowOf.get(entity) as number)
      if (now !== undefined) changes.set = entered(changes.set, [entity, asListed(column, now)])
    }
    return changes
  }
}

type Put = readonly [Entity, Json]
type Appended = readonly [Entity, readonly Json[]]
type Spliced = readonly [Entity, readonly LogEdit[]]

interface ColumnChanges {
  set: Put[] | undefined
  appended: Appended[] | undefined
  spliced: Spliced[] | undefined
  removed: Entity[] | undefined
}

const none: readonly Entity[] = []

/** Usually there is one row. A literal stays small: an empty array that is pushed to has room for 17. */
function entered<T>(rows: T[] | undefined, row: T): T[] {
  if (rows === undefined) return [row]
  rows.push(row)
  return rows
}

function asListed({ token }: Column, value: Json): Json {
  return token.kind === 'log' ? (value as readonly Json[]).slice() : value
}

function ascendingBefore(overwritten: Before[]): readonly Before[] {
  return overwritten.length < 2 ? overwritten : overwritten.sort((a, b) => a.entity - b.entity)
}

function ascending(despawned: readonly Despawned[]): readonly Entity[] {
  return despawned.map(({ entity }) => entity).sort((a, b) => a - b)
}
