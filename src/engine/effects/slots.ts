import PQueue from 'p-queue'
import type { Clock } from '../loop/clock.ts'

/** Begins work in a slot. The function that it gets gives the slot back; idempotent. */
export type Begin = (leave: () => void) => void

export interface SlotsNow {
  readonly running: number
  readonly waiting: number
  /** Absent: no limit. */
  readonly max: number | undefined
  /** On the clock: until then nothing begins. */
  readonly heldUntilMs: number | undefined
}

/**
 * Room for so much work at once: sessions of a pool, calls of a provider, all effects of a Host. Work begins at once while
 * there is room; p-queue holds work that has to wait, and a job in it lasts one stay in a slot.
 */
export class Slots {
  #max: number
  #line: PQueue | undefined
  /** Stays that began without waiting, which the line does not count. */
  #direct = 0
  /** Of these, those that end in this moment. */
  #ending = 0
  #running = 0
  #hold: { readonly untilMs: number; readonly cancel: () => void } | undefined

  /** In a microtask, as in p-queue: what returns to the line in the same moment goes ahead. */
  readonly #endAll = (): void => {
    this.#direct -= this.#ending
    this.#ending = 0
    if (this.#line !== undefined && this.#line.size > 0) this.#fit()
  }

  constructor(max: number) {
    this.#max = max
  }

  get running(): number {
    return this.#running
  }

  get isHeld(): boolean {
    return this.#hold !== undefined
  }

  /** How it stands, for people who look. */
  get now(): SlotsNow {
    return {
      running: this.#running,
      waiting: this.#line?.size ?? 0,
      max: this.#max === Infinity ? undefined : this.#max,
      heldUntilMs: this.#hold?.untilMs,
    }
  }

  /**
   * Begins work in a slot, behind all that waits already. `begin` gets the function that gives the slot back; idempotent.
   * What need not begin any more gives it back at once.
   * @param isReturning it had a slot before, and goes ahead of work that never had one
   */
  take(begin: Begin, isReturning = false): void {
    const isRoom = this.#hold === undefined && this.#direct + (this.#line?.pending ?? 0) < this.#max
    if (!isRoom || (this.#line?.size ?? 0) > 0) return this.#wait(begin, isReturning)
    this.#direct++
    this.#stay(begin)
  }

  /** From now on there is room for so much. What has begun goes on. */
  resize(max: number): void {
    if (max === this.#max) return
    this.#max = max
    if (this.#line !== undefined) this.#fit()
  }

  /** Begins nothing for so long. Returns the instant, on the clock, at which it continues. */
  hold(clock: Clock, durationMs: number): number {
    const untilMs = Math.max(clock.now() + durationMs, this.#hold?.untilMs ?? 0)
    this.cancelHold()
    this.#line?.pause()
    const release = (): void => {
      this.#hold = undefined
      this.#fit()
    }
    this.#hold = { untilMs, cancel: clock.at(untilMs, release) }
    return untilMs
  }

  cancelHold(): void {
    this.#hold?.cancel()
    this.#hold = undefined
  }

  #wait(begin: Begin, isReturning: boolean): void {
    const line = (this.#line ??= new PQueue())
    // While something waits, work that ends keeps the line fitted.
    if (line.size === 0) this.#fit()
    void line.add(() => new Promise<void>((resolve) => this.#stay(begin, resolve)), { priority: isReturning ? 1 : 0 })
  }

  /** @param end of a stay that the line counts */
  #stay(begin: Begin, end?: () => void): void {
    this.#running++
    let isOver = false
    begin(() => {
      if (isOver) return
      isOver = true
      this.#running--
      if (end !== undefined) end()
      else if (this.#ending++ === 0) queueMicrotask(this.#endAll)
    })
  }

  /** Leaves the line as much room as work that began without waiting does not take. */
  #fit(): void {
    const line = this.#line
    if (line === undefined) return
    const room = this.#max - this.#direct
    if (this.isHeld || room <= 0) return line.pause()
    line.concurrency = room
    line.start()
  }
}
