import type { Header, LogEdit } from '../../world/changes.ts'
import type { Entity } from '../../world/component.ts'
import type { Json } from '../../base/json.ts'
import { allEntities, allValues, headerOf, valueOf } from '../../world/inspection.ts'
import type { World } from '../../world/world.ts'
import type { WatchedTick } from '../law.ts'
import { sameJson } from './same-json.ts'
import type { DrivenStep } from '../../engine/effects/host-seams.ts'

/** The values of one entity, in insertion order: for so few, arrays are faster and smaller than a Map. */
class ShadowRow {
  readonly names: string[] = []
  readonly values: Json[] = []

  get(name: string): Json | undefined {
    const place = this.#place(name)
    return place === -1 ? undefined : this.values[place]
  }

  set(name: string, value: Json): void {
    const place = this.#place(name)
    if (place !== -1) this.values[place] = value
    else {
      this.names.push(name)
      this.values.push(value)
    }
  }

  delete(name: string): void {
    const place = this.#place(name)
    if (place === -1) return
    this.names.splice(place, 1)
    this.values.splice(place, 1)
  }

  #place(name: string): number {
    for (let place = 0; place < this.names.length; place++) if (this.names[place] === name) return place
    return -1
  }
}

/**
 * A copy of a world that is built once from the world, and then from deltas alone. Its values are those of the deltas,
 * frozen and shared.
 */
export class ShadowWorld {
  readonly #entities = new Map<Entity, ShadowRow>()
  #header: Header

  constructor(world: World) {
    this.#header = headerOf(world)
    for (const entity of allEntities(world)) this.#entities.set(entity, new ShadowRow())
    for (const [entity, name, value] of allValues(world)) this.#put(entity, name, value)
  }

  get tick(): number {
    return this.#header.tick
  }

  value(entity: Entity, component: string): Json | undefined {
    return this.#entities.get(entity)?.get(component)
  }

  /**
   * Applies a tick, and returns where the result differs from the world in what the tick touched; of logs, the length,
   * the end and the edits.
   */
  apply({ changes, step, world }: WatchedTick): string | undefined {
    const { delta } = step
    this.#header = delta
    const { spawned, despawned } = delta
    if (spawned !== undefined) for (const entity of spawned) this.#entities.set(entity, new ShadowRow())
    let found: string | undefined
    for (const { name, set, appended, spliced, removed } of changes.all) {
      for (const [entity, value] of set as Rows<Json>) {
        this.#put(entity, name, value)
        const got = valueOf(world, entity, name)
        if (got !== value) found ??= unlike(entity, name, value, got)
      }
      for (const [entity, items] of appended as Rows<readonly Json[]>) {
        const log = this.#log(entity, name)
        const from = log.length
        for (const item of items) log.push(item)
        found ??= this.#inLog(world, entity, name, [[from, 0, items]])
      }
      for (const [entity, edits] of spliced) {
        this.#splice(entity, name, edits)
        found ??= this.#inLog(world, entity, name, edits)
      }
      for (const entity of removed) {
        this.#entities.get(entity)?.delete(name)
        found ??= unlike(entity, name, undefined, valueOf(world, entity, name))
      }
    }
    if (despawned !== undefined) {
      for (const entity of despawned) {
        this.#entities.delete(entity)
        if (world.exists(entity)) found ??= `entity ${entity} is still there`
      }
    }
    return found ?? this.#inHeader(world)
  }

  /** The first difference anywhere. Costs the size of the world. */
  difference(world: World): string | undefined {
    const { length } = allEntities(world)
    if (length !== this.#entities.size) return `there are ${length} entities, expected ${this.#entities.size}`
    let missing = 0
    for (const [entity, { names }] of this.#entities) {
      if (!world.exists(entity)) return `${this.#of(entity)} is missing`
      missing += names.length
    }
    for (const [entity, name, value] of allValues(world)) {
      const wanted = this.value(entity, name)
      const found = wanted === value ? undefined : unlike(entity, name, wanted, value)
      if (found !== undefined) return found
      missing--
    }
    return (missing > 0 ? this.#missing(world) : undefined) ?? this.#inHeader(world)
  }

  #missing(world: World): string | undefined {
    for (const [entity, { names }] of this.#entities) {
      const name = names.find((each) => valueOf(world, entity, each) === undefined)
      if (name !== undefined) return unlike(entity, name, this.value(entity, name), undefined)
    }
    return undefined
  }

  #inHeader(world: World): string | undefined {
    const wanted = this.#header
    const got = headerOf(world)
    for (const field of headerFields) {
      if (got[field] !== wanted[field]) return `its ${field} is ${got[field]}, expected ${wanted[field]}`
    }
    const isSame = wanted.random.every((part, index) => part === got.random[index])
    return isSame ? undefined : 'its dice are others'
  }

  #put(entity: Entity, name: string, value: Json): void {
    // A log is copied: it grows here by deltas alone.
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
    const there = valueOf(world, entity, name) as readonly Json[] | undefined
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
    return `entity ${entity} (${this.#entities.get(entity)?.names.join(', ') ?? ''})`
  }
}

const headerFields = ['tick', 'nowMs', 'dateOffsetMs', 'next', 'ids', 'run'] as const

type Rows<T> = readonly (readonly [Entity, T])[]

const maxShownChars = 200

function unlike(entity: Entity, what: string, wanted: Json | undefined, got: Json | undefined): string | undefined {
  if (sameJson(wanted, got)) return undefined
  return `entity ${entity}, ${what}: expected ${shown(wanted)}, got ${shown(got)}`
}

function shown(value: Json | undefined): string {
  const text = value === undefined ? 'nothing' : JSON.stringify(value)
  return text.length <= maxShownChars ? text : `${text.slice(0, maxShownChars).toWellFormed()}…`
}

/** The worlds of a run as last committed, by name, shared by its laws: the first law that asks applies the tick. */
export class Shadows {
  readonly #byName = new Map<string, ShadowWorld>()
  #about: DrivenStep | World | undefined
  #difference: string | undefined

  get({ name }: World): ShadowWorld | undefined {
    return this.#byName.get(name)
  }

  began(world: World): string | undefined {
    if (this.#about === world) return this.#difference
    this.#about = world
    this.#difference = this.get(world)?.difference(world)
    // Share the values of the new world object from here on.
    if (this.#difference === undefined) this.#byName.set(world.name, new ShadowWorld(world))
    return this.#difference
  }

  /** Where the committed tick differs from the world, in what it touched. */
  ticked(tick: WatchedTick): string | undefined {
    if (this.#about === tick.step) return this.#difference
    this.#about = tick.step
    return (this.#difference = this.get(tick.world)?.apply(tick))
  }
}
