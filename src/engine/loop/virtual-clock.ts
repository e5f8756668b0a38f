import {
  callback,
  checkOptions,
  countFromZero,
  finite,
  flag,
  refuseMisfit,
  type Shape,
  type ShapesOf,
} from '../../world/option-shapes.ts'
import type { Clock } from './clock.ts'
import { type Timer, TimerHeap } from './timer-heap.ts'

export interface VirtualClockOptions {
  /** Unix time at the start. @default 0 */
  readonly dateMs?: number
  /** Jump to the next timer whenever all work waits. @default true */
  readonly auto?: boolean
  /** Called when all work waits and there is no timer to jump to. */
  readonly whenQuiet?: () => void
  /**
   * Fire the timers of one instant together, until one of them starts work that takes longer: a world then handles them in
   * one tick. @default each with all that follows from it, before the next
   */
  readonly together?: () => boolean
  /** Most jumps and ticks in a row before the event loop turns, which takes as long as a small tick. @default 0 */
  readonly stepsWithoutTurn?: number
}

const optionShapes: ShapesOf<VirtualClockOptions> = {
  dateMs: finite,
  auto: flag,
  whenQuiet: callback,
  together: callback,
  stepsWithoutTurn: countFromZero,
}

const duration: Shape = {
  wanted: 'a number of milliseconds of 0 or more',
  fits: (value) => Number.isFinite(value) && (value as number) >= 0,
}

/** Time that jumps from timer to timer as soon as all work waits for the clock, or by `advance`. */
export class VirtualClock implements Clock {
  readonly #dateMs: number
  readonly #auto: boolean
  readonly #whenQuiet: (() => void) | undefined
  readonly #together: () => boolean
  readonly #stepsWithoutTurn: number
  readonly #timers = new TimerHeap()
  #nowMs = 0
  #working = 0
  /** Those of them that are worlds about to tick. */
  #ticking = 0
  #considering = false
  /** Timers are firing: until those of this instant have, no world ticks and there is no other jump. */
  #isFiring = false
  /** Callbacks in order, if the event loop does not order them. */
  readonly #line: (() => void)[] = []
  #isServing = false
  #stepsOfTurn = 0

  constructor(options: VirtualClockOptions = {}) {
    checkOptions('VirtualClock', options, optionShapes)
    const { dateMs = 0, auto = true, whenQuiet, together = () => false, stepsWithoutTurn = 0 } = options
    this.#dateMs = dateMs
    this.#auto = auto
    this.#whenQuiet = whenQuiet
    this.#together = together
    this.#stepsWithoutTurn = stepsWithoutTurn
  }

  now(): number {
    return this.#nowMs
  }

  date(): number {
    return this.#dateMs + this.#nowMs
  }

  /** @param isOff asked at that instant: skip it */
  at(instantMs: number, fire: () => void, isOff?: () => boolean): () => void {
    if (typeof instantMs !== 'number' || Number.isNaN(instantMs))
      refuseMisfit('VirtualClock.at', 'instantMs', instantMs, finite)
    if (typeof fire !== 'function') refuseMisfit('VirtualClock.at', 'fire', fire, callback)
    const cancel = this.#timers.add(instantMs, fire, isOff)
    this.#consider()
    return cancel
  }

  soon(tick: () => void): () => void {
    let isOff = false
    const unlessOff = (): void => {
      if (!isOff) tick()
    }
    this.#afterwards(unlessOff)
    return () => (isOff = true)
  }

  begin(what?: 'tick'): void {
    this.#working++
    if (what === 'tick') this.#ticking++
  }

  end(what?: 'tick'): void {
    this.#working--
    if (what === 'tick') this.#ticking--
    this.#consider()
  }

  /** Lets time pass, firing what comes due in order. @throws `invalid-argument` */
  advance(durationMs: number): void {
    refuseMisfit('VirtualClock.advance', 'durationMs', durationMs, duration)
    const endMs = this.#nowMs + durationMs
    const isDue = (): boolean => this.#timers.size > 0 && (this.#timers.next as Timer).instantMs <= endMs
    while (isDue()) this.#fire()
    this.#nowMs = endMs
  }

  #consider(): void {
    const isOver = this.#timers.size === 0 && this.#whenQuiet === undefined
    if (!this.#auto || this.#considering || this.#isFiring || this.#working > 0 || isOver) return
    this.#considering = true
    this.#afterwards(() => {
      this.#considering = false
      if (this.#working > 0) return
      if (this.#timers.size === 0) return this.#whenQuiet?.()
      this.#isFiring = true
      this.#fire()
      if (this.#isNow && this.#together()) this.#fireOthers()
      else this.#goOn()
    })
  }

  /** Fires the other timers of this instant, each once the work that one started without waiting is over. */
  #fireOthers(): void {
    const next = (): void => {
      if (!this.#isNow || this.#working !== this.#ticking) return this.#goOn()
      this.#fire()
      afterMicrotasks(next)
    }
    afterMicrotasks(next)
  }

  #goOn(): void {
    this.#isFiring = false
    this.#consider()
    this.#serve()
  }

  /** Calls this once work that does not wait is done, in order. */
  #afterwards(call: () => void): void {
    if (this.#stepsWithoutTurn === 0) return void setImmediate(call)
    this.#line.push(call)
    this.#serve()
  }

  #serve(): void {
    if (this.#isServing || this.#isFiring || this.#line.length === 0) return
    this.#isServing = true
    const next = (): void => {
      this.#isServing = false
      this.#line.shift()?.()
      this.#serve()
    }
    if (this.#stepsOfTurn++ < this.#stepsWithoutTurn) return afterMicrotasks(next)
    this.#stepsOfTurn = 0
    setImmediate(next)
  }

  get #isNow(): boolean {
    return this.#timers.size > 0 && (this.#timers.next as Timer).instantMs <= this.#nowMs
  }

  #fire(): void {
    const timer = this.#timers.take()
    if (timer === undefined) return
    this.#nowMs = Math.max(this.#nowMs, timer.instantMs)
    if (timer.isOff?.() !== true) timer.fire()
  }
}

const past = Promise.resolve()

/** From a microtask, nextTick runs once no microtask is left. */
function afterMicrotasks(call: () => void): void {
  void past.then(() => process.nextTick(call))
}
