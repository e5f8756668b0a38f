import type { Changes, LogEdit } from './changes.ts'
import { Column, noteEdit } from './column.ts'
import { type Component, type Entity, type Log, misfitOf, type Value } from './component.ts'
import { Entities } from './entities.ts'
import { EntiaError } from '../base/entia-error.ts'
import type { Json } from '../base/json.ts'
import { shortly } from '../base/known-options.ts'
import { References } from './references.ts'
import { type Past, Tracking } from './tracking.ts'
import { Presence, WakePlan } from './wake-plan.ts'

const none: readonly Entity[] = []
const noPlan = new WakePlan([])

/** Entities and their values. Tracks the writes of a step, to list or undo them. Knows no schemas, time or systems. */
export class State {
  /** By the index of their component. */
  readonly columnAt: (Column | undefined)[] = []
  readonly #columns: Column[] = []
  readonly entities = new Entities(this.columnAt)
  readonly references = new References()
  readonly tracking = new Tracking(this.entities)
  /** Of components that wake systems. */
  readonly presence: Presence

  constructor(plan: WakePlan = noPlan) {
    this.presence = new Presence(plan)
  }

  /** @throws `unknown-entity` */
  row(entity: Entity): number {
    const row = this.entities.rowOf.get(entity)
    if (row !== undefined) return row
    throw new EntiaError(
      'unknown-entity',
      `Entity ${shortly(entity)} does not exist: it was despawned, or belongs to another world. Check world.exists(entity) first.`,
      { entity },
    )
  }

  column(token: Component): Column {
    return this.columnAt[token.index] ?? this.#newColumn(token)
  }

