import type { z } from 'zod'
import type { Effect } from '../../../components/effects/effect.ts'
import type { StandardInput } from '../../protocol/input.ts'
import type { OwnInput } from '../../world/input.ts'
import type { DeepReadonly, Entity } from '../../world/component.ts'
import type { World } from '../../world/world.ts'
import { type Clock, type Sleep, sleep, type Sleeper } from '../loop/clock.ts'
import type { StreamEvent } from '../loop/events.ts'
import type { EffectContext, HeldPlace, ValuePlace } from './effect-kind.ts'

type EffectData = DeepReadonly<z.infer<typeof Effect.schema>>

export interface JobOwner {
  readonly world: Pick<World, 'name'>
  readonly clock: Clock
  readonly isStopping: boolean
  readonly values: ValuePlace
  admit(job: Job, place?: HeldPlace): Promise<void>
  emit(event: StreamEvent): void
  enter(input: StandardInput | OwnInput, id: string): Promise<unknown>
}

/**
 * One try of an effect, from its commit until it is settled or called off; its work gets it as its context. It waits for a slot,
 * and of class `once` until it is admitted; then its work begins; then it is over: finished with an outcome, or called off.
 */
export class Job implements EffectContext, Sleeper {
  readonly effect: Entity
  readonly attempt: number
  readonly key: string
  /** For the work, from its beginning. */
  readonly timeoutMs: number | undefined
  /** It must be admitted before its work begins. */
  readonly isOnce: boolean
  /** Of class `once`: its world has it as running, or is told so now. */
  isAdmitting = false
  isCalledOff = false
  isOver = false
  /** Cancels the alarm of `timeoutMs`. */
  cancelAlarm: (() => void) | undefined
  /** Gives its slot back; idempotent. */
  leaveSlot: (() => void) | undefined
  readonly #owner: JobOwner
  #controller: AbortController | undefined
  #reason: string | undefined
  #abortReason: DOMException | undefined
  /** Of `breakOff`. */
  #breakReason: DOMException | undefined
  /** Most work sleeps in one place at most. */
  #sleep: Sleep | undefined
  #otherSleeps: Set<Sleep> | undefined
  /** Reasons why the clock need not wait for it: it has not begun, and each of its sleeps. */
  #waits = 1
  #admit: (() => void) | undefined
  #isHeld = false
  #release: (() => void) | undefined
  #whenGone: (() => void) | undefined

  constructor(effect: Entity, { attempt, key, restart, timeoutMs }: EffectData, owner: JobOwner) {
    this.effect = effect
    this.attempt = attempt
    this.key = key ?? `${owner.world.name}/${effect}`
    this.timeoutMs = timeoutMs
    this.isOnce = restart === 'once'
    this.#owner = owner
  }

  // What work gets. Getters of functions, since work takes them out of its context, and few of them.

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController()
      if (this.isAborted) this.#controller.abort(this.#breakReason ?? this.abortReason)
    }
    return this.#controller.signal
  }

  get isAborted(): boolean {
    return this.isCalledOff || this.#breakReason !== undefined
  }

  get breakOff(): EffectContext['breakOff'] {
    return (reason) => {
      this.#breakReason ??= new DOMException(reason, 'AbortError')
      this.#controller?.abort(this.#breakReason)
    }
  }

  get isStopping(): boolean {
    return this.#owner.isStopping
  }

  get sleep(): EffectContext['sleep'] {
    return (durationMs) => sleep(this.#owner.clock, durationMs, this)
  }

  get admit(): EffectContext['admit'] {
    return (place) => this.#outside(this.#owner.admit(this, place))
  }

  get wait(): EffectContext['wait'] {
    return (promise) => this.#outside(promise)
  }

  get post(): EffectContext['post'] {
    return (input, id) => this.#outside(this.#owner.enter(input, id))
  }

  get values(): ValuePlace {
    return this.#owner.values
  }

  get whenGone(): EffectContext['whenGone'] {
    return (call) => {
      if (this.isCalledOff) call()
      else this.#whenGone = call
    }
  }

  get emit(): EffectContext['emit'] {
    return (event) => {
      // Work that was called off is not heard any more, except that what it streamed counts no more.
      if (!this.isOver || (this.isCalledOff && event.type === 'model-discarded')) this.#owner.emit(event)
    }
  }

  get tell(): EffectContext['emit'] {
    return this.emit
  }

  /** The clock does not wait for what goes on outside. */
  async #outside<T>(promise: Promise<T>): Promise<T> {
    this.end()
    try {
      return await promise
    } finally {
      this.begin()
    }
  }

  // Its sleeps.

  get abortReason(): DOMException | undefined {
    if (this.#reason !== undefined) this.#abortReason ??= new DOMException(this.#reason, 'AbortError')
    return this.#abortReason
  }

  asleep(wait: Sleep): void {
    if (this.#sleep === undefined) this.#sleep = wait
    else (this.#otherSleeps ??= new Set()).add(wait)
    this.end()
  }

  awake(wait: Sleep): void {
    if (this.#sleep === wait) this.#sleep = undefined
    else this.#otherSleeps?.delete(wait)
    this.begin()
  }

  // What becomes of it.

  /** Begins, or wakes: unless it sleeps elsewhere too, the clock must not run ahead of it. */
  begin(): void {
    this.#waits--
    if (this.#waits === 0 && !this.isOver) this.#owner.clock.begin?.()
  }

  end(): void {
    this.#waits++
    if (this.#waits === 1 && !this.isOver) this.#owner.clock.end?.()
  }

  /** Its work has an outcome. */
  finish(): void {
    if (this.isOver) return
    this.isOver = true
    this.cancelAlarm?.()
    // What it leaves asleep has no more to do: a timer would hold up the process.
    this.#sleep?.cancel?.()
    if (this.#otherSleeps !== undefined) for (const wait of this.#otherSleeps) wait.cancel?.()
    if (this.#waits === 0) this.#owner.clock.end?.()
  }

  /** Calls its work off, unless it is over. */
  abort(reason: string): void {
    if (this.isOver) return
    this.finish()
    this.isCalledOff = true
    this.#reason = reason
    this.#controller?.abort(this.abortReason)
    this.#sleep?.breakOff()
    for (const wait of this.#otherSleeps ?? []) wait.breakOff()
    this.#admit?.()
    this.#release?.()
    this.leaveSlot?.()
  }

  /** The world has taken its outcome, or goes on without it. */
  gone(): void {
    this.#whenGone?.()
  }

  /** Its world has it as running. */
  admitted(): void {
    this.#admit?.()
  }

  /** Resolves once its world has admitted it, holds it, or has called it off. */
  untilAdmitted(): Promise<void> {
    if (this.isCalledOff) return Promise.resolve()
    return new Promise((resolve) => (this.#admit = resolve))
  }

  /** Its world does not admit it now. */
  get isHeld(): boolean {
    return this.#isHeld
  }

  set isHeld(isHeld: boolean) {
    if (this.#isHeld === isHeld) return
    this.#isHeld = isHeld
    if (isHeld) this.#admit?.()
    else this.#release?.()
  }

  /** Resolves once its world does not hold it any more, or has called it off. */
  untilReleased(): Promise<void> {
    if (!this.#isHeld || this.isCalledOff) return Promise.resolve()
    return new Promise((resolve) => (this.#release = resolve))
  }
}
