import { canonical } from './canonical.ts'
import type { Delta } from './changes.ts'
import type { Component, DeepReadonly, Entity, Initial, Log, PatchOf, Tag, Value } from './component.ts'
import { Core } from './core.ts'
import { EntiaError } from '../base/entia-error.ts'
import type { QueryTerm } from './entities.ts'
import { canonicalInput, type Input, type OwnEvents, type OwnInputs, type WorldEvent } from './input.ts'
import { refuseNoList, refuseUnknownOptions, shortly } from '../base/known-options.ts'
import type { Json } from '../base/json.ts'
import { countFromZero, givenName, refuseMisfit, text } from '../base/option-shapes.ts'
import { hashText, hex, mix } from './random.ts'
import { itemsOf, readOnly } from './read-only-log.ts'
import { refuseNoSystem } from './refuse-no-system.ts'
import { checkedDeltas, fill, readSnapshot, tokensOf } from './restore.ts'
import { type HashOptions, hashWorld, snapshotLines } from './snapshot.ts'
import type { State } from './state.ts'
import { planOf, type Wake } from './wake-plan.ts'

/** Options of `new World`. */
export interface WorldOptions {
  /** Its name in stores, locks and events. @default 'world' */
  readonly name?: string
  /** Seeds `random` and `newId`. An integer ≥ 0. @default 1, with ids made unique at the first start with a store */
  readonly seed?: number
  /** @default none */
  readonly systems?: readonly System[]
  /** Components to read by name before their first use: a list, or a module of them. @default none */
  readonly components?: Iterable<Component> | Readonly<Record<string, unknown>>
}

/** Options of `World.restore`. */
export interface RestoreOptions {
  readonly systems?: readonly System[]
  /** Every component that the snapshot holds: a list, or a module of them. @default none */
  readonly components?: Iterable<Component> | Readonly<Record<string, unknown>>
  /** The ticks after the snapshot, oldest first. */
  readonly deltas?: Iterable<Delta>
  /** A new name, for a copy. @default the saved name */
  readonly name?: string | undefined
}

/** Runs each tick, synchronously, without clock, randomness or I/O of its own. Equal priorities run as registered. */
export interface System {
  readonly name: string
  readonly priority: number
  readonly run: (world: World) => void
  /**
   * Any of these wakes the system: an input kind, a component, or a list of components that must all be present
   * (on any entities). Checked at its turn. @default it runs in every tick
   */
  readonly wakes?: readonly Wake[]
  /** Its own event types. @default none */
  readonly events?: readonly (keyof OwnEvents)[]
  /** Its own input kinds. @default none */
  readonly inputs?: readonly (keyof OwnInputs)[]
}

/** Entities with components, time, random numbers and id counters. */
export class World {
  readonly name: string
  readonly seed: number
  /** In running order. */
  readonly systems: readonly System[]
  readonly core: Core
  readonly #state: State

  constructor(options: WorldOptions = {}) {
    refuseUnknownOptions('new World', options, ['name', 'seed', 'systems', 'components'])
    refuseNoList('new World', 'systems', options.systems)
    const { name = 'world', seed, systems = [], components = [] } = options
    if (!World.#isRestoring) refuseMisfit('new World', 'name', name, givenName)
    for (const [index, system] of systems.entries()) refuseNoSystem(system, index)
    if (seed !== undefined) refuseMisfit('new World', 'seed', seed, countFromZero)
    this.name = name
    this.systems = systems.toSorted((a, b) => a.priority - b.priority)
    this.core = new Core(name, seed, tokensOf(components), planOf(this.systems))
    this.#state = this.core.state
    this.seed = this.core.seed
  }

  /**
   * All or nothing.
   *
   * @throws `corrupt-snapshot`, `corrupt-journal`, `newer-version`, `unknown-component`, `unknown-entity`, `invalid-value`
   */
  static restore(lines: Iterable<string>, options: RestoreOptions = {}): World {
    refuseUnknownOptions('World.restore', options, ['systems', 'components', 'deltas', 'name'])
    const { systems = [], components = [], deltas = [], name } = options
    const saved = readSnapshot(lines)
    const { seed } = saved.head
    if (name !== undefined) refuseMisfit('World.restore', 'name', name, givenName)
    const world = World.#saved({ name: name ?? saved.head.name, seed, systems, components: tokensOf(components) })
    fill(world.core, saved, checkedDeltas(deltas))
    return world
  }

  /** A saved name stays as it is. */
  static #isRestoring = false

  static #saved(options: WorldOptions): World {
    World.#isRestoring = true
    try {
      return new World(options)
    } finally {
      World.#isRestoring = false
    }
  }

