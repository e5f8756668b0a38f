import type { Changes, LogEdit } from './changes.ts'
import type { Entity } from './component.ts'
import type { Json } from './json.ts'
import { Before, type Column, Touched } from './column.ts'
import type { Entities } from './entities.ts'

/** Records what a step overwrites, to list or undo its changes. */
export class Tracking {
  readonly #entities: Entities
  /** In order of their first write. */
  readonly #columns: Column[] = []
  /** Ascending; some may be despawned again. */
  readonly #spawned: Entity[] = []
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

  /** What was tracked stays until `forget`. */
  stop(): void {
    this.#on = false
  }

  get past(): { spawned: readonly Entity[]; despawned: readonly Entity[]; columns: readonly Column[] } {
    return { spawned: this.#newcomers(), despawned: ascending(this.#despawned), columns: this.#columns }
  }

  forget(): void {
    this.#on = false
    // Popped one by one: setting `length` costs as much as many small writes.
    for (let column = this.#columns.pop(); column !== undefined; column = this.#columns.pop()) {
      column.touched = undefined
      column.writer = undefined
    }
    while (this.#spawned.length > 0) this.#spawned.pop()
    while (this.#despawned.length > 0) this.#despawned.pop()
  }

  spawned(entity: Entity): void {
    this.revision++
    if (this.#on) this.#spawned.push(entity)
  }

  despawned(entity: Entity): void {
    this.revision++
    if (this.#on && !this.#isNew(entity)) this.#despawned.push(entity)
  }

  #isNew(entity: Entity): boolean {
    const [first] = this.#spawned
    return first !== undefined && entity >= first
  }

  #newcomers(): readonly Entity[] {
    return this.#spawned.length === 0 ? none : this.#spawned.filter((entity) => this.#entities.has(entity))
  }

  writers(): Readonly<Record<string, string>> {
    const written = this.#columns.filter(({ writer }) => writer !== undefined)
    return Object.fromEntries(written.map(({ token, writer }) => [token.name, writer as string]))
  }

  /** Call before each write. */
  touch(column: Column, entity: Entity, row: number): Before | undefined {
    this.revision++
    if (!this.#on) return undefined
    const touched = (column.touched ??= this.#noted(column))
    // An undo removes an entity of this step whole.
    if (this.#isNew(entity)) return undefined
    const known = touched.get(entity)
    if (known !== undefined) return known
    const value = column.get(row)
    const length = column.token.kind === 'log' && value !== undefined ? (value as Json[]).length : 0
    const before = new Before(entity, value, length)
    touched.add(before)
    return before
  }

  #noted(column: Column): Touched {
    this.#columns.push(column)
    return new Touched()
  }

  /** Despawned in this step, and older than it. */
  get removed(): readonly Entity[] {
    return this.#despawned
  }

  /** Entities that were written in one of these columns and still exist, ascending. */
  written(columns: readonly (Column | undefined)[]): readonly Entity[] {
    const found: Entity[] = []
    const spawned = this.#newcomers()
    for (const column of columns) {
      if (column?.touched === undefined) continue
      for (let { first: before } = column.touched; before !== undefined; before = before.next) found.push(before.entity)
      for (const entity of spawned) {
        if (column.get(this.#entities.row(entity) as number) !== undefined) found.push(entity)
      }
    }
    if (found.length > 1) found.sort((a, b) => a - b)
    let last: Entity | undefined
    return found.filter((entity) => {
      const isNew = entity !== last
      last = entity
      return isNew && this.#entities.has(entity)
    })
  }

  /** `columns`: all of the world, by name; `into` gets the changes. */
  changes<T extends object>(columns: readonly Column[], into: T): T & Changes {
    const spawned = this.#newcomers()
    let set: Record<string, readonly Put[]> | undefined
    let appended: Record<string, readonly Appended[]> | undefined
    let spliced: Record<string, readonly Spliced[]> | undefined
    let removed: Record<string, readonly Entity[]> | undefined
    for (const column of columns) {
      if (column.touched === undefined) continue
      const { name } = column.token
      const found = this.#changesIn(column, column.touched, spawned)
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

  #changesIn(column: Column, touched: Touched, spawned: readonly Entity[]): ColumnChanges {
    const changes: ColumnChanges = { set: undefined, appended: undefined, spliced: undefined, removed: undefined }
    const isLog = column.token.kind === 'log'
    touched.sort()
    for (let { first: before } = touched; before !== undefined; before = before.next) {
      const { entity } = before
      const row = this.#entities.row(entity)
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
      const now = column.get(this.#entities.row(entity) as number)
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

function ascending(entities: readonly Entity[]): readonly Entity[] {
  return entities.toSorted((a, b) => a - b)
}
