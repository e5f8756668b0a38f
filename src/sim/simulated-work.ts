import type { EffectContext } from '../engine/effects/effect-kind.ts'
import type { Entity } from '../world/component.ts'
import type { ModelRequest } from '../models/port.ts'
import { thrownMessage } from '../rules/text/thrown-message.ts'
import { isThenable } from '../world/is-thenable.ts'
import type { Chance } from './chance.ts'
import type { Fault, FaultName, FaultSite } from './fault.ts'
import type { FaultPlan } from './fault-plan.ts'
import { never } from './process-clock.ts'
import { inSimulation, presentWorker, type RealUse, type Worker } from './real-use.ts'

/** A call of a model or a tool that is about to be made. */
interface CallFacts {
  readonly kind: 'model' | 'tool'
  /** Of the tool, or of the model's provider. */
  readonly name: string
  /** `<world>/<effect>`, as the Runner gives it. */
  readonly key: string
  readonly attempt: number
  /** The world that calls. @default that of the key; a session that is resumed has keys of the one that it goes on with */
  readonly world?: string
  /** What a model is asked. Absent: it is a tool that is called. */
  readonly request?: ModelRequest
}

/** A call that begins. */
export interface BegunCall extends CallFacts {
  /** The label of its world. */
  readonly label: string
  readonly effect: Entity
}

/** What simulated work needs of the process that does it. */
export interface WorkOwner {
  readonly chance: Chance
  readonly plan: FaultPlan
  readonly underway: Underway
  readonly isDead: () => boolean
  readonly struck: (fault: Fault) => void
  /** Work begins. */
  readonly called: (call: BegunCall) => void
  /** Work has used the real clock or real dice. */
  readonly usedReal: (use: RealUse) => void
  /** A model cannot be gone on with: it threw, or gave no answer. */
  readonly modelBroke: (message: string) => void
  /** A world's label. */
  readonly label: (world: string) => string
}

/** What a simulated call goes by, and who works on it. */
export class SimulatedCall {
  /** Its place, such as `team tool 3`. */
  readonly at: string
  readonly #owner: WorkOwner
  readonly #outer: Worker | undefined
  readonly #facts: CallFacts
  readonly #label: string
  readonly #sleep: Sleep

  /** @param outer whose business the clock is */
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

  /** It has used the real clock or real dice. */
  tell(use: RealUse): void {
    this.#owner.usedReal(use)
  }

  /**
   * Does something of it in its name, after so much time if it is to take any. Until then there is a timer and nothing
   * else: a crowd waits for long.
   */
  async does<T>(work: () => T | Promise<T>, afterMs?: number): Promise<T> {
    if (afterMs !== undefined) await this.#sleep(afterMs)
    const { underway, isDead } = this.#owner
    if (isDead()) return never()
    underway.begin(this)
    try {
      const begun = inSimulation(this, work, undefined)
      const result = isThenable(begun) ? await begun : begun
      return isDead() ? await never() : result
    } catch (error) {
      if (isDead()) return await never()
      throw error
    } finally {
      underway.end(this)
    }
  }

  /** Sleeps in the midst of it on the simulation's clock, whose business is not this call's. */
  async sleep(durationMs: number): Promise<void> {
    const { underway, isDead } = this.#owner
    underway.end(this)
    try {
      await inSimulation(this.#outer, this.#sleep, durationMs)
    } finally {
      underway.begin(this)
    }
    if (isDead()) await never()
  }
}

type Sleep = EffectContext['sleep']

/** Calls of models and tools as one simulated process makes them: they die with it, and faults strike them. */
export class SimulatedWork {
  readonly #owner: WorkOwner
  readonly #outer = presentWorker()

  constructor(owner: WorkOwner) {
    this.#owner = owner
  }

  /**
   * Makes a call, under the place that it has in the run.
   *
   * @param course what becomes of it, and when
   */
  call<T>(facts: CallFacts, sleep: Sleep, course: (call: SimulatedCall) => Promise<T>): Promise<T> {
    const { isDead, called, label } = this.#owner
    if (isDead()) return never()
    const { key, world: caller } = facts
    const end = key.lastIndexOf('/')
    const world = label(caller ?? key.slice(0, end))
    const call = new SimulatedCall(this.#owner, facts, world, this.#outer, sleep)
    called({ ...facts, label: world, effect: Number(key.slice(end + 1)) })
    return course(call)
  }

  /** A model threw, or gave no answer: the run is over, with what was thrown. */
  broke({ at, name }: SimulatedCall, what: string, error?: unknown): void {
    if (this.#owner.isDead()) return
    const thrown =
      error === undefined ? '' : `: ${error instanceof Error ? (error.stack ?? error.message) : thrownMessage(error)}`
    this.#owner.modelBroke(`${name} ${what}${thrown} (at '${at}')`)
  }

  /** The fault that strikes at a place and fits, if any; it is written to the trace. */
  strike(site: FaultSite, at: string, fits: (what: FaultName) => boolean): Fault | undefined {
    const fault = this.#owner.plan.strike(site, at, fits)
    if (fault !== undefined) this.#owner.struck(fault)
    return fault
  }
}

/** Work of a simulation that goes on in real time: handlers and scripts that have neither ended nor sleep. */
export class Underway {
  readonly #awake = new Set<Worker>()

  /** Who is at work. */
  get names(): readonly string[] {
    return [...this.#awake].map(({ name }) => name)
  }

  begin(worker: Worker): void {
    this.#awake.add(worker)
  }

  /** It has ended, or sleeps on the simulation's clock, which is no work. */
  end(worker: Worker): void {
    this.#awake.delete(worker)
  }
}
