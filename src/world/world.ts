import { canonical } from './canonical.ts'
import type { Delta } from './changes.ts'
import type { Component, DeepReadonly, Entity, Initial, Log, PatchOf, Tag, Value } from './component.ts'
import { Core } from './core.ts'
import { EntiaError } from './entia-error.ts'
import type { QueryTerm } from './entities.ts'
import type { Input, OwnEvents, OwnInputs, WorldEvent } from './input.ts'
import { inspect } from './inspect.ts'
import { refuseNoList, refuseUnknownOptions, shortly } from './known-options.ts'
import type { Json } from './json.ts'
import { countFromZero, refuseMisfit, text } from './option-shapes.ts'
import { hashText, hex, mix } from './random.ts'
import { itemsOf, readOnly } from './read-only-log.ts'
import { refuseNoSystem } from './refuse-no-system.ts'
import { checkedDeltas, fill, readSnapshot, tokensOf } from './restore.ts'
import { type HashOptions, hashWorld, snapshotLines } from './snapshot.ts'

export interface WorldOptions {
  /** Its name in stores, locks and events. @default 'world' */
  readonly name?: string
  /**
   * Seeds `random` and `newId`. An integer ≥ 0.
   *
   * @default 1; the first Runner that stores the world then makes `newId` differ from that of other runs
   */
  readonly seed?: number
  /** In any order: their priorities order them. @default none */
  readonly systems?: readonly System[]
  /** Components that are read by name before their first use. @default none */
  readonly components?: Iterable<Component>
}

export interface RestoreOptions {
  readonly systems?: readonly System[]
  /** Every component that the snapshot holds: a list, or a module of them. @default none */
  readonly components?: Iterable<Component> | Readonly<Record<string, unknown>>
  /** The ticks after the snapshot, oldest first. */
  readonly deltas?: Iterable<Delta>
  /** A new name, for a copy. @default the saved name */
  readonly name?: string | undefined
}

/**
 * Runs each tick, synchronously, on the world alone: no clock, randomness, I/O or environment of its own. Lower priority
 * runs first; equal priority, in order of registration.
 */
export interface System {
  readonly name: string
  readonly priority: number
  readonly run: (world: World) => void
  /**
   * Conditions, any of which wakes the system: an input of a kind; an entity with a component; for a list, an entity with
   * each of its components (the same one or several). Checked when its turn comes; if none holds, the tick skips it.
   * @default it runs in every tick
   */
  readonly wakes?: readonly Wake[]
  /** Types of its own events that it emits. @default none */
  readonly events?: readonly (keyof OwnEvents)[]
  /** Kinds of its own inputs that it takes. @default none */
  readonly inputs?: readonly (keyof OwnInputs)[]
}

/** An input kind, a component, or components that must all be present. */
export type Wake = string | Component | readonly Component[]

/** Entities with components, time, random numbers and id counters: data that ticks. */
export class World {
  readonly name: string
  readonly seed: number
  /** In the order in which they run. */
  readonly systems: readonly System[]
  /** The engine's side. */
  readonly core: Core

  constructor(options: WorldOptions = {}) {
    refuseUnknownOptions('new World', options, ['name', 'seed', 'systems', 'components'])
    refuseNoList('new World', 'systems', options.systems)
    const { name = 'world', seed, systems = [], components = [] } = options
    refuseMisfit('new World', 'name', name, text)
    for (const [index, system] of systems.entries()) refuseNoSystem(system, index)
    if (seed !== undefined) refuseMisfit('new World', 'seed', seed, countFromZero)
    this.name = name
    this.systems = systems.toSorted((a, b) => a.priority - b.priority)
    this.core = new Core(name, seed, tokensOf(components))
    this.seed = this.core.seed
  }

  /**
   * Restores a world from a snapshot: whole, or this throws.
   *
   * @throws `corrupt-snapshot`, `corrupt-journal`, `newer-version`, `unknown-component`, `unknown-entity`, `invalid-value`
   */
  static restore(lines: Iterable<string>, options: RestoreOptions = {}): World {
    refuseUnknownOptions('World.restore', options, ['systems', 'components', 'deltas', 'name'])
    const { systems = [], components = [], deltas = [], name } = options
    const saved = readSnapshot(lines)
    const { seed } = saved.head
    const world = new World({ name: name ?? saved.head.name, seed, systems, components: tokensOf(components) })
    fill(world.core, saved, checkedDeltas(deltas))
    return world
  }

  /** Number of the last tick; 0 before the first. */
  get tick(): number {
    return this.core.tick
  }

  /** Milliseconds for which the world was driven; stops while nothing drives it. All deadlines use it. */
  get nowMs(): number {
    return this.core.nowMs
  }

  /** Unix time in milliseconds, as of the last start and advanced with `nowMs`. For display and prices, never deadlines. */
  get dateMs(): number {
    return this.core.nowMs + this.core.dateOffsetMs
  }

  /** The number of the next entity. */
  get nextEntity(): Entity {
    return this.core.next
  }

  /** The inputs of this tick, in order of arrival; empty between ticks. */
  get inputs(): readonly Input[] {
    return this.core.underway?.inputs ?? []
  }

  /** A random number in [0, 1), from the world's own generator. */
  random(): number {
    this.core.guard()
    return this.core.random.next()
  }

  /** An id such as `session-0f3c…`: the prefix and 16 hex digits, unique in this world. */
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

