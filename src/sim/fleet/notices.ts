import type { VirtualClock } from '../../engine/loop/virtual-clock.ts'
import type { Chance } from '../chance.ts'
import type { Fault } from '../fault.ts'
import type { FaultPlan } from '../fault-plan.ts'
import type { ProcessState } from '../process-clock.ts'
import type { FleetClock } from './fleet-clock.ts'

interface NoticesParts {
  readonly name: string
  readonly shared: VirtualClock
  readonly clock: FleetClock
  readonly chance: Chance
  readonly plan: FaultPlan
  readonly state: () => ProcessState
  readonly isCut: () => boolean
  readonly struck: (fault: Fault) => void
}

type HearLetter = (root: string, world: string) => void

/** How often a process looks at what it has not heard of. */
const lookEachMs = 1_000
const latencyMs = [1, 20] as const

/** News of letters, of the line and of other processes, as they reach one process: some are lost, and then found out by looking. */
export class Notices {
  readonly #parts: NoticesParts
  readonly #ofLetters = new Set<HearLetter>()
  readonly #ofWork = new Set<() => void>()
  readonly #ofState = new Set<() => void>()
  /** Worlds that have got letters of which this process has not heard. */
  readonly #missed = new Map<string, readonly [root: string, world: string]>()

  constructor(parts: NoticesParts) {
    this.#parts = parts
  }

  onLetter(hear: HearLetter): () => void {
    this.#ofLetters.add(hear)
    return () => this.#ofLetters.delete(hear)
  }

  onWork(hear: () => void): () => void {
    this.#ofWork.add(hear)
    return () => this.#ofWork.delete(hear)
  }

  onState(hear: () => void): () => void {
    this.#ofState.add(hear)
    return () => this.#ofState.delete(hear)
  }

  letter(root: string, world: string): void {
    const deliver = (): void => {
      for (const hear of this.#ofLetters) hear(root, world)
    }
    const missed = (): void => void this.#missed.set(`${root} ${world}`, [root, world])
    this.#send(deliver, missed)
  }

  work(): void {
    this.#tell(this.#ofWork)
  }

  state(): void {
    this.#tell(this.#ofState)
  }

  poll(): void {
    const { clock, isCut } = this.#parts
    clock.at(clock.now() + lookEachMs, () => {
      this.poll()
      if (isCut()) return
      const missed = [...this.#missed.values()]
      this.#missed.clear()
      for (const [root, world] of missed) for (const hear of this.#ofLetters) hear(root, world)
    })
  }

  #tell(hearers: ReadonlySet<() => void>): void {
    const deliver = (): void => {
      for (const hear of hearers) hear()
    }
    this.#send(deliver, () => undefined)
  }

  #send(deliver: () => void, missed: () => void): void {
    const { chance, clock, isCut, name, plan, shared, state, struck } = this.#parts
    if (state() !== 'alive') return
    const at = plan.next(name, 'notice')
    const fault = plan.strike('notify', at)
    if (fault !== undefined) struck(fault)
    // A connection that is cut hears nothing; a process that stands still hears it afterwards.
    if (fault !== undefined || isCut()) return missed()
    const isQuick = chance.of(`${at} is quick`) < 0.5
    const ms = isQuick ? 0 : chance.within(latencyMs, at)
    const arrive = (): void => {
      if (clock.isPaused) void clock.awake().then(arrive)
      else if (state() === 'alive') deliver()
    }
    shared.at(shared.now() + ms, arrive)
  }
}
