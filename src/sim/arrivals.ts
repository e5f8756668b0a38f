import type { VirtualClock } from '../engine/loop/virtual-clock.ts'
import type { Chance, Range } from './chance.ts'
import type { Fault } from './fault.ts'
import { type FaultPlan, maxBusyMs } from './fault-plan.ts'

/** At this share of instants, everything due then arrives in one tick. */
const shareTogether = 0.7
/** At one instant, at most this many arrive one by one. */
const maxApart = 3
/** So many ends are known that another one may share. */
const maxEnds = 8

interface ArrivalsParts {
  readonly chance: Chance
  readonly plan: FaultPlan
  readonly clock: VirtualClock
  readonly struck: (fault: Fault) => void
}

/** Decides what arrives in one tick, as the event loop does where calls end close to one another. */
export class Arrivals {
  readonly #parts: ArrivalsParts
  /** Instants at which something ends that was begun, the newest last. */
  readonly #ends: number[] = []
  #atMs = -1
  #asked = 0

  constructor(parts: ArrivalsParts) {
    this.#parts = parts
  }

  /**
   * How long something takes. By `latency.together` it ends with something else that is under way.
   * @param at its place
   */
  delayMs(range: Range, at: string, question = `${at} latency`): number {
    const { chance } = this.#parts
    const delayMs = this.#together(range, at) ?? chance.within(range, question)
    this.endsIn(delayMs)
    return delayMs
  }

  /** Something ends then that others may end with. */
  endsIn(delayMs: number): void {
    if (this.#ends.length === maxEnds) this.#ends.shift()
    this.#ends.push(this.#parts.clock.now() + delayMs)
  }

  /**
   * What the clock does about its next timer after one has fired: waits, fires it, or fires all of the next milliseconds.
   * @param waitMs until the next timer
   */
  comeTogether(waitMs: number): boolean | number {
    if (waitMs > 0) return waitMs <= maxBusyMs && this.#busyMs(waitMs)
    const nowMs = this.#parts.clock.now()
    if (this.#atMs !== nowMs) [this.#atMs, this.#asked] = [nowMs, 0]
    this.#asked++
    return this.#asked > maxApart || this.#parts.chance.of(`together at ${nowMs}`) < shareTogether
  }

  #busyMs(waitMs: number): number | false {
    const { plan, struck } = this.#parts
    if (!plan.has('loop')) return false
    const at = plan.next('loop', 'turn')
    const fault = plan.strike('loop', at, (_, ms) => !plan.isDrawn || ms >= waitMs)
    if (fault !== undefined) struck(fault)
    return fault?.ms ?? false
  }

  #together([min, max]: Range, at: string): number | undefined {
    const { chance, clock, plan, struck } = this.#parts
    if (min === max || !plan.has('latency')) return undefined
    const nowMs = clock.now()
    const shared = this.#ends.map((end) => end - nowMs).filter((ms) => ms > 0 && ms >= min && ms <= max)
    if (plan.isDrawn && shared.length === 0) return undefined
    const ms = shared.length === 0 ? undefined : chance.pick(shared, `${at} together with`)
    const fault = plan.strike('latency', at, undefined, ms)
    if (fault !== undefined) struck(fault)
    return fault?.ms
  }
}