  /** Adds an entity with these components; none if one of them is refused. */
  spawn(...parts: readonly (Initial | Tag)[]): Entity {
    this.core.guard()
    for (const part of parts) refuseNoPart(part)
    const entity = this.core.next++
    this.core.state.spawn(entity)
    try {
      for (const part of parts) this.add(entity, part)
    } catch (error) {
      this.core.state.despawn(entity)
      throw error
    }
    return entity
  }

  /** Removes an entity, and those whose cascading reference names it; no-op if it does not exist. */
  despawn(entity: Entity): void {
    this.core.guard()
    if (this.exists(entity)) this.core.state.despawn(entity)
  }

  exists(entity: Entity): boolean {
    return this.core.state.entities.has(entity)
  }

  /** Every entity, ascending. */
  entities(): readonly Entity[] {
    return this.core.state.entities.all()
  }

  /** The components of an entity, by name. */
  componentsOf(entity: Entity): readonly Component[] {
    return this.core.state.componentsOf(entity)
  }

  has(entity: Entity, token: Component): boolean {
    refuseNoToken(token)
    return this.core.state.get(entity, token) !== undefined
  }

  /**
   * A component's value; a log's items, in an array that shows later appends and cannot be written to. `undefined` when
   * absent.
   */
  get<T>(entity: Entity, token: Value<T>): DeepReadonly<T> | undefined
  get<T>(entity: Entity, token: Log<T>): readonly DeepReadonly<T>[] | undefined
  get(entity: Entity, token: Tag): true | undefined
  get(entity: Entity, token: Component): unknown {
    refuseNoToken(token)
    return given(token, this.core.state.get(entity, token))
  }

  /** Like `get`. @throws `missing-component` when absent */
  read<T>(entity: Entity, token: Value<T>): DeepReadonly<T>
  read<T>(entity: Entity, token: Log<T>): readonly DeepReadonly<T>[]
  read(entity: Entity, token: Component): unknown {
    refuseNoToken(token)
    const value = this.core.state.get(entity, token)
    if (value !== undefined) return given(token, value)
    this.core.state.row(entity)
    throw new EntiaError(
      'missing-component',
      `Entity ${entity} has no ${token.name}. Add it first, or use world.get, which gives undefined.`,
      { entity, component: token.name },
    )
  }

  /** Adds or replaces one component. */
  add(entity: Entity, part: Initial | Tag, ...others: readonly never[]): void {
    refuseNoPart(part)
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
    if (!this.has(entity, token)) return this.core.guard()
    this.core.take(entity, token)
  }

  /** Replaces a value. */
  set<T>(entity: Entity, token: Value<T>, value: DeepReadonly<T>): void {
    refuseOther(token, 'value')
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
    refuseOther(token, 'log')
    const stored = items.map((item) => this.core.check(entity, token, item))
    if (!this.has(entity, token)) return this.core.put(entity, token, stored)
    this.core.note(token)
    this.core.state.append(entity, token, stored)
    this.core.mark(entity, token)
  }

  /**
   * Deletes and inserts items of a log at an index. Arrays that were read before do not change.
   *
   * @throws `missing-component`; `invalid-argument` for a place outside the log
   */
  splice<T>(entity: Entity, token: Log<T>, from: number, deleteCount: number, items: readonly DeepReadonly<T>[]): void {
    refuseOther(token, 'log')
    refuseNoItems(token, items)
    this.core.note(token)
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

  /**
   * Sets a log to the first `count` items of another entity's log: shared, neither copied nor checked.
   *
   * @throws `missing-component`; `invalid-argument` for a count outside the log, or for logs of different schemas
   */
  share<T>(from: Entity, source: Log<T>, to: Entity, target: Log<T>, count: number): void {
    refuseOther(source, 'log')
    refuseOther(target, 'log')
    this.core.share(to, target, itemsOf(this.read(from, source)), count, source)
  }

  /** Entities that have all of these components and none of the `not(…)` ones, ascending. */
  query(...terms: readonly QueryTerm[]): readonly Entity[] {
    return this.core.state.entities.query(terms)
  }

  /** Like `query` for one component that is asked for rarely: scans its column, and caches nothing. */
  entitiesWith(token: Component): readonly Entity[] {
    refuseNoToken(token)
    return this.core.state.entitiesWith(token)
  }

  /** The cache that `make` names and creates. Never saved, and not undone with a tick: check it against the world. */
  unsaved<T>(make: () => T): T {
    return this.core.unsaved(make)
  }

  /** The first `count` results of `query`, without sorting all. */
  first(count: number, ...terms: readonly QueryTerm[]): readonly Entity[] {
    if (typeof count !== 'number') refuseMisfit('world.first', 'count', count, countFromZero)
    return this.core.state.entities.first(count, terms)
  }

  /** Whether the `ref` component of any entity names this one. */
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
    const stored = canonical(input, () => 'an input') as Input
    if (typeof (stored as Input | null)?.kind !== 'string') {
      throw new EntiaError('invalid-input', `An input must be an object with a text in 'kind', got ${inspect(stored)}.`)
    }
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

/** A value as callers get it: a log's array is wrapped, since only the world may write to it. */
function given({ kind }: Component, value: Json | undefined): unknown {
  return kind === 'log' && value !== undefined ? readOnly(value as readonly Json[]) : value
}

/** Most often an import that is not there. */
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
  if (typeof part === 'function') return
  if (typeof part === 'object' && part !== null && 'initial' in part && 'token' in part) {
    return refuseNoToken(part.token)
  }
  const advice = Array.isArray(part) ? 'Spread the list: world.spawn(...agent({ … })).' : 'Write Name(value).'
  throw new EntiaError('invalid-argument', `An entity is made of components, got ${shortly(part)}. ${advice}`)
}
