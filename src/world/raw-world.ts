import type { Delta, Header } from './changes.ts'
import type { Component, Entity } from './component.ts'
import { EntiaError } from '../base/entia-error.ts'
import type { Input } from './input.ts'
import type { Json } from '../base/json.ts'
import { readSnapshot } from './restore.ts'
import {
  hashWorld,
  type HashOptions,
  itemsPerLine,
  type Saveable,
  type SnapshotHead,
  snapshotLines,
} from './snapshot.ts'
import { State } from './state.ts'
import type { Past } from './tracking.ts'

/** What is known of a component without its schema. */
export interface RawComponent {
  readonly kind: Component['kind']
  /** The field that names another entity. */
  readonly ref?: string | undefined
}

/** A step that was taken, to be taken back. */
export interface TakenStep {
  readonly header: Header
  readonly inbox: readonly Input[]
  readonly past: Past
}

/**
 * A world without schemas and systems: it shows what was saved, components that no one here knows included, and moves by
 * deltas to any tick and back.
 */
export class RawWorld implements Saveable {
  readonly name: string
  readonly seed: number
  readonly state = new State()
  readonly #known: Readonly<Record<string, RawComponent>>
  readonly #tokens = new Map<string, Component>()
  #header: Header
  #inbox: readonly Input[]

