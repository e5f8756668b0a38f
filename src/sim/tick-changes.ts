import type { DrivenStep } from '../engine/effects/host-seams.ts'
import type { LogEdit } from '../world/changes.ts'
import type { Component, Entity, Log } from '../world/component.ts'

/** What a tick changed of one component. */
export class ComponentChanges<V = unknown, Item = unknown> {
  readonly name: string
  set: readonly (readonly [Entity, V])[] = none
  appended: readonly (readonly [Entity, readonly Item[]])[] = none
  spliced: readonly (readonly [Entity, readonly LogEdit[]])[] = none
  removed: readonly Entity[] = none
  /** Bits of the concerns that include each kind of change. */
  readonly bits = { set: 0, appended: 0, spliced: 0, removed: 0 }
  isFresh = false

  constructor(name: string) {
    this.name = name
  }
}

/** Which ticks are relevant to a law. */
export interface Concern {
  readonly set?: readonly Component[]
  readonly appended?: readonly Log[]
  /** Ticks that change one of these other than at its end. */
  readonly spliced?: readonly Log[]
  /** Ticks that remove one of these from an entity that stays. */
  readonly removed?: readonly Component[]
  readonly events?: readonly string[]
  readonly despawned?: boolean
}

const none: readonly never[] = []
const kinds = ['set', 'appended', 'spliced', 'removed'] as const
/** Bits in a number. Further concerns share bits, and see some irrelevant ticks. */
const bits = 32

/** What the newest tick of a run changed, by component: each tick is read once, for all laws of the run. */
export class TickChanges {
  readonly #byName = new Map<string, ComponentChanges>()
  /** By the index of a component, for laws, which ask many times a tick. */
  readonly #byIndex: (ComponentChanges | undefined)[] = []
  readonly #byEvent = new Map<string, number>()
  readonly #byConcern = new Map<Concern, number>()
  readonly #fresh: ComponentChanges[] = []
  #ofDespawned = 0
  #newest: DrivenStep | undefined
  #concerned = 0

  /** Replaces the tick before. Returns the bits of all concerns to which the tick is relevant. */
  look(step: DrivenStep): number {
    this.#forget()
    this.#newest = step
    const { delta, events } = step
    let found = delta.despawned === undefined ? 0 : this.#ofDespawned
    for (const kind of kinds) {
      const rows = delta[kind]
      for (const name in rows) {
        const changes = this.#freshly(name)
        changes[kind] = rows[name] as never
        found |= changes.bits[kind]
      }
    }
    for (const { type } of events) found |= this.#byEvent.get(type) ?? 0
    return (this.#concerned = found)
  }

  of<T>(token: Component & { readonly schema: { readonly _output: T } }): ComponentChanges<T>
  of(token: Component): ComponentChanges
  of({ index, name }: Component): ComponentChanges {
    return this.#byIndex[index] ?? (this.#byIndex[index] = this.#named(name))
  }

  ofLog<T>(token: Log & { readonly schema: { readonly _output: T } }): ComponentChanges<readonly T[], T> {
    return this.of(token as Component) as ComponentChanges<readonly T[], T>
  }

  get all(): readonly ComponentChanges[] {
    return this.#fresh
  }

  /** Whether the tick may be relevant to a concern; false: it is not. */
  concern(concern: Concern): boolean {
    const bit = this.bitOf(concern)
    return (this.#concerned & bit) !== 0
  }

  /** The bit that `look` sets for a concern. */
  bitOf(concern: Concern): number {
    const known = this.#byConcern.get(concern)
    if (known !== undefined) return known
    const { events = [], despawned = false } = concern
    const bit = 1 << (this.#byConcern.size % bits)
    this.#byConcern.set(concern, bit)
    for (const kind of kinds) for (const { name } of concern[kind] ?? []) this.#named(name).bits[kind] |= bit
    for (const type of events) this.#byEvent.set(type, (this.#byEvent.get(type) ?? 0) | bit)
    if (despawned) this.#ofDespawned |= bit
    if (this.#newest !== undefined) this.look(this.#newest)
    return bit
  }

  #forget(): void {
    for (const changes of this.#fresh) {
      changes.set = changes.appended = changes.spliced = changes.removed = none
      changes.isFresh = false
    }
    this.#fresh.length = 0
  }

  #freshly(name: string): ComponentChanges {
    const changes = this.#named(name)
    if (!changes.isFresh) {
      changes.isFresh = true
      this.#fresh.push(changes)
    }
    return changes
  }

  #named(name: string): ComponentChanges {
    let changes = this.#byName.get(name)
    if (changes === undefined) this.#byName.set(name, (changes = new ComponentChanges(name)))
    return changes
  }
}
