import type { OutcomeData } from '../../protocol/failure.ts'
import type { InputOf, StandardInput } from '../../protocol/input.ts'
import type { Records } from '../../stores/records.ts'
import type { Entity } from '../../world/component.ts'
import type { OwnInput } from '../../world/input.ts'
import type { World } from '../../world/world.ts'
import type { StreamEvent } from '../loop/events.ts'

/** Where the work of an effect keeps values that its world knows by handles. */
export interface ValuePlace {
  readonly records: Records
  /** Longest content that the world itself has to keep, in bytes. Absent: the records outlive the Runner. */
  readonly maxKeptBytes: number | undefined
  /** Resolves once the world has committed it. Rejects if the Runner has stopped or failed. */
  readonly enter: (input: InputOf<'handle-kept'>) => Promise<unknown>
}

/** What a session keeps from others while it waits to be admitted. */
export interface HeldPlace {
  leave(): void
  enter(place: 'return'): Promise<unknown>
}

/** What the work of an effect gets. Its functions may be destructured. */
export interface EffectContext {
  readonly effect: Entity
  readonly attempt: number
  /** Unique to this effect; the same after a restart. */
  readonly key: string
  /** Aborted when the effect is settled otherwise, or the Runner stops. */
  /** Made when it is first asked for, as most work never looks. */
  readonly signal: AbortSignal
  /** What `signal.aborted` says, without a signal. */
  readonly isAborted: boolean
  /** Aborts the signal. The effect continues, and its work settles it. */
  readonly breakOff: (reason: string) => void
  /** Waits on the Runner's clock. */
  readonly sleep: (durationMs: number) => Promise<void>
  /** Emits an event to listeners before any commit. */
  readonly emit: (event: StreamEvent) => void
  /** @deprecated Use `emit`. */
  readonly tell: (event: StreamEvent) => void
  /**
   * Of a `resumable` effect, which has not begun before: resolves once it is marked as running, or cancelled.
   * @param place what it gives back while its world holds it, and takes again before it asks once more
   */
  readonly admit: (place?: HeldPlace) => Promise<void>
  /** Waits for something that neither time nor this effect's own work causes; a virtual clock may advance meanwhile. */
  readonly wait: <T>(promise: Promise<T>) => Promise<T>
  readonly values: ValuePlace
  /** Posts an input to the world under an id: resolves once it is committed, now or before. */
  readonly post: (input: StandardInput | OwnInput, id: string) => Promise<unknown>
  /** Calls this once the world has taken the outcome, or goes on without it. */
  readonly whenGone: (call: () => void) => void
  /** The Runner stops: what is called off now begins again at the next start. */
  readonly isStopping: boolean
}

/** Does an effect. Returns its outcome; what it throws becomes an `internal` failure. */
export type Work = (context: EffectContext) => OutcomeData | Promise<OutcomeData>

/** How a kind of effects is done. */
export interface EffectKind {
  /** The queue in which the effect waits for a slot; absent: it needs none. */
  queue?(world: World, effect: Entity): string | undefined
  /** The effect waits for others and does little itself: it takes no slot of `maxInFlight`. @default false */
  readonly isWaiting?: boolean
  /**
   * Reads what is to be done, right after the commit, and returns the work, which begins when there is a slot. `undefined`:
   * nothing is done; the effect waits for the input that ends it.
   */
  prepare(world: World, effect: Entity): Work | undefined
}
