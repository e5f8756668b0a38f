import type { MayCall } from './allowance-effect.ts'
import type { Listeners } from './listeners.ts'
import type { SessionSlot } from './session-slot.ts'

/** What ties the Runner of a session to that of its parent. */
export interface Lineage {
  /** The root world, in whose database all worlds below it lie. */
  readonly root: string
  /** Ids of the sessions above and its own, outermost first. */
  readonly path: readonly string[]
  /** The parent's, which hear of everything here. */
  readonly listeners: Listeners
  /** Absent: it runs without one, as a query does. */
  readonly slot: SessionSlot | undefined
  /** Of a subtask: asks its caller's world. */
  readonly mayCall?: MayCall | undefined
  /** Called after each tick, once it is committed. */
  readonly committed: () => void
  /** Called when the Runner fails. */
  readonly failed: (error: Error) => void
}
