import type { OutcomeData } from '../../components/outcome.ts'
import type { Entity } from '../world/component.ts'
import type { World } from '../world/world.ts'
import type { StreamEvent } from './events.ts'

/** What the work of an effect is given. */
export interface EffectContext {
  readonly effect: Entity
  readonly attempt: number
  /** The same over restarts, and no other effect's. */
  readonly key: string
  /** Aborted when the effect is settled otherwise, or the Runner stops. */
  readonly signal: AbortSignal
  /** Waits on the Runner's clock. */
  readonly sleep: (durationMs: number) => Promise<void>
  /** Tells listeners something before any commit. */
  readonly tell: (event: StreamEvent) => void
}

/** How effects of one kind are done. */
export interface EffectKind {
  /** The queue in which the effect waits for a slot; absent: it needs none. */
  queue?(world: World, effect: Entity): string | undefined
  /**
   * Reads what is to be done, right after the commit, and gives the work, which begins when there is a slot. What the work
   * throws becomes an `internal` failure. `undefined`: there is nothing to do but wait for the input that ends it.
   */
  prepare(world: World, effect: Entity): ((context: EffectContext) => Promise<OutcomeData>) | undefined
}