  /**
   * @param lines of a snapshot
   * @param known components, by name. One that is not known is a log if it is a list
   * @throws `corrupt-snapshot`, `newer-version`
   */
  static restore(lines: Iterable<string>, known: Readonly<Record<string, RawComponent>> = {}): RawWorld {
    const { content, head } = readSnapshot(lines)
    const world = new RawWorld(head, known)
    for (const line of content) {
      if ('log' in line) world.state.append(line.entity, world.#log(line.log), line.more)
      else {
        world.state.spawn(line.entity)
        for (const [name, value] of Object.entries(line.has)) {
          world.#meet(name, value, head.components[name] ?? 1, Array.isArray(value) && value.length <= itemsPerLine)
          world.state.put(line.entity, world.token(name), value)
        }
      }
    }
    return world
  }

  private constructor({ header, inbox, name, seed }: SnapshotHead, known: Readonly<Record<string, RawComponent>>) {
    this.name = name
    this.seed = seed
    this.#known = known
    this.#header = headerIn(header)
    this.#inbox = inbox
  }

  get header(): Header {
    return this.#header
  }

  get inbox(): readonly Input[] {
    return this.#inbox
  }

  get tick(): number {
    return this.#header.tick
  }

  get nowMs(): number {
    return this.#header.nowMs
  }

  /** Unix time in milliseconds. */
  get dateMs(): number {
    return this.#header.nowMs + this.#header.dateOffsetMs
  }

  /** Applies the next tick. @throws `corrupt-journal` */
  forward(delta: Delta): TakenStep {
    const { tick } = this
    const where = `tick ${delta.tick} of world '${this.name}'`
    if (delta.tick !== tick + 1)
      throw new EntiaError('corrupt-journal', `${where} does not follow tick ${tick}. Use another copy.`)
    for (const [name, rows] of Object.entries(delta.set ?? {})) {
      for (const [, value] of rows) this.#meet(name, value, delta.versions?.[name] ?? 1, true)
    }
    const { state } = this
    const { next } = delta
    state.tracking.begin()
    try {
      state.apply(delta, (name) => this.token(name), { from: this.#header.next, next, where })
    } catch (error) {
      state.undo()
      throw error
    }
    const taken = { header: this.#header, inbox: this.#inbox, past: state.tracking.past() }
    state.tracking.forget()
    this.#header = headerIn(delta)
    // What had arrived before the snapshot is part of the first tick after it.
    this.#inbox = []
    return taken
  }

  /** Takes the newest step back. */
  back({ header, inbox, past }: TakenStep): void {
    this.state.takeBack(past)
    this.#header = header
    this.#inbox = inbox
  }

  /** SHA-256 of the canonical bytes, in hex: that of the World whose snapshot this is. */
  hash(options: HashOptions = {}): string {
    return hashWorld(this, options)
  }

  /** The lines of a snapshot, under this name or another. */
  snapshot(name = this.name): readonly string[] {
    const { header, inbox, seed, state } = this
    return [...snapshotLines({ header, inbox, name, seed, state, token: (component) => this.token(component) })]
  }

  /** Writes a value between ticks, in a copy that goes its own way. @throws `unknown-entity` */
  put(entity: Entity, name: string, value: Json, version = 1): void {
    this.#meet(name, value, version, true)
    this.state.put(entity, this.token(name), value)
  }

  /** Replaces an item of a log. @throws `unknown-entity` */
  replaceItem(entity: Entity, name: string, index: number, item: Json): void {
    this.state.splice(entity, this.#log(name), [index, 1, [item]])
  }

  /** Removes a component, if the entity has it. @throws `unknown-entity` */
  remove(entity: Entity, name: string): void {
    const token = this.#tokens.get(name)
    if (token !== undefined) this.state.take(entity, token)
  }

  get entities(): readonly Entity[] {
    return this.state.entities.all()
  }

  get size(): number {
    return this.state.entities.rowOf.size
  }

  has(entity: Entity): boolean {
    return this.state.entities.rowOf.has(entity)
  }

  value(entity: Entity, name: string): Json | undefined {
    const token = this.#tokens.get(name)
    return token && this.state.get(entity, token)
  }

  /** By name. */
  valuesOf(entity: Entity): readonly (readonly [name: string, value: Json])[] {
    if (!this.has(entity)) return []
    return this.state.componentsOf(entity).map((token) => [token.name, this.state.get(entity, token) as Json])
  }

  /** Components that an entity has now, and how many have them, by name. */
  get components(): readonly { readonly name: string; readonly kind: Component['kind']; readonly count: number }[] {
    return this.state
      .columns()
      .filter(({ count }) => count > 0)
      .map(({ count, token: { kind, name } }) => ({ name, kind, count }))
  }

  /** Entities that have all of these components and none of those, ascending; without components, all that have none of those. */
  query(wanted: readonly string[], unwanted: readonly string[] = []): readonly Entity[] {
    const has = (entity: Entity, name: string): boolean => this.value(entity, name) !== undefined
    const [first, ...others] = wanted
    const among = first === undefined ? this.entities : this.entitiesWith(first)
    if (others.length === 0 && unwanted.length === 0) return among
    return among.filter(
      (entity) => others.every((name) => has(entity, name)) && !unwanted.some((name) => has(entity, name)),
    )
  }

  entitiesWith(name: string): readonly Entity[] {
    const token = this.#tokens.get(name)
    return token === undefined ? [] : this.state.entitiesWith(token)
  }

  /** The entities whose component of this name points to an entity. */
  referrers(name: string, entity: Entity): readonly Entity[] {
    const token = this.#tokens.get(name)
    return token?.kind === 'value' ? this.state.references.to(token, entity) : []
  }

  /** All that point to an entity, with the component that does. */
  allReferrers(entity: Entity): readonly (readonly [name: string, from: Entity])[] {
    return this.state.references.all(entity).map(([token, from]) => [token.name, from])
  }

  /** The field of a component that names another entity. */
  refOf(name: string): string | undefined {
    return this.#known[name]?.ref
  }

  /** @throws `corrupt-journal` for a component that has no value yet */
  token(name: string): Component {
    const token = this.#tokens.get(name)
    if (token !== undefined) return token
    throw new EntiaError('corrupt-journal', `World '${this.name}' has no component '${name}' that could change.`)
  }

  #log(name: string): Component & { readonly kind: 'log' } {
    const token = this.token(name)
    if (token.kind === 'log') return token
    // Only a log is saved on several lines. What was read as a value cannot grow, so a log's own copy takes its place.
    const log = this.#become(token, 'log') as Component & { readonly kind: 'log' }
    for (const entity of this.state.entitiesWith(log)) this.state.put(entity, log, this.state.get(entity, log) as Json)
    return log
  }

  /** A component gets a value, perhaps its first here. What is said of its kind counts where the value fits. */
  #meet(name: string, value: Json, version: number, isPerhapsLog: boolean): void {
    const known = this.#tokens.get(name)
    if (known === undefined) {
      const guess = Array.isArray(value) && isPerhapsLog ? 'log' : 'value'
      const kind = this.#known[name]?.kind ?? guess
      this.#make(name, fits(kind, value) ? kind : 'value', version)
    } else if (!fits(known.kind, value)) this.#become(known, 'value')
  }

  #make(name: string, kind: Component['kind'], version: number): void {
    const ref = kind === 'value' ? this.#known[name]?.ref : undefined
    const index = this.#tokens.size
    this.#tokens.set(name, { name, index, kind, version, ref, cascade: false } as Component)
  }

  #become(token: Component, kind: Component['kind']): Component {
    return Object.assign(token, { kind })
  }
}

/** In the order in which a World saves it, on which its hash depends. */
function headerIn({ dateOffsetMs, ids, next, nowMs, random, run, tick }: Header): Header {
  return { tick, nowMs, dateOffsetMs, next, ids, random, ...(run !== undefined && { run }) }
}

function fits(kind: Component['kind'], value: Json): boolean {
  if (kind === 'value') return true
  return kind === 'log' ? Array.isArray(value) : value === true
}