  /** 0 before the first. */
  get tick(): number {
    return this.core.tick
  }

  /** Milliseconds of being driven; the base of all deadlines. */
  get nowMs(): number {
    return this.core.nowMs
  }

  /** Unix time in milliseconds. For display and prices, never deadlines. */
  get dateMs(): number {
    return this.core.nowMs + this.core.dateOffsetMs
  }

  get nextEntity(): Entity {
    return this.core.next
  }

  /** In order of arrival; empty between ticks. */
  get inputs(): readonly Input[] {
    return this.core.underway?.inputs ?? []
  }

  /** In [0, 1). */
  random(): number {
    this.core.guard()
    return this.core.random.next()
  }

  /** Such as `session-0f3c…`: 16 hex digits, unique in this world. */
  newId(prefix: string): string {
    if (typeof prefix !== 'string') refuseMisfit('world.newId', 'prefix', prefix, text)
    this.core.guard()
    const { name, seed } = this
    const { run } = this.core
    const count = ++this.core.ids
    const key = hashText(run === undefined ? `${name}/${seed}` : `${name}/${seed}/${run}`)
    // Two runs whose keys are equal by chance still differ here.
    const other = run === undefined ? mix(key) : hashText(`${run}/${name}`)
    return `${prefix}-${hex(mix(key ^ mix(count)))}${hex(mix((other + count) >>> 0))}`
  }

  /** All or nothing. */
  spawn(...parts: readonly (Initial | Tag)[]): Entity {
    if (this.core.underway === undefined) this.core.guard()
    for (const part of parts)
      if (typeof part !== 'function' && typeof (part as Partial<Initial>)?.token !== 'function') refuseNoPart(part)
    const entity = this.core.next++
    this.core.state.spawn(entity)
    try {
      for (const part of parts) {
        if ('initial' in part) this.core.put(entity, part.token, part.initial)
        else this.add(entity, part)
      }
    } catch (error) {
      this.core.state.despawn(entity)
      throw error
    }
    return entity
  }

  /** Also despawns entities whose cascading reference names it; no-op if it does not exist. */
  despawn(entity: Entity): void {
    if (this.core.underway === undefined) this.core.guard()
    if (this.exists(entity)) this.core.state.despawn(entity)
  }

  exists(entity: Entity): boolean {
    return this.core.state.entities.rowOf.has(entity)
  }

  entities(): readonly Entity[] {
    return this.core.state.entities.all()
  }

  /** The components of an entity, by name. */
  componentsOf(entity: Entity): readonly Component[] {
    return this.core.state.componentsOf(entity)
  }

  has(entity: Entity, token: Component): boolean {
    if (typeof token !== 'function') refuseNoToken(token)
    // Spelled out here, in `get` and in `read`, as most of what a step calls are these three.
    const { columnAt, entities } = this.#state
    const column = columnAt[token.index]
    if (column === undefined || column.count === 0) return false
    const row = entities.rowOf.get(entity)
    if (row === undefined) return false
    const place = row - column.firstRow
    return place >= 0 && place < column.values.length && column.values[place] !== undefined
  }

  /** A value, or a log's items as a read-only array that shows later appends; `undefined` when absent. */
  get<T>(entity: Entity, token: Value<T>): DeepReadonly<T> | undefined
  get<T>(entity: Entity, token: Log<T>): readonly DeepReadonly<T>[] | undefined
  get(entity: Entity, token: Tag): true | undefined
  get(entity: Entity, token: Component): unknown {
    if (typeof token !== 'function') refuseNoToken(token)
    const { columnAt, entities } = this.#state
    const column = columnAt[token.index]
    if (column === undefined || column.count === 0) return undefined
    const row = entities.rowOf.get(entity)
    if (row === undefined) return undefined
    const place = row - column.firstRow
    const value = place >= 0 && place < column.values.length ? column.values[place] : undefined
    return value !== undefined && token.kind === 'log' ? readOnly(value as readonly Json[]) : value
  }

