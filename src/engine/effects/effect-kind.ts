import type { OutcomeData } from '../../protocol/failure.ts'
import type { Entity } from '../../world/component.ts'
import type { World } from '../../world/world.ts'
import type { StreamEvent } from '../loop/events.ts'

/** What the work of an effect is given. */
export interface EffectContext {
  readonly effect: Entity
  readonly attempt: number
  /** The same over restarts, and no other effect's. */
  readonly key: string
  /** Aborted when the effect is settled otherwise, or the Runner stops. */
  readonly signal: AbortSignal
  /** Aborts the signal. The effect goes on, and settles as its work says. */
  readonly breakOff: (reason: string) => void
  /** Waits on the Runner's clock. */
  readonly sleep: (durationMs: number) => Promise<void>
  /** Tells listeners something before any commit. */
  readonly tell: (event: StreamEvent) => void
  /**
   * Of a `resumable` effect: resolves once the world has marked it as running, or it is called off. Until then it is as
   * if it had not begun.
   */
  readonly admit: () => Promise<void>
  /** Waits for something that neither time nor this effect's own work brings about; a virtual clock may go on meanwhile. */
  readonly wait: <T>(promise: Promise<T>) => Promise<T>
  /** Calls this once the world has taken the outcome, or goes on without it. */
  readonly whenGone: (call: () => void) => void
  /** The Runner stops: what is called off now begins again at the next start. */
  readonly isStopping: boolean
}

/** What an effect does. Gives its outcome, at once or later; what it throws becomes an `internal` failure. */
export type Work = (context: EffectContext) => OutcomeData | Promise<OutcomeData>

/** How effects of one kind are done. */
export interface EffectKind {
  /** The queue in which the effect waits for a slot; absent: it needs none. */
  queue?(world: World, effect: Entity): string | undefined
  /** It waits for others and does little itself: it takes no place among the effects at work. @default false */
  readonly isWaiting?: boolean
  /**
   * Reads what is to be done, right after the commit, and gives the work, which begins when there is a slot. `undefined`:
   * there is nothing to do but wait for the input that ends it.
   */
  prepare(world: World, effect: Entity): Work | undefined
}
