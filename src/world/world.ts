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
  /** Names the world in stores, locks and events. @default 'world' */
  readonly name?: string
  /**
   * Decides `random` and `newId`. A non-negative integer.
   *
   * @default 1; the first Runner that stores the world then makes `newId` differ from that of other runs
   */
  readonly seed?: number
  /** What it does each tick, in any order. @default none */
  readonly systems?: readonly System[]
  /** Components that may come up by name before they are first used. @default none */
  readonly components?: Iterable<Component>
}

export interface RestoreOptions {
  readonly systems?: readonly System[]
  /** Every component that the snapshot may hold: a list, or a module of them. @default none */
  readonly components?: Iterable<Component> | Readonly<Record<string, unknown>>
  /** Ticks that came after the snapshot, oldest first. */
  readonly deltas?: Iterable<Delta>
  /** Of the world that is made, where it is a copy that goes its own way. @default the saved one's */
  readonly name?: string | undefined
}

/**
 * What a world does each tick. `run` is synchronous and has nothing but the world: no clock, dice, disk, network or
 * environment. Lower priority runs first; equal priority, in order of registration.
 */
export interface System {
  readonly name: string
  readonly priority: number
  readonly run: (world: World) => void
  /**
   * What there must be for `run` to have anything to do, any one of these: an input of this kind; an entity with this
   * component; of a list, an entity with each component, be it one entity or several. A tick in which nothing of it is there
   * skips the system; what earlier systems of the tick have written counts. @default it runs in every tick
   */
  readonly wakes?: readonly Wake[]
  /** Types of events of its own that it emits; those of the standard systems are known. @default none */
  readonly events?: readonly (keyof OwnEvents)[]
  /** Kinds of inputs of its own that it takes. @default none */
  readonly inputs?: readonly (keyof OwnInputs)[]
}

/** The kind of an input, a component, or components that are to be there together. */
export type Wake = string | Component | readonly Component[]

/** Entities, components, time, dice and id counters: data that ticks. */
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
    const isSeed = seed === undefined || (Number.isSafeInteger(seed) && seed >= 0)
    if (!isSeed)
      throw new EntiaError('invalid-argument', `new World: seed is a non-negative integer; came ${shortly(seed)}.`)
    this.name = name
    this.systems = systems.toSorted((a, b) => a.priority - b.priority)
    this.core = new Core(name, seed, tokensOf(components))
    this.seed = this.core.seed
  }

  /**
   * Makes the world that a snapshot tells of. Nothing is half-restored: it is whole, or this throws.
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

  /** Driven time in milliseconds: stands still while nothing drives the world. It alone decides deadlines. */
  get nowMs(): number {
    return this.core.nowMs
  }

  /** Unix time in milliseconds, as of the last start and advanced with `nowMs`. For display and prices, never deadlines. */
  get dateMs(): number {
    return this.core.nowMs + this.core.dateOffsetMs
  }

  /** The number that the next entity gets: all that is spawned from here on has this or a higher one. */
  get nextEntity(): Entity {
    return this.core.next
  }

  /** What this tick brings in, in order of arrival; empty between ticks. */
  get inputs(): readonly Input[] {
    return this.core.underway?.inputs ?? []
  }

  /** A random number of at least 0, below 1, from the world's own dice. */
  random(): number {
    this.core.guard()
    return this.core.random.next()
  }

  /** An id such as `session-0f3c…`: the prefix and 16 hex digits that no other call in this world gives. */
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

  /** Makes an entity of these components. If one of them is refused, there is none. */
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

  /** Removes an entity, and those whose cascading reference names it. Nothing happens if it does not exist. */
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

  /** Adds a component, or replaces it. One a call. */
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

  /** Removes a component. Nothing happens if it is absent. */
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

  /** Appends to a log, making it if absent. Costs what is appended. */
  append<T>(entity: Entity, token: Log<T>, ...items: readonly DeepReadonly<T>[]): void {
    refuseOther(token, 'log')
    const stored = items.map((item) => this.core.check(entity, token, item))
    if (!this.has(entity, token)) return this.core.put(entity, token, stored)
    this.core.note(token)
    this.core.state.append(entity, token, stored)
    this.core.mark(entity, token)
  }

  /**
   * Takes items out of a log at an index and puts others in. Who holds the log's array keeps what it was.
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

  /** Replaces a whole log, making it if absent. */
  rewrite<T>(entity: Entity, token: Log<T>, items: readonly DeepReadonly<T>[]): void {
    refuseOther(token, 'log')
    refuseNoItems(token, items)
    const stored = Array.from(items, (item) => this.core.check(entity, token, item))
    this.core.put(entity, token, stored)
  }

  /**
   * Gives an entity a log of the first so many items of another's log. The items are shared, neither copied nor checked.
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

  /** The same for one component that is asked for rarely: it costs a look at all rows, and nothing is kept for the next time. */
  entitiesWith(token: Component): readonly Entity[] {
    refuseNoToken(token)
    return this.core.state.entitiesWith(token)
  }

  /** The first so many of what `query` gives, without sorting all of it. */
  first(count: number, ...terms: readonly QueryTerm[]): readonly Entity[] {
    if (typeof count !== 'number') refuseMisfit('world.first', 'count', count, countFromZero)
    return this.core.state.entities.first(count, terms)
  }

  /** Does the `ref` component of any entity name this one? */
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
      const expected = "An input is an object whose 'kind' is a text, by which systems pick it"
      throw new EntiaError('invalid-input', `${expected}; came ${inspect(stored)}.`)
    }
    if (this.core.driver === undefined) this.core.inbox.push(stored)
    else this.core.driver.post(stored)
  }

  /** Tells listeners something once this tick is committed. Between ticks nobody listens, and nothing happens. */
  emit(event: WorldEvent): void {
    this.core.underway?.events.push(canonical(event, () => `event '${event.type}'`) as WorldEvent)
  }

  /** Asks for another tick right after this one: some work was left for it. */
  requestTick(): void {
    if (this.core.underway !== undefined) this.core.underway.again = true
  }

  /** The whole world as lines of canonical JSON: same state, same bytes. Costs memory for one entity at a time. */
  snapshot(): Iterable<string> {
    return snapshotLines(this.core)
  }

  /** SHA-256 of the canonical bytes, in hex. */
  hash(options: HashOptions = {}): string {
    return hashWorld(this.core, options)
  }
}

/** A component's value as it may be given out: a log's array goes on growing, and is the world's alone to write. */
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
