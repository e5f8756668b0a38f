import type { Entity } from './component.ts'
import type { Json } from '../base/json.ts'
import type { RandomState } from './random.ts'

/** A change of a log. */
export type LogEdit = readonly [from: number, deleteCount: number, items: readonly Json[]]

/** By component name; entities and names ascend. Empty parts are absent, as are components of despawned entities. */
export type Changes = {
  readonly spawned?: readonly Entity[]
  readonly despawned?: readonly Entity[]
  /** A tag's is `true`. */
  readonly set?: ByComponent<readonly [Entity, Json]>
  readonly appended?: ByComponent<readonly [Entity, readonly Json[]]>
  /** Edits in order, for logs that did not only grow. */
  readonly spliced?: ByComponent<readonly [Entity, readonly LogEdit[]]>
  readonly removed?: ByComponent<Entity>
}

export type ByComponent<T> = Readonly<Record<string, readonly T[]>>

/** The state that belongs to no entity. */
export type Header = {
  readonly tick: number
  readonly nowMs: number
  /** `dateMs` − `nowMs`. */
  readonly dateOffsetMs: number
  readonly next: Entity
  /** Ids given by `newId`. */
  readonly ids: number
  readonly random: RandomState
  /** Makes ids differ between runs of a world without a seed; set at its first start with a store. */
  readonly run?: string | undefined
}

/** One tick's changes. */
export type Delta = Changes &
  Header & {
    /** Of the components in `set`, where above 1. */
    readonly versions?: Readonly<Record<string, number>>
  }

/** A change from outside as an input, so that a replay can repeat it. */
export type ChangeInput = Changes & { readonly kind: 'change'; readonly header: Header }
