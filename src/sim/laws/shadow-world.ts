import type { Delta, Header, LogEdit } from '../../world/changes.ts'
import type { Entity } from '../../world/component.ts'
import type { Json } from '../../world/json.ts'
import type { World } from '../../world/world.ts'
import { sameJson } from './same-json.ts'

/**
 * A world as its ticks tell of it: made once of the world itself, and from then on of nothing but deltas. Values are those
 * of the deltas; they are frozen, and shared.
 */
export class ShadowWorld {
  readonly #entities = new Map<Entity, Map<string, Json>>()
  #header: Header

  constructor(world: World) {
    const { state, header } = world.core
    this.#header = header
    for (const entity of state.entities.all()) this.#entities.set(entity, new Map())
    for (const column of state.columns()) {
      const { name } = column.token
      for (const row of column.rows()) this.#put(state.entities.at(row), name, column.get(row) as Json)
    }
  }

  /** Number of the last tick that was told. */
  get tick(): number {
    return this.#header.tick
  }

  /** What an entity has of a component. */
  value(entity: Entity, component: string): Json | undefined {
    return this.#entities.get(entity)?.get(component)
  }

  /**
   * Becomes the world after a tick, and says where that differs from the world itself in what the tick has touched. Of logs:
   * their lengths, their ends, and where they were touched.
   */
  apply(delta: Delta, world: World): string | undefined {
    this.#header = delta
    const { spawned, set, appended, spliced, removed, despawned } = delta
    const { state, tokens } = world.core
    let found: string | undefined
    if (spawned !== undefined) for (const entity of spawned) this.#entities.set(entity, new Map())
    for (const name in set) {
      const token = tokens.get(name)
      for (const [entity, value] of set[name] ?? []) {
        this.#put(entity, name, value)
        const there = token && state.get(entity, token)
        if (there === value) continue
        found ??= token?.kind === 'log' ? this.#inLog(world, entity, name, wholly) : unlike(entity, name, value, there)
      }
    }
    for (const name in appended) {
      for (const [entity, items] of appended[name] ?? []) {
        const log = this.#log(entity, name)
        const from = log.length
        for (const item of items) log.push(item)
        found ??= this.#inLog(world, entity, name, [[from, 0, items]])
      }
    }
    for (const name in spliced) {
      for (const [entity, edits] of spliced[name] ?? []) {
        this.#splice(entity, name, edits)
        found ??= this.#inLog(world, entity, name, edits)
      }
    }
    for (const name in removed) {
      const token = tokens.get(name)
      for (const entity of removed[name] ?? []) {
        this.#entities.get(entity)?.delete(name)
        const there = token && state.get(entity, token)
        found ??= unlike(entity, name, undefined, there)
      }
    }
    if (despawned !== undefined) {
      for (const entity of despawned) {
        this.#entities.delete(entity)
        if (state.entities.has(entity)) found ??= `entity ${entity} is still there`
      }
    }
    return found ?? this.#inHeader(world)
  }

  /** Where a world differs from this, anywhere. Costs what there is. */
  difference(world: World): string | undefined {
    const { state } = world.core
    if (state.entities.size !== this.#entities.size) {
      return `there are ${state.entities.size} entities, and were ${this.#entities.size} to be`
    }
    for (const [entity, values] of this.#entities) {
      if (!state.entities.has(entity)) return `${this.#of(entity)} is not there`
      for (const [name, value] of values) {
        const token = world.core.tokens.get(name)
        const there = token && state.get(entity, token)
        const found = unlike(entity, name, value, there)
        if (found !== undefined) return found
      }
    }
    for (const column of state.columns()) {
      const { name } = column.token
      for (const row of column.rows()) {
        const entity = state.entities.at(row)
        if (this.value(entity, name) === undefined) return unlike(entity, name, undefined, column.get(row))
      }
    }
    return this.#inHeader(world)
  }

  #inHeader(world: World): string | undefined {
    const { tick, nowMs, dateOffsetMs, next, ids } = this.#header
    const { core } = world
    if (core.tick !== tick) return `it is at tick ${core.tick}, and was to be at ${tick}`
    if (core.nowMs !== nowMs) return `its time is ${core.nowMs}, and was to be ${nowMs}`
    if (core.dateOffsetMs !== dateOffsetMs) return `its date is off by ${core.dateOffsetMs - dateOffsetMs} ms`
    if (core.next !== next || core.ids !== ids) {
      return `its counters are at ${core.next} and ${core.ids}, and were to be at ${next} and ${ids}`
    }
    return sameJson(this.#header.random, core.random.state) ? undefined : 'its dice are others'
  }

  #put(entity: Entity, name: string, value: Json): void {
    // A log grows here as it grows there, apart from it.
    this.#entities.get(entity)?.set(name, Array.isArray(value) ? [...(value as readonly Json[])] : value)
  }

  #splice(entity: Entity, name: string, edits: readonly LogEdit[]): void {
    let log: Json[] = this.#log(entity, name)
    for (const [from, deleteCount, items] of edits) {
      log = log.slice(0, from).concat(items, log.slice(from + deleteCount))
    }
    this.#entities.get(entity)?.set(name, log)
  }

  #log(entity: Entity, name: string): Json[] {
    return (this.value(entity, name) ?? []) as Json[]
  }

  #inLog(world: World, entity: Entity, name: string, edits: readonly LogEdit[]): string | undefined {
    const token = world.core.tokens.get(name)
    const there = token && (world.core.state.get(entity, token) as readonly Json[] | undefined)
    const log = this.#log(entity, name)
    if (there?.length !== log.length) {
      return `the log ${name} of entity ${entity} has ${there?.length ?? 'no'} items, and was to have ${log.length}`
    }
    const last = log.length - 1
    let found = log[last] === there[last] ? undefined : unlike(entity, `${name}, item ${last}`, log[last], there[last])
    for (const [from, , items] of edits) {
      for (let index = Math.max(0, from - 1); index <= from + items.length && index < log.length; index++) {
        if (log[index] === there[index]) continue
        found ??= unlike(entity, `${name}, item ${index}`, log[index], there[index])
      }
    }
    return found
  }

  #of(entity: Entity): string {
    return `entity ${entity} (${[...(this.#entities.get(entity)?.keys() ?? [])].join(', ')})`
  }
}

/** A log that is new: its end is looked at. */
const wholly: readonly LogEdit[] = [[0, 0, []]]

/** Longest value that is told whole. */
const maxShownChars = 200

/** What is to be said if two values do not say the same. */
function unlike(entity: Entity, what: string, wanted: Json | undefined, came: Json | undefined): string | undefined {
  if (sameJson(wanted, came)) return undefined
  return `entity ${entity}, ${what}: expected ${shown(wanted)}, came ${shown(came)}`
}

function shown(value: Json | undefined): string {
  const text = value === undefined ? 'nothing' : JSON.stringify(value)
  return text.length <= maxShownChars ? text : `${text.slice(0, maxShownChars)}…`
}
