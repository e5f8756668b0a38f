import type { Changes, LogEdit } from './changes.ts'
import type { Entity } from './component.ts'
import type { Json } from './json.ts'
import { Before, type Column } from './column.ts'
import type { Entities } from './entities.ts'

/** Remembers what a step writes first over, from which its changes are told and by which it is undone. */
export class Tracking {
  readonly #entities: Entities
  readonly #columns = new Set<Column>()
  readonly #spawned = new Set<Entity>()
  readonly #despawned: Entity[] = []
  #on = false

  constructor(entities: Entities) {
    this.#entities = entities
  }

  begin(): void {
    this.clear()
    this.#on = true
  }

  /** Tracks no further; what was tracked is given for an undo. */
  stop(): { spawned: readonly Entity[]; despawned: readonly Entity[]; columns: readonly Column[] } {
    this.#on = false
    return { spawned: ascending(this.#spawned), despawned: ascending(this.#despawned), columns: [...this.#columns] }
  }

  clear(): void {
    this.#on = false
    for (const column of this.#columns) column.touched.clear()
    this.#columns.clear()
    this.#spawned.clear()
    this.#despawned.length = 0
  }

  spawned(entity: Entity): void {
    if (this.#on) this.#spawned.add(entity)
  }

  despawned(entity: Entity): void {
    if (this.#on && !this.#spawned.delete(entity)) this.#despawned.push(entity)
  }

  /** To be called before each write. */
  touch(column: Column, entity: Entity, row: number): Before | undefined {
    if (!this.#on) return undefined
    const known = column.touched.get(entity)
    if (known !== undefined) return known
    const value = column.values[row]
    const before = new Before(value, column.token.kind === 'log' && value !== undefined ? (value as Json[]).length : 0)
    column.touched.set(entity, before)
    this.#columns.add(column)
    return before
  }

  changes(): Changes {
    const set: Record<string, [Entity, Json][]> = {}
    const appended: Record<string, [Entity, readonly Json[]][]> = {}
    const spliced: Record<string, [Entity, readonly LogEdit[]][]> = {}
    const removed: Record<string, Entity[]> = {}
    for (const column of [...this.#columns].sort(byName)) {
      const { name, kind } = column.token
      for (const entity of [...column.touched.keys()].sort((a, b) => a - b)) {
        const before = column.touched.get(entity) as Before
        const row = this.#entities.row(entity)
        if (row === undefined) continue
        const now = column.values[row]
        if (now === undefined) {
          if (before.value !== undefined) (removed[name] ??= []).push(entity)
        } else if (kind !== 'log') {
          if (now !== before.value) (set[name] ??= []).push([entity, now])
        } else if (before.value === undefined || before.isTaken) {
          ;(set[name] ??= []).push([entity, [...(now as Json[])]])
        } else if (before.edits !== undefined) {
          ;(spliced[name] ??= []).push([entity, [...before.edits]])
        } else if ((now as Json[]).length > before.length) {
          ;(appended[name] ??= []).push([entity, (now as Json[]).slice(before.length)])
        }
      }
    }
    return {
      ...(this.#spawned.size > 0 && { spawned: ascending(this.#spawned) }),
      ...(this.#despawned.length > 0 && { despawned: ascending(this.#despawned) }),
      ...(!isEmpty(set) && { set }),
      ...(!isEmpty(appended) && { appended }),
      ...(!isEmpty(spliced) && { spliced }),
      ...(!isEmpty(removed) && { removed }),
    }
  }
}

function ascending(entities: Iterable<Entity>): Entity[] {
  return [...entities].sort((a, b) => a - b)
}

function byName(a: Column, b: Column): number {
  return a.token.name < b.token.name ? -1 : 1
}

function isEmpty(rows: object): boolean {
  for (const _ in rows) return false
  return true
}
