import type { StandardInput } from '../../protocol/input.ts'
import type { OwnInput } from '../../world/input.ts'
import type { Entity } from '../../world/component.ts'
import { type Clock, type Sleep, sleep, type Sleeper } from '../loop/clock.ts'
import type { StreamEvent } from '../loop/events.ts'
import type { EffectContext, HeldPlace, ValuePlace } from './effect-kind.ts'

/** One try of an effect, from its commit until it is settled or called off. */
export class Job implements Sleeper {
  readonly effect: Entity
  readonly attempt: number
  isCalledOff = false
  isOver = false
  /** It is of class `once`, and its world has it as running or is told so now. */
  isOnce = false
  timer: (() => void) | undefined
  readonly #clock: Clock
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
  #whenCalledOff: (() => void) | undefined
  /** Called once the world has taken its outcome, or goes on without it. */
  whenGone: (() => void) | undefined

  constructor(effect: Entity, attempt: number, clock: Clock) {
    this.effect = effect
    this.attempt = attempt
    this.#clock = clock
  }

  /** Made when first asked for: most work never looks. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController()
      if (this.isAborted) this.#controller.abort(this.#breakReason ?? this.abortReason)
    }
    return this.#controller.signal
  }

  /** What `signal.aborted` says, without a signal. */
  get isAborted(): boolean {
    return this.isCalledOff || this.#breakReason !== undefined
  }

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

  /** Begins, or wakes: unless it sleeps elsewhere too, the clock must not run ahead of it. */
  begin(): void {
    this.#waits--
    if (this.#waits === 0 && !this.isOver) this.#clock.begin?.()
  }

  end(): void {
    this.#waits++
    if (this.#waits === 1 && !this.isOver) this.#clock.end?.()
  }

  finish(): void {
    if (this.isOver) return
    this.isOver = true
    this.timer?.()
    // What it leaves asleep has no more to do: a timer would hold up the process.
    this.#sleep?.cancel?.()
    for (const wait of this.#otherSleeps ?? []) wait.cancel?.()
    if (this.#waits === 0) this.#clock.end?.()
  }

  /** Resolves once its world has admitted it, holds it, or has called it off. */
  admitted(): Promise<void> {
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
  released(): Promise<void> {
    if (!this.#isHeld || this.isCalledOff) return Promise.resolve()
    return new Promise((resolve) => (this.#release = resolve))
  }

  whenCalledOff(call: () => void): void {
    if (this.isCalledOff) call()
    else this.#whenCalledOff = call
  }

  admit(): void {
    this.#admit?.()
  }

  /** Aborts the signal; its work still settles it. */
  breakOff(reason: string): void {
    this.#breakReason ??= new DOMException(reason, 'AbortError')
    this.#controller?.abort(this.#breakReason)
  }

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
    this.#whenCalledOff?.()
  }
}

export interface JobOwner {
  readonly clock: Clock
  readonly isStopping: boolean
  admit(job: Job, place?: HeldPlace): Promise<void>
  emit(event: StreamEvent): void
  readonly values: ValuePlace
  enter(input: StandardInput | OwnInput, id: string): Promise<unknown>
}

/** Getters, since work takes functions out of its context, and few of them. */
export class JobContext implements EffectContext {
  readonly key: string
  readonly #job: Job
  readonly #owner: JobOwner

  constructor(job: Job, key: string, owner: JobOwner) {
    this.#job = job
    this.#owner = owner
    this.key = key
  }

  get effect(): Entity {
    return this.#job.effect
  }

  get attempt(): number {
    return this.#job.attempt
  }

  get signal(): AbortSignal {
    return this.#job.signal
  }

  get isAborted(): boolean {
    return this.#job.isAborted
  }

  get breakOff(): EffectContext['breakOff'] {
    return (reason) => this.#job.breakOff(reason)
  }

  get isStopping(): boolean {
    return this.#owner.isStopping
  }

  get sleep(): EffectContext['sleep'] {
    return (durationMs) => sleep(this.#owner.clock, durationMs, this.#job)
  }

  get admit(): EffectContext['admit'] {
    return (place) => outside(this.#job, this.#owner.admit(this.#job, place))
  }

  get wait(): EffectContext['wait'] {
    return (promise) => outside(this.#job, promise)
  }

  get post(): EffectContext['post'] {
    return (input, id) => outside(this.#job, this.#owner.enter(input, id))
  }

  get values(): ValuePlace {
    return this.#owner.values
  }

  get whenGone(): EffectContext['whenGone'] {
    return (call) => {
      if (this.#job.isCalledOff) call()
      else this.#job.whenGone = call
    }
  }

  get emit(): EffectContext['emit'] {
    return (event) => {
      // Work that was called off is not heard any more, except that what it streamed counts no more.
      const { isOver, isCalledOff } = this.#job
      if (!isOver || (isCalledOff && event.type === 'model-discarded')) this.#owner.emit(event)
    }
  }

  get tell(): EffectContext['emit'] {
    return this.emit
  }
}

/** The clock does not wait for what goes on outside a job. */
async function outside<T>(job: Job, promise: Promise<T>): Promise<T> {
  job.end()
  try {
    return await promise
  } finally {
    job.begin()
  }
}
