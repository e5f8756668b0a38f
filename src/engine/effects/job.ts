import type { Entity } from '../../world/component.ts'
import type { Clock, Sleep, Sleeper } from '../loop/clock.ts'

/** One try of an effect, from its commit until it is settled or called off. */
export class Job implements Sleeper {
  readonly effect: Entity
  readonly attempt: number
  isCalledOff = false
  /** Has ended, or is called off. */
  isOver = false
  /** Calls its time-out off. */
  timer: (() => void) | undefined
  readonly #clock: Clock
  #controller: AbortController | undefined
  #reason: string | undefined
  #abortReason: DOMException | undefined
  /** Where it sleeps: most work does so in one place at most. */
  #sleep: Sleep | undefined
  #otherSleeps: Set<Sleep> | undefined
  /** Reasons why the clock need not wait for it: it has not begun, and each of its sleeps. */
  #waits = 1
  #admit: (() => void) | undefined
  #whenCalledOff: (() => void) | undefined
  /** Called when the world has done with it. */
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
      if (this.isCalledOff) this.#controller.abort(this.abortReason)
    }
    return this.#controller.signal
  }

  get abortReason(): DOMException | undefined {
    if (this.#reason !== undefined) this.#abortReason ??= new DOMException(this.#reason, 'AbortError')
    return this.#abortReason
  }

  asleep(sleep: Sleep): void {
    if (this.#sleep === undefined) this.#sleep = sleep
    else (this.#otherSleeps ??= new Set()).add(sleep)
    this.end()
  }

  awake(sleep: Sleep): void {
    if (this.#sleep === sleep) this.#sleep = undefined
    else this.#otherSleeps?.delete(sleep)
    this.begin()
  }

  /** Begins, or wakes from a sleep: unless another sleep goes on, the clock must not run ahead of it. */
  begin(): void {
    this.#waits--
    if (this.#waits === 0 && !this.isOver) this.#clock.begin?.()
  }

  /** Waits for the clock. */
  end(): void {
    this.#waits++
    if (this.#waits === 1 && !this.isOver) this.#clock.end?.()
  }

  /** Whatever of it still sleeps or works, nobody waits for it any more. */
  finish(): void {
    if (this.isOver) return
    this.isOver = true
    this.timer?.()
    if (this.#waits === 0) this.#clock.end?.()
  }

  /** Resolves when the world has marked the effect as running, or it is called off. */
  admitted(): Promise<void> {
    return new Promise((resolve) => {
      this.#admit = resolve
      this.whenCalledOff(resolve)
    })
  }

  /** Calls this if it is called off, instead of what was to be called before. */
  whenCalledOff(call: () => void): void {
    if (this.isCalledOff) call()
    else this.#whenCalledOff = call
  }

  admit(): void {
    this.#admit?.()
  }

  /** Breaks its work off, which goes on only to say how it ended. */
  breakOff(reason: string): void {
    this.#controller?.abort(new DOMException(reason, 'AbortError'))
  }

  abort(reason: string): void {
    if (this.isOver) return
    this.finish()
    this.isCalledOff = true
    this.#reason = reason
    this.#controller?.abort(this.abortReason)
    this.#sleep?.breakOff()
    for (const sleep of this.#otherSleeps ?? []) sleep.breakOff()
    this.#whenCalledOff?.()
  }
}
