import type { EffectContext } from '../engine/effects/effect-kind.ts'
import { thrownMessage } from '../base/thrown-message.ts'
import { isThenable } from '../base/is-thenable.ts'
import type { Clock } from '../engine/loop/clock.ts'
import type { Arrivals } from './arrivals.ts'
import type { Chance, Range } from './chance.ts'
import type { Fault, FaultName, FaultSite } from './fault.ts'
import type { FaultPlan } from './fault-plan.ts'
import type { BegunCall, RunRecorder } from './run-recorder.ts'
import { never } from './process-clock.ts'
import { inSimulation, presentWorker, type RealUse, type Worker } from './real-use.ts'

interface CallFacts extends Omit<BegunCall, 'label' | 'effect'> {
  /** `<world>/<effect>` */
  readonly key: string
  /** The calling world. @default that of the key; a resumed session has keys of the session it resumes */
  readonly world?: string
}

export interface WorkOwner {
  readonly arrivals: Arrivals
  readonly chance: Chance
  readonly plan: FaultPlan
  readonly underway: Underway
  readonly recorder: Pick<RunRecorder, 'break' | 'labels' | 'struck'> & { readonly called: (call: BegunCall) => void }
  readonly isDead: () => boolean
  readonly usedReal: (use: RealUse) => void
}

/** A simulated call, and the worker to whom its use of the real clock is attributed. */
export class SimulatedCall {
  /** Its place, such as `team tool 3`. */
  readonly at: string
  readonly #owner: WorkOwner
  readonly #outer: Worker | undefined
  readonly #facts: CallFacts
  readonly #label: string
  readonly #sleep: Sleep
  /** How much of its work goes on, and in how many places that sleeps. */
  #works = 0
  #sleeps = 0
  /** The first that was asked for, which others ask for again. */
  #latency: { readonly range: Range; readonly ms: number } | undefined

  /** @param outer the worker to whom the clock belongs */
  constructor(owner: WorkOwner, facts: CallFacts, label: string, outer: Worker | undefined, sleep: Sleep) {
    this.#owner = owner
    this.#outer = outer
    this.#facts = facts
    this.#label = label
    this.#sleep = sleep
    this.at = owner.plan.next(label, facts.kind)
  }

  get name(): string {
    const { kind, name } = this.#facts
    return `${kind} '${name}' of ${this.#label}`
  }

  get chance(): Chance {
    return this.#owner.chance
  }

  /** How long it takes, of a range; the same for the same range. */
  latencyMs(range: number | Range): number {
    const { arrivals, chance } = this.#owner
    if (typeof range === 'number') {
      arrivals.endsIn(range)
      return range
    }
    const before = this.#latency
    if (before === undefined) {
      const ms = arrivals.delayMs(range, this.at)
      this.#latency = { range, ms }
      return ms
    }
    const isSame = before.range[0] === range[0] && before.range[1] === range[1]
    return isSame ? before.ms : chance.within(range, `${this.at} latency`)
  }

  tell(use: RealUse): void {
    this.#owner.usedReal(use)
  }

  /** Runs work as this call, after a delay if there is one. Until then only a timer exists: crowds wait long. */
  async does<T>(work: () => T | Promise<T>, afterMs?: number): Promise<T> {
    if (afterMs !== undefined) await this.#sleep(afterMs)
    const { isDead } = this.#owner
    if (isDead()) return never()
    this.#works++
    this.#note()
    try {
      const begun = inSimulation(this, work, undefined)
      const result = isThenable(begun) ? await begun : begun
      return isDead() ? await this.#forgotten() : result
    } catch (error) {
      if (isDead()) return await this.#forgotten()
      throw error
    } finally {
      this.#works--
      this.#note()
    }
  }

  /** Its process is over: nothing waits for what it has done. */
  #forgotten(): Promise<never> {
    this.#owner.underway.end(this)
    return never()
  }

  /** It takes real time while it works, unless it sleeps in a place. A sleep may outlast the work that has left it behind. */
  #note(): void {
    const { underway, isDead } = this.#owner
    if (this.#works > 0 && this.#sleeps === 0 && !isDead()) underway.begin(this)
    else underway.end(this)
  }

  /** Sleeps on the simulation's clock, whose work is not attributed to this call. */
  async sleep(durationMs: number): Promise<void> {
    this.#sleeps++
    this.#note()
    try {
      await inSimulation(this.#outer, this.#sleep, durationMs)
    } finally {
      this.#sleeps--
      this.#note()
    }
    if (this.#owner.isDead()) await this.#forgotten()
  }
}

type Sleep = EffectContext['sleep']

/** Makes the model and tool calls of one simulated process: they die with it, and faults strike them. */
export class SimulatedWork {
  readonly #owner: WorkOwner
  readonly #outer = presentWorker()

  constructor(owner: WorkOwner) {
    this.#owner = owner
  }

  /** @param course performs the call */
  call<T>(facts: CallFacts, sleep: Sleep, course: (call: SimulatedCall) => Promise<T>): Promise<T> {
    const { isDead, recorder } = this.#owner
    if (isDead()) return never()
    const { key, world: caller } = facts
    const end = key.lastIndexOf('/')
    const label = recorder.labels.named(caller ?? key.slice(0, end))
    const call = new SimulatedCall(this.#owner, facts, label, this.#outer, sleep)
    recorder.called({ ...facts, label, effect: Number(key.slice(end + 1)) })
    return course(call)
  }

  /** Breaks the run because a model threw, or returned no answer. */
  broke({ at, name }: SimulatedCall, what: string, error?: unknown): void {
    if (this.#owner.isDead()) return
    const thrown =
      error === undefined ? '' : `: ${error instanceof Error ? (error.stack ?? error.message) : thrownMessage(error)}`
    const meaning = 'No model throws, and each gives an answer or a failure.'
    this.#owner.recorder.break('models-answer', meaning, `${name} ${what}${thrown} (at '${at}')`)
  }

  /** The fault that strikes at a place and fits, if any; it is written to the trace. */
  strike(site: FaultSite, at: string, fits: (what: FaultName) => boolean): Fault | undefined {
    const fault = this.#owner.plan.strike(site, at, fits)
    if (fault !== undefined) this.#owner.recorder.struck(fault)
    return fault
  }
}

/** Work that takes real time: handlers and scripts that neither ended nor sleep. */
export class Underway {
  readonly #awake = new Set<Worker>()
  readonly #clock: Pick<Clock, 'begin' | 'end'> | undefined

  /** @param clock does not run ahead of it. Absent: the clock of the process knows it as work */
  constructor(clock?: Pick<Clock, 'begin' | 'end'>) {
    this.#clock = clock
  }

  get names(): readonly string[] {
    return [...this.#awake].map(({ name }) => name)
  }

  begin(worker: Worker): void {
    if (this.#awake.has(worker)) return
    this.#awake.add(worker)
    this.#clock?.begin?.()
  }

  /** The worker ended, or sleeps on the simulation's clock. */
  end(worker: Worker): void {
    if (this.#awake.delete(worker)) this.#clock?.end?.()
  }
}
