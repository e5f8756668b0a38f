import type { VirtualClock } from '../../engine/loop/virtual-clock.ts'
import type { Chance } from '../chance.ts'
import type { Fault, FaultName } from '../fault.ts'
import type { FaultPlan } from '../fault-plan.ts'
import { never, type ProcessState } from '../process-clock.ts'
import type { FleetClock } from './fleet-clock.ts'

export interface WireParts {
  /** Of the process, in places and in the trace. */
  readonly name: string
  readonly shared: VirtualClock
  readonly clock: FleetClock
  readonly chance: Chance
  readonly plan: FaultPlan
  readonly state: () => ProcessState
  readonly struck: (fault: Fault) => void
  /** The process dies of a fault. */
  readonly crash: (fault: Fault) => void
  /** A fault of the process itself has struck: it stands still, is suspected, or is replaced. */
  readonly befallen: (fault: Fault) => void
}

interface CallOptions<T> {
  /** What is done when the reply was lost. @default the same once more */
  readonly again?: (() => Promise<T>) | undefined
  /** It gives something to this worker: done after the death of the process, nobody knows of it. @default false */
  readonly isTaking?: boolean | undefined
  /** It arrives behind all earlier ones of this kind. @default false */
  readonly isInOrder?: boolean | undefined
  /** It takes so much longer to get there. @default 0 */
  readonly slowMs?: number | undefined
  /** Its place, if it has one. @default the next call */
  readonly at?: string | undefined
}

/** Half of all messages take no time, the others up to this. */
const latencyMs = [1, 10] as const

/** The way of one process to the store and the board that it shares with others. */
export class Wire {
  readonly #parts: WireParts
  #cutUntilMs = 0
  #lastInOrderMs = 0

  constructor(parts: WireParts) {
    this.#parts = parts
  }

  get isCut(): boolean {
    return this.#parts.shared.now() < this.#cutUntilMs
  }

  /** Calls what is shared: there, done, and back. The process may be dead by then, or never learn of it. */
  async call<T>(
    act: () => Promise<T>,
    { again = act, at, isInOrder, isTaking, slowMs }: CallOptions<T> = {},
  ): Promise<T> {
    const { plan, state } = this.#parts
    if (state() !== 'alive') return never()
    const place = at ?? plan.next(this.#parts.name, 'call')
    this.#befall(place)
    const fault = this.#strike(place, isTaking === true)
    if (fault?.what === 'net.late') return this.#late(act, fault)
    await this.#travel(`${place} there`, isInOrder, slowMs)
    let result = this.#counted(act)
    if (fault?.what === 'net.unknown') {
      await Promise.allSettled([result])
      await this.#pass(fault.ms ?? 0)
      if (state() === 'dead') return never()
      result = this.#counted(again)
    }
    return this.#back(result, `${place} back`)
  }

  /** Asks for something that changes nothing, and meets no fault of its own. */
  async look<T>(act: () => Promise<T>): Promise<T> {
    if (this.#parts.state() !== 'alive') return never()
    await this.#healed()
    return this.#back(this.#counted(act))
  }

  /** Does something in the store or on the board. The clock does not run ahead of it. */
  async #counted<T>(act: () => Promise<T>): Promise<T> {
    const { shared } = this.#parts
    shared.begin()
    try {
      return await act()
    } finally {
      shared.end()
    }
  }

  async #back<T>(result: Promise<T>, question?: string): Promise<T> {
    let settled: { readonly value: T } | { readonly error: unknown }
    try {
      settled = { value: await result }
    } catch (error) {
      settled = { error }
    }
    if (question === undefined) await this.#healed()
    else await this.#travel(question)
    if (this.#parts.state() === 'dead') return never()
    if ('error' in settled) throw settled.error
    return settled.value
  }

  async #late<T>(act: () => Promise<T>, fault: Fault): Promise<T> {
    const { crash, shared } = this.#parts
    shared.at(shared.now() + (fault.ms ?? 0), () => void this.#counted(act).catch(() => undefined))
    crash(fault)
    return never()
  }

  #befall(place: string): void {
    const { befallen, plan, struck } = this.#parts
    const fault = plan.strike('process', place)
    if (fault === undefined) return
    struck(fault)
    befallen(fault)
  }

  #strike(place: string, isTaking: boolean): Fault | undefined {
    const { plan, shared, struck } = this.#parts
    const fault = plan.strike('net', place, (what: FaultName) => what !== 'net.late' || isTaking)
    if (fault === undefined) return undefined
    // Its death is written down as the end of the process.
    if (fault.what !== 'net.late') struck(fault)
    if (fault.what === 'net.cut') this.#cutUntilMs = Math.max(this.#cutUntilMs, shared.now() + (fault.ms ?? 0))
    return fault
  }

  async #travel(question: string, isInOrder = false, slowMs = 0): Promise<void> {
    const { chance, shared } = this.#parts
    const isQuick = chance.of(`${question} is quick`) < 0.5
    let ms = slowMs + (isQuick ? 0 : chance.within(latencyMs, question))
    if (isInOrder) {
      const atMs = Math.max(shared.now() + ms, this.#lastInOrderMs)
      this.#lastInOrderMs = atMs
      ms = atMs - shared.now()
    }
    await this.#pass(ms)
    await this.#healed()
  }

  async #pass(ms: number): Promise<void> {
    const { shared } = this.#parts
    if (ms > 0) await new Promise<void>((resolve) => void shared.at(shared.now() + ms, resolve))
  }

  /** Nothing passes while it is cut; the process neither sends nor hears while it stands still. */
  async #healed(): Promise<void> {
    const { clock, shared } = this.#parts
    while (this.isCut || clock.isPaused) {
      if (this.isCut) await this.#pass(this.#cutUntilMs - shared.now())
      if (this.#parts.state() === 'dead') return never()
      await clock.awake()
    }
  }
}