  #newColumn(token: Component): Column {
    const column = new Column(token, this.presence, this.tracking)
    while (this.columnAt.length < token.index) this.columnAt.push(undefined)
    this.columnAt[token.index] = column
    const place = this.#columns.findIndex((other) => other.token.name > token.name)
    this.#columns.splice(place < 0 ? this.#columns.length : place, 0, column)
    return column
  }

  count(token: Component): number {
    return this.columnAt[token.index]?.count ?? 0
  }

  /** By name. */
  columns(): readonly Column[] {
    return this.#columns
  }

  get(entity: Entity, token: Component): Json | undefined {
    const column = this.columnAt[token.index]
    if (column === undefined || column.count === 0) return undefined
    const { entities } = this
    const row = entities.rowOf.get(entity)
    if (row === undefined) return undefined
    const place = row - column.firstRow
    return place >= 0 && place < column.values.length ? column.values[place] : undefined
  }

  /** By name. @throws `unknown-entity` */
  componentsOf(entity: Entity): Component[] {
    const row = this.row(entity)
    const found: Component[] = []
    for (const column of this.columns()) if (column.get(row) !== undefined) found.push(column.token)
    return found
  }

  spawn(entity: Entity): void {
    this.entities.add(entity)
    this.tracking.spawned(entity)
  }

  /** Also despawns cascading referrers, and removes other references. */
  despawn(entity: Entity): void {
    const waiting = [entity]
    for (const next of waiting) {
      if (!this.entities.rowOf.has(next)) continue
      for (const [token, referrer] of this.references.all(next)) {
        if (token.cascade) waiting.push(referrer)
        else if (this.get(referrer, token) !== undefined) this.take(referrer, token)
      }
      this.erase(next)
    }
  }

  erase(entity: Entity): void {
    const row = this.row(entity)
    const despawned = this.tracking.despawning(entity)
    for (const column of this.#columns) {
      const place = row - column.firstRow
      const value = place >= 0 && place < column.values.length ? column.values[place] : undefined
      if (value === undefined) continue
      const { token } = column
      const length = token.kind === 'log' ? (value as readonly Json[]).length : 0
      if (despawned !== undefined) despawned.values.push({ entity, token, value, length })
      if (!column.isPlain) this.#unlink(entity, token, value)
      column.drop(row)
    }
    this.entities.remove(entity)
  }

  /** A log's array is copied, since it grows here. */
  put(entity: Entity, token: Component, value: Json): void {
    const row = this.row(entity)
    const column = this.column(token)
    const replaced = column.get(row)
    const before = column.touch(entity, replaced)
    if (replaced === undefined) this.entities.attach(row, token)
    else if (token.kind !== 'log') this.#unlink(entity, token, replaced)
    else if (before !== undefined) before.isTaken = true
    column.put(row, token.kind === 'log' ? [...(value as Json[])] : value, replaced === undefined)
    this.#link(entity, token, value)
  }

  /** No-op if absent. */
  take(entity: Entity, token: Component): void {
    const row = this.row(entity)
    const column = this.column(token)
    const value = column.get(row)
    if (value !== undefined) this.takeFrom(column, entity, row, value)
  }

  /** @param value which the entity has there, in this row */
  takeFrom(column: Column, entity: Entity, row: number, value: Json): void {
    const { token } = column
    const before = column.touch(entity, value)
    if (before !== undefined) before.isTaken = true
    if (!column.isPlain) this.#unlink(entity, token, value)
    column.drop(row)
    const { entities } = this
    entities.revision++
    if (entities.membership !== undefined) entities.membership.detach(row, token)
  }

  append(entity: Entity, token: Log, items: readonly Json[]): void {
    const row = this.row(entity)
    const column = this.column(token)
    const log = column.get(row) as Json[]
    const before = column.touch(entity, log)
    if (before?.edits !== undefined) before.edits.push([log.length, 0, items])
    for (const item of items) log.push(item)
  }

  /** Into a new array; the old one does not change. */
  splice(entity: Entity, token: Log, edit: LogEdit): void {
    const row = this.row(entity)
    const column = this.column(token)
    const log = column.get(row) as Json[]
    const before = column.touch(entity, log)
    if (before !== undefined) noteEdit(before, log, edit)
    const [from, deleteCount, items] = edit
    column.put(row, log.slice(0, from).concat(items, log.slice(from + deleteCount)), false)
  }

  /** Spawned entities are numbered from `from` to below `next`; `where` is for errors. @throws `corrupt-journal` */
  apply(
    changes: Changes,
    token: (name: string) => Component,
    { from, next, where }: { readonly from: Entity; readonly next: Entity; readonly where: string },
  ): void {
    let least = from
    for (const entity of changes.spawned ?? []) {
      if (entity < least) throw misplaced(where, entity, `its number must be new: ${least} or more`)
      least = entity + 1
      this.spawn(entity)
    }
    if (next < least) throw misplaced(where, next, `the number of the next entity must be ${least} or more`)
    for (const [name, rows] of Object.entries(changes.set ?? {})) {
      for (const [entity, value] of rows) {
        const misfit = misfitOf(token(name), value)
        if (misfit !== undefined) throw new EntiaError('corrupt-snapshot', `${where}: entity ${entity}: ${misfit}.`)
        this.#assertThere(entity, where, name)
        this.put(entity, token(name), value)
      }
    }
    for (const [name, rows] of Object.entries(changes.appended ?? {})) {
      for (const [entity, items] of rows) {
        const log = token(name) as Log
        this.#assertLog(entity, log, where)
        this.append(entity, log, items)
      }
    }
    for (const [name, rows] of Object.entries(changes.spliced ?? {})) {
      for (const [entity, edits] of rows) {
        const log = token(name) as Log
        for (const edit of edits) {
          this.#assertLog(entity, log, where, edit[0] + edit[1])
          this.splice(entity, log, edit)
        }
      }
    }
    for (const [name, rows] of Object.entries(changes.removed ?? {})) {
      for (const entity of rows) {
        this.#assertThere(entity, where, name)
        this.take(entity, token(name))
      }
    }
    for (const entity of changes.despawned ?? []) {
      this.#assertThere(entity, where)
      this.erase(entity)
    }
  }

  #assertThere(entity: Entity, where: string, component?: string): void {
    if (!this.entities.rowOf.has(entity)) throw misplaced(where, entity, 'it does not exist', component)
  }

  #assertLog(entity: Entity, token: Component, where: string, end = 0): void {
    const log = token.kind === 'log' ? this.get(entity, token) : undefined
    if (log === undefined) throw misplaced(where, entity, 'there is no log that could change', token.name)
    const { length } = log as readonly Json[]
    if (end > length) throw misplaced(where, entity, `an edit reaches to item ${end} of ${length}`, token.name)
  }

  /** What has changed since `begin`, added to an object. */
  changes<T extends object>(into: T): T & Changes {
    return this.tracking.changes(this.#columns, into)
  }

  /** Entities of which the last step has written one of these components and which still exist, ascending. */
  written(tokens: readonly Component[]): readonly Entity[] {
    const columns: Column[] = []
    for (const { index } of tokens) {
      const column = this.columnAt[index]
      if (column?.isWritten === true) columns.push(column)
    }
    return this.tracking.written(columns)
  }

  /** Ascending. Scans its column; no query is kept for it. */
  entitiesWith(token: Component): readonly Entity[] {
    if (this.count(token) === 0) return none
    return this.column(token)
      .rows()
      .map((row) => this.entities.at(row))
      .sort((a, b) => a - b)
  }

  /** Restores the state as of `begin`. */
  undo(): void {
    const past = this.tracking.past()
    this.tracking.stop()
    this.takeBack(past)
    this.tracking.forget()
  }

  /** Takes back a step that is not tracked any more: the newest that has not been taken back. */
  takeBack({ despawned, spawned, values }: Past): void {
    for (const entity of spawned) this.erase(entity)
    for (const entity of despawned) this.entities.add(entity)
    for (const { entity, length, token, value } of values) {
      if (!this.entities.rowOf.has(entity)) continue
      if (token.kind === 'log' && value !== undefined) (value as Json[]).length = length
      this.#reset(entity, this.column(token), value)
    }
    this.tracking.revision++
  }

  #reset(entity: Entity, column: Column, value: Json | undefined): void {
    const row = this.row(entity)
    const present = column.get(row)
    if (present !== undefined) this.#unlink(entity, column.token, present)
    if (value === undefined && present !== undefined) this.entities.detach(row, column.token)
    if (value !== undefined && present === undefined) this.entities.attach(row, column.token)
    if (value === undefined) {
      if (present !== undefined) column.drop(row)
      return
    }
    column.put(row, value, present === undefined)
    this.#link(entity, column.token, value)
  }

  #link(entity: Entity, token: Component, value: Json): void {
    if (token.kind === 'value' && token.ref !== undefined) this.references.add(token, entity, target(token, value))
  }

  #unlink(entity: Entity, token: Component, value: Json): void {
    if (token.kind === 'value' && token.ref !== undefined) this.references.remove(token, entity, target(token, value))
  }
}

/** A restored value may be old or broken: it is checked later. */
function target(token: Value, value: Json): Entity {
  return (value as Readonly<Record<string, Entity>> | null)?.[token.ref as string] as Entity
}

function misplaced(where: string, entity: Entity, what: string, component?: string): EntiaError {
  const whose = `entity ${entity}${component === undefined ? '' : `, component ${component}`}`
  return new EntiaError(
    'corrupt-journal',
    `${where}: ${whose}: ${what}. Nothing was restored; use another copy.`,
    component === undefined ? { entity } : { entity, component },
  )
}
