import type { Changes, LogEdit } from './changes.ts'
import type { Entity } from './component.ts'
import type { Json } from './json.ts'
import { Before, type Column } from './column.ts'
import type { Entities } from './entities.ts'

/** Remembers what a step writes first over, from which its changes are told and by which it is undone. */
export class Tracking {
  readonly #entities: Entities
  /** Those that the step has written in. */
  readonly #columns: Column[] = []
  readonly #spawned = new Set<Entity>()
  readonly #despawned: Entity[] = []
  #on = false
  /** Counts all writes, tracked or not. */
  revision = 0

  constructor(entities: Entities) {
    this.#entities = entities
  }

  begin(): void {
    this.forget()
    this.#on = true
  }

  /** Tracks no further. */
  stop(): void {
    this.#on = false
  }

  /** What an undo needs. */
  get past(): { spawned: readonly Entity[]; despawned: readonly Entity[]; columns: readonly Column[] } {
    return { spawned: ascending(this.#spawned), despawned: ascending(this.#despawned), columns: this.#columns }
  }

  /** Holds nothing any more of what was tracked. */
  forget(): void {
    this.#on = false
    // Emptied one by one: to set a length takes as long as many small writes.
    for (let column = this.#columns.pop(); column !== undefined; column = this.#columns.pop()) column.touched.clear()
    if (this.#spawned.size > 0) this.#spawned.clear()
    while (this.#despawned.length > 0) this.#despawned.pop()
  }

  spawned(entity: Entity): void {
    this.revision++
    if (this.#on) this.#spawned.add(entity)
  }

  despawned(entity: Entity): void {
    this.revision++
    if (this.#on && !this.#spawned.delete(entity)) this.#despawned.push(entity)
  }

  /** To be called before each write. */
  touch(column: Column, entity: Entity, row: number): Before | undefined {
    this.revision++
    if (!this.#on) return undefined
    const { touched } = column
    if (!touched.isNoted) {
      touched.isNoted = true
      this.#columns.push(column)
    }
    // An entity of this step needs no past: an undo removes it.
    if (this.#spawned.has(entity)) return undefined
    const known = touched.get(entity)
    if (known !== undefined) return known
    const value = column.get(row)
    const length = column.token.kind === 'log' && value !== undefined ? (value as Json[]).length : 0
    const before = new Before(entity, value, length)
    touched.add(before)
    return before
  }

  /** Entities that are no more. */
  get gone(): readonly Entity[] {
    return this.#despawned
  }

  /** Entities that were written in one of these columns, ascending. */
  written(columns: readonly Column[]): readonly Entity[] {
    if (this.#spawned.size === 0 && columns.every(({ touched }) => touched.first === undefined)) return none
    const found: Entity[] = []
    for (const { touched } of columns) {
      for (let before = touched.first; before !== undefined; before = before.next) found.push(before.entity)
    }
    for (const entity of this.#spawned) {
      const row = this.#entities.row(entity) as number
      if (columns.some((column) => column.get(row) !== undefined)) found.push(entity)
    }
    if (found.length > 1) found.sort((a, b) => a - b)
    let last: Entity | undefined
    return found.filter((entity) => {
      const isNew = entity !== last
      last = entity
      return isNew && this.#entities.has(entity)
    })
  }

  /**
   * @param columns all there are, by name
   * @param told gets the changes
   */
  changes<T extends object>(columns: readonly Column[], told: T): T & Changes {
    const spawned = ascending(this.#spawned)
    let set: Record<string, readonly Put[]> | undefined
    let appended: Record<string, readonly Appended[]> | undefined
    let spliced: Record<string, readonly Spliced[]> | undefined
    let removed: Record<string, readonly Entity[]> | undefined
    for (const column of columns) {
      if (!column.touched.isNoted) continue
      const { name } = column.token
      const found = this.#changesIn(column, spawned)
      if (found.set !== undefined) (set ??= {})[name] = found.set
      if (found.appended !== undefined) (appended ??= {})[name] = found.appended
      if (found.spliced !== undefined) (spliced ??= {})[name] = found.spliced
      if (found.removed !== undefined) (removed ??= {})[name] = found.removed
    }
    const changes: T & { -readonly [K in keyof Changes]: Changes[K] } = told
    if (spawned.length > 0) changes.spawned = spawned
    if (this.#despawned.length > 0) changes.despawned = ascending(this.#despawned)
    if (set !== undefined) changes.set = set
    if (appended !== undefined) changes.appended = appended
    if (spliced !== undefined) changes.spliced = spliced
    if (removed !== undefined) changes.removed = removed
    return changes
  }

  #changesIn(column: Column, spawned: readonly Entity[]): ColumnChanges {
    const told: ColumnChanges = { set: undefined, appended: undefined, spliced: undefined, removed: undefined }
    const isLog = column.token.kind === 'log'
    column.touched.sort()
    for (let { first: before } = column.touched; before !== undefined; before = before.next) {
      const { entity } = before
      const row = this.#entities.row(entity)
      if (row === undefined) continue
      const now = column.get(row)
      if (now === undefined) {
        if (before.value !== undefined) told.removed = entered(told.removed, entity)
      } else if (before.value === undefined || before.isTaken || !isLog) {
        // Told even if it is the very object it was: which values share one object is no part of the state.
        const isTold = now !== before.value || typeof now === 'object'
        if (isTold) told.set = entered(told.set, [entity, asTold(column, now)])
      } else if (before.edits !== undefined) {
        told.spliced = entered(told.spliced, [entity, before.edits.slice()])
      } else if ((now as Json[]).length > before.length) {
        told.appended = entered(told.appended, [entity, (now as Json[]).slice(before.length)])
      }
    }
    // Entities of this step are told whole; their numbers are higher than all others.
    for (const entity of spawned) {
      const now = column.get(this.#entities.row(entity) as number)
      if (now !== undefined) told.set = entered(told.set, [entity, asTold(column, now)])
    }
    return told
  }
}

type Put = readonly [Entity, Json]
type Appended = readonly [Entity, readonly Json[]]
type Spliced = readonly [Entity, readonly LogEdit[]]

/** What has changed in one column. */
interface ColumnChanges {
  set: Put[] | undefined
  appended: Appended[] | undefined
  spliced: Spliced[] | undefined
  removed: Entity[] | undefined
}

const none: readonly Entity[] = []

/** Mostly a row stays alone: its list begins with it, since one that begins empty makes room for seventeen at once. */
function entered<T>(rows: T[] | undefined, row: T): T[] {
  if (rows === undefined) return [row]
  rows.push(row)
  return rows
}

/** A log goes on growing; what is told of it stays as it is. */
function asTold({ token }: Column, value: Json): Json {
  return token.kind === 'log' ? (value as readonly Json[]).slice() : value
}

function ascending(entities: Iterable<Entity>): Entity[] {
  const list = Array.from(entities)
  return list.length < 2 ? list : list.sort((a, b) => a - b)
}
