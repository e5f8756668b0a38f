import type { Entity } from './component.ts'
import type { Json } from './json.ts'
import type { RandomState } from './random.ts'

/** A rewrite of a log in one place: so many items taken out at an index, these put in. */
export type LogEdit = readonly [from: number, deleteCount: number, items: readonly Json[]]

/**
 * What changed, by component name; entities and names ascend. A component of a despawned entity is not listed again.
 * What is empty is absent.
 */
export type Changes = {
  readonly spawned?: readonly Entity[]
  readonly despawned?: readonly Entity[]
  /** New values, whole; a tag's is `true`. */
  readonly set?: ByComponent<readonly [Entity, Json]>
  /** Items that a log got at its end. */
  readonly appended?: ByComponent<readonly [Entity, readonly Json[]]>
  /** Logs that changed elsewhere than at their end, as edits in order. */
  readonly spliced?: ByComponent<readonly [Entity, readonly LogEdit[]]>
  readonly removed?: ByComponent<Entity>
}

export type ByComponent<T> = Readonly<Record<string, readonly T[]>>

/** The parts of a world's state that are no entity's. */
export type Header = {
  readonly tick: number
  readonly nowMs: number
  /** `dateMs` is `nowMs` and this. */
  readonly dateOffsetMs: number
  /** The number that the next entity gets. */
  readonly next: Entity
  /** How many ids `newId` has given. */
  readonly ids: number
  readonly random: RandomState
  /** Of a world whose seed was left out, from its first start with a store on: makes its ids differ from those of other runs. */
  readonly run?: string | undefined
}

/** One tick's changes: O(what changed). Applied to the world before the tick it gives the world after it. */
export type Delta = Changes &
  Header & {
    /** Versions of the components in `set`, where above 1. */
    readonly versions?: Readonly<Record<string, number>>
  }

/** What a change from outside did, as an input: a replay makes it again without its function. */
export type ChangeInput = Changes & { readonly kind: 'change'; readonly header: Header }
