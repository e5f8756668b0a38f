import {
  type Shape,
  type ShapesOf,
  callback,
  checkOptions,
  countFromZero,
  finite,
  flag,
  refuseMisfit,
} from '../../base/option-shapes.ts'
import type { Clock } from './clock.ts'

/** Options of `new VirtualClock`. */
export interface VirtualClockOptions {
  /** Unix time at the start. @default 0 */
  readonly dateMs?: number
  /** Jump to the next timer whenever all work waits. @default true */
  readonly auto?: boolean
  /** Called when all work waits and there is no timer to jump to. */
  readonly whenQuiet?: () => void
  /**
   * Asked after a timer has fired, with the milliseconds until the next one: fire the other timers of this instant (`true`),
   * or all of so many milliseconds (a number), until one of them starts work that takes longer. A world then handles them in
   * one tick. @default each with all that follows from it, before the next
   */
  readonly together?: (waitMs: number) => boolean | number
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
  readonly #together: (waitMs: number) => boolean | number
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

  /** The instant of the next timer. `undefined`: there is none. */
  get nextMs(): number | undefined {
    return this.#timers.nextMs
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
    while (this.#timers.isDue(endMs)) this.#fire()
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
      const { nextMs } = this
      const together = nextMs !== undefined && this.#together(Math.max(nextMs - this.#nowMs, 0))
      if (together === false) this.#goOn()
      else this.#fireOthers(this.#nowMs + (together === true ? 0 : together))
    })
  }

  /** Fires the other timers until then, each once the work that one started without waiting is over. */
  #fireOthers(untilMs: number): void {
    const next = (): void => {
      if (!this.#timers.isDue(untilMs) || this.#working !== this.#ticking) return this.#goOn()
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

interface Timer {
  readonly instantMs: number
  readonly fire: () => void
  /** Asked at that instant: skip it. */
  readonly isOff: (() => boolean) | undefined
  readonly sequence: number
  /** Its index in the heap; -1 once it was removed. */
  place: number
}

class TimerHeap {
  readonly #heap: Timer[] = []
  #sequence = 0

  get size(): number {
    return this.#heap.length
  }

  get nextMs(): number | undefined {
    return this.#heap[0]?.instantMs
  }

  isDue(instantMs: number): boolean {
    return this.#heap[0] !== undefined && this.#heap[0].instantMs <= instantMs
  }

  /** Returns a function that removes it; idempotent. */
  add(instantMs: number, fire: () => void, isOff?: () => boolean): () => void {
    const timer = { instantMs, fire, isOff, sequence: this.#sequence++, place: this.#heap.length }
    this.#heap.push(timer)
    this.#rise(timer)
    return () => this.#remove(timer)
  }

  /** The earliest; of one instant, the one added first. */
  take(): Timer | undefined {
    const [first] = this.#heap
    if (first !== undefined) this.#remove(first)
    return first
  }

  #remove(timer: Timer): void {
    const { place } = timer
    if (place === -1) return
    timer.place = -1
    const last = this.#heap.pop() as Timer
    if (last === timer) return
    this.#put(last, place)
    this.#rise(last)
    this.#sink(last)
  }

  #rise(timer: Timer): void {
    while (timer.place > 0) {
      const above = this.#heap[(timer.place - 1) >> 1] as Timer
      if (!isBefore(timer, above)) return
      this.#swap(timer, above)
    }
  }

  #sink(timer: Timer): void {
    for (;;) {
      const left = this.#heap[2 * timer.place + 1]
      const right = this.#heap[2 * timer.place + 2]
      const below = left !== undefined && right !== undefined && isBefore(right, left) ? right : left
      if (below === undefined || !isBefore(below, timer)) return
      this.#swap(timer, below)
    }
  }

  #swap(one: Timer, other: Timer): void {
    const { place } = one
    this.#put(one, other.place)
    this.#put(other, place)
  }

  #put(timer: Timer, place: number): void {
    this.#heap[place] = timer
    timer.place = place
  }
}

function isBefore(one: Timer, other: Timer): boolean {
  return one.instantMs < other.instantMs || (one.instantMs === other.instantMs && one.sequence < other.sequence)
}