  /** Like `get`. @throws `missing-component` when absent */
  read<T>(entity: Entity, token: Value<T>): DeepReadonly<T>
  read<T>(entity: Entity, token: Log<T>): readonly DeepReadonly<T>[]
  read(entity: Entity, token: Component): unknown {
    if (typeof token !== 'function') refuseNoToken(token)
    const { columnAt, entities } = this.#state
    const column = columnAt[token.index]
    const row = entities.rowOf.get(entity)
    if (column !== undefined && row !== undefined) {
      const place = row - column.firstRow
      const value = place >= 0 && place < column.values.length ? column.values[place] : undefined
      if (value !== undefined) return token.kind === 'log' ? readOnly(value as readonly Json[]) : value
    }
    this.#state.row(entity)
    throw new EntiaError(
      'missing-component',
      `Entity ${entity} has no ${token.name}. Add it first, or use world.get, which gives undefined.`,
      { entity, component: token.name },
    )
  }

  /** Adds or replaces a component. */
  add(entity: Entity, part: Initial | Tag, ...others: readonly never[]): void {
    if (typeof part !== 'function') refuseNoPart(part)
    if (others.length > 0) {
      const what = `Entity ${shortly(entity)}: world.add takes one component, got ${others.length + 1}`
      throw new EntiaError('invalid-argument', `${what}. Call it once for each.`)
    }
    if ('initial' in part) this.core.put(entity, part.token, part.initial)
    else if (part.kind === 'tag') this.core.put(entity, part, true)
    else {
      const { name } = part as Component
      throw new EntiaError('invalid-argument', `Entity ${entity}: ${name} needs a value: write ${name}(…).`)
    }
  }

  /** Removes a component; no-op if it is absent. */
  remove(entity: Entity, token: Component): void {
    if (typeof token !== 'function') refuseNoToken(token)
    this.core.take(entity, token)
  }

  set<T>(entity: Entity, token: Value<T>, value: DeepReadonly<T>): void {
    if (token?.kind !== 'value') refuseOther(token, 'value')
    this.core.put(entity, token, this.core.check(entity, token, value))
  }

  /** Replaces some fields of a value. @throws `missing-component` */
  patch<T>(entity: Entity, token: Value<T>, fields: PatchOf<DeepReadonly<T>>): void {
    refuseOther(token, 'value')
    const value = { ...(this.read(entity, token) as object), ...fields }
    this.core.put(entity, token, this.core.check(entity, token, value, 1))
  }

  /** Appends to a log, adding it if absent. O(items). */
  append<T>(entity: Entity, token: Log<T>, ...items: readonly DeepReadonly<T>[]): void {
    if (token?.kind !== 'log') refuseOther(token, 'log')
    const stored: Json[] = []
    for (const item of items) stored.push(this.core.check(entity, token, item))
    this.core.append(entity, token, stored)
  }

  /** Edits a log at an index; arrays read before do not change. @throws `missing-component`, `invalid-argument` */
  splice<T>(entity: Entity, token: Log<T>, from: number, deleteCount: number, items: readonly DeepReadonly<T>[]): void {
    refuseOther(token, 'log')
    refuseNoItems(token, items)
    const { length } = this.read(entity, token)
    if (!(Number.isInteger(from) && from >= 0 && Number.isInteger(deleteCount) && deleteCount >= 0 && from <= length)) {
      const what = `entity ${entity}, component ${token.name}: cannot take ${shortly(deleteCount)} items out at ${shortly(from)}`
      throw new EntiaError('invalid-argument', `${what}: the log has ${length}.`)
    }
    const stored = Array.from(items, (item) => this.core.check(entity, token, item))
    this.core.splice(entity, token, [from, Math.min(deleteCount, length - from), stored])
  }

  /** Replaces a whole log, adding it if absent. */
  rewrite<T>(entity: Entity, token: Log<T>, items: readonly DeepReadonly<T>[]): void {
    refuseOther(token, 'log')
    refuseNoItems(token, items)
    const stored = Array.from(items, (item) => this.core.check(entity, token, item))
    this.core.put(entity, token, stored)
  }

