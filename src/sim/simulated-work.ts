import { AsyncLocalStorage } from 'node:async_hooks'
import type { Chance } from './chance.ts'
import type { Fault, FaultName, FaultSite } from './fault.ts'
import type { FaultPlan } from './fault-plan.ts'
import { never } from './process-state.ts'
import { inSimulation, type RealUse } from './real-use.ts'
import type { Underway } from './underway.ts'

/** A call of a model or a tool that is about to be made. */
export interface CallFacts {
  readonly kind: 'model' | 'tool'
  /** Of the tool, or of the model's provider. */
  readonly name: string
  /** `<world>/<effect>`, as the Runner gives it. */
  readonly key: string
  readonly attempt: number
}

/** What a simulated call goes by. */
export interface SimulatedCall {
  readonly chance: Chance
  /** Its place, such as `team tool 3`. */
  readonly at: string
  /** Sleeps on the simulation's clock. */
  readonly sleeping: (sleep: () => Promise<void>) => Promise<void>
}

/** What simulated work needs of the process that does it. */
export interface WorkOwner {
  readonly chance: Chance
  readonly plan: FaultPlan
  readonly underway: Underway
  readonly isDead: () => boolean
  readonly struck: (fault: Fault) => void
  /** Work begins. */
  readonly called: (call: CallFacts) => void
  /** Work has used the real clock or real dice. */
  readonly usedReal: (use: RealUse) => void
  /** A world's label. */
  readonly label: (world: string) => string
}

/** Calls of models and tools as one simulated process makes them: they die with it, and faults strike them. */
export class SimulatedWork {
  readonly #owner: WorkOwner
  /** Does what is the simulation's own in the middle of some work: as it was when the process began. */
  readonly #outOfWork = AsyncLocalStorage.snapshot()

  constructor(owner: WorkOwner) {
    this.#owner = owner
  }

  /** Does what a call is to do, under the place that it has in the run. */
  async call<T>(facts: CallFacts, work: (call: SimulatedCall) => Promise<T>): Promise<T> {
    const { chance, plan, underway, isDead, called, label, usedReal } = this.#owner
    if (isDead()) return never()
    const world = label(facts.key.slice(0, facts.key.lastIndexOf('/')))
    const at = plan.next(world, facts.kind)
    called(facts)
    const worker = { name: `${facts.kind} '${facts.name}' of ${world}`, tell: usedReal }
    const sleeping = async (sleep: () => Promise<void>): Promise<void> => {
      underway.end(worker)
      try {
        await this.#outOfWork(sleep)
      } finally {
        underway.begin(worker)
      }
      if (isDead()) await never()
    }
    underway.begin(worker)
    try {
      const result = await inSimulation(worker, () => work({ chance, at, sleeping }))
      return isDead() ? await never() : result
    } catch (error) {
      if (isDead()) return await never()
      throw error
    } finally {
      underway.end(worker)
    }
  }

  /** The fault that strikes at a place, if one does and fits; the trace is told of it. */
  strike(site: FaultSite, at: string, fits: (what: FaultName) => boolean): Fault | undefined {
    const fault = this.#owner.plan.strike(site, at, fits)
    if (fault !== undefined) this.#owner.struck(fault)
    return fault
  }
}
