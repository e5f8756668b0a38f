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
  /** Jump to the next timer by itself whenever nothing is under way. @default true */
  readonly auto?: boolean
  /** Called when nothing is under way and there is no timer to jump to: of itself nothing will happen any more. */
  readonly whenQuiet?: () => void
  /**
   * Whether the timers of an instant go off together, as far as nothing that takes longer begins with one of them: a world
   * then takes in one tick what comes of them. @default each with all that follows from it, before the next one
   */
  readonly together?: () => boolean
  /**
   * So many jumps and ticks may follow on one another before the event loop turns for others. A turn takes as long as a
   * small tick. @default 0
   */
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

/**
 * Time that passes only by jumps: from timer to timer as soon as all work waits for the clock, or by `advance`. Hours of
 * an agent's life take no longer than its work.
 */
export class VirtualClock implements Clock {
  readonly #dateMs: number
  readonly #auto: boolean
  readonly #whenQuiet: (() => void) | undefined
  readonly #together: () => boolean
  readonly #stepsWithoutTurn: number
  readonly #timers = new TimerHeap()
  #nowMs = 0
  #working = 0
  /** Worlds among those at work that are only about to tick. */
  #ticking = 0
  #considering = false
  /** Timers go off: until those of their instant have, nobody ticks, and there is no other jump. */
  #isFiring = false
  /** What is to be called one after the other, if the event loop does not see to that. */
  readonly #line: (() => void)[] = []
  /** The first of the line is about to be called. */
  #isServing = false
  #stepsOfTurn = 0

  /** @throws `invalid-argument` */
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

  /** @param isOff asked at that instant: nothing is to happen after all */
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

  /** Lets so much time pass, firing what comes due on the way, in order. @throws `invalid-argument` */
  advance(durationMs: number): void {
    refuseMisfit('VirtualClock.advance', 'durationMs', durationMs, duration)
    const endMs = this.#nowMs + durationMs
    const isDue = (): boolean => this.#timers.size > 0 && (this.#timers.next as Timer).instantMs <= endMs
    while (isDue()) this.#fire()
    this.#nowMs = endMs
  }

  /** Jumps once everything that can go on without time passing has gone on. */
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

  /** Fires the other timers of this instant, each when all that a timer has set off without waiting is over. */
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

  /** Calls this when all that goes on without waiting has gone on: what was to be called before it, too. */
  #afterwards(call: () => void): void {
    if (this.#stepsWithoutTurn === 0) return void setImmediate(call)
    this.#line.push(call)
    this.#serve()
  }

  /** Has the first of the line called, and so on to its end. */
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

  /** Is there a timer left of this instant? */
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

/** From a microtask, nextTick comes once no microtask is left. */
function afterMicrotasks(call: () => void): void {
  void past.then(() => process.nextTick(call))
}