  /** Sets a log to the first `count` items of another, uncopied. @throws `missing-component`, `invalid-argument` */
  share<T>(from: Entity, source: Log<T>, to: Entity, target: Log<T>, count: number): void {
    refuseOther(source, 'log')
    refuseOther(target, 'log')
    this.core.share(to, target, itemsOf(this.read(from, source)), count, source)
  }

  /** Entities with all of these components and none of the `not(…)` ones, ascending. */
  query(...terms: readonly QueryTerm[]): readonly Entity[] {
    return this.core.state.entities.query(terms)
  }

  /** For rare queries by one component: scans it and caches nothing. */
  entitiesWith(token: Component): readonly Entity[] {
    refuseNoToken(token)
    return this.core.state.entitiesWith(token)
  }

  /** A cache made by `make`: never saved, nor undone with a tick, so validate it against the world. */
  unsaved<T>(make: () => T): T {
    return this.core.unsaved(make)
  }

  /** The first `count` results of `query`, without sorting all. */
  first(count: number, ...terms: readonly QueryTerm[]): readonly Entity[] {
    if (typeof count !== 'number') refuseMisfit('world.first', 'count', count, countFromZero)
    return this.core.state.entities.first(count, terms)
  }

  /** Whether any entity's `ref` component names this one. */
  isReferred(token: Value, entity: Entity): boolean {
    return this.core.state.references.any(token, entity)
  }

  /** Entities whose `ref` component names this one, ascending. */
  referrers(token: Value, entity: Entity): readonly Entity[] {
    return this.core.state.references.to(token, entity)
  }

  /** Queues an input for the next tick; from outside only. @throws `in-tick`, `not-json`, `invalid-input` */
  post(input: Input): void {
    if (this.core.underway !== undefined) {
      throw new EntiaError(
        'in-tick',
        `A system cannot post '${input.kind}': a replay would see it twice. Write a component, and query it next tick.`,
      )
    }
    const stored = canonicalInput(input)
    if (this.core.driver === undefined) this.core.inbox.push(stored)
    else this.core.driver.post(stored)
  }

  /** Emits an event to listeners once this tick is committed; no-op between ticks. */
  emit(event: WorldEvent): void {
    this.core.underway?.events.push(canonical(event, () => `event '${event.type}'`) as WorldEvent)
  }

  /** Requests another tick right after this one, for work that is left over. */
  requestTick(): void {
    if (this.core.underway !== undefined) this.core.underway.again = true
  }

  /** The whole world as lines of canonical JSON: same state, same bytes. Generated one entity at a time. */
  snapshot(): Iterable<string> {
    return snapshotLines(this.core)
  }

  /** SHA-256 of the canonical bytes, in hex. */
  hash(options: HashOptions = {}): string {
    return hashWorld(this.core, options)
  }
}

function refuseNoToken(token: unknown): void {
  if (typeof token === 'function') return
  throw new EntiaError('invalid-argument', `Expected a component such as Conversation, got ${shortly(token)}.`)
}

function refuseOther(token: Component | (() => unknown), kind: Component['kind']): void {
  refuseNoToken(token)
  if ('kind' in token && token.kind === kind) return
  const came = 'kind' in token ? `${token.name}, which is a ${token.kind}` : shortly(token)
  throw new EntiaError('invalid-argument', `Expected a component that is a ${kind}, got ${came}.`)
}

function refuseNoItems({ name }: Component, items: unknown): void {
  if (Array.isArray(items)) return
  throw new EntiaError('invalid-argument', `The items of ${name} must be a list, got ${shortly(items)}.`)
}

function refuseNoPart(part: unknown): void {
  if (typeof part === 'object' && part !== null && 'initial' in part && 'token' in part) {
    if (typeof part.token !== 'function') refuseNoToken(part.token)
    return
  }
  const advice = Array.isArray(part) ? 'Spread the list: world.spawn(...agent({ … })).' : 'Write Name(value).'
  throw new EntiaError('invalid-argument', `An entity is made of components, got ${shortly(part)}. ${advice}`)
}
