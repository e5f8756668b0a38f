import type { Entity } from '../../world/component.ts'
import { type Clock, sleep } from '../loop/clock.ts'
import type { EffectContext } from './effect-kind.ts'
import type { StreamEvent } from '../loop/events.ts'
import type { Job } from './job.ts'

/** What a job's context asks of the pump that does it. */
export interface JobOwner {
  readonly clock: Clock
  readonly isStopping: () => boolean
  /** Resolves once the world has marked the job's effect as running. */
  readonly admit: (job: Job) => Promise<void>
  readonly tell: (event: StreamEvent) => void
}

/** What the work of one job is given. Its functions may be taken out of it. */
export class JobContext implements EffectContext {
  readonly key: string
  readonly #job: Job
  readonly #owner: JobOwner

  constructor(job: Job, key: string, owner: JobOwner) {
    this.#job = job
    this.#owner = owner
    this.key = key
  }

  get effect(): Entity {
    return this.#job.effect
  }

  get attempt(): number {
    return this.#job.attempt
  }

  get signal(): AbortSignal {
    return this.#job.signal
  }

  get breakOff(): EffectContext['breakOff'] {
    return (reason) => this.#job.breakOff(reason)
  }

  get isStopping(): boolean {
    return this.#owner.isStopping()
  }

  get sleep(): EffectContext['sleep'] {
    return (durationMs) => sleep(this.#owner.clock, durationMs, this.#job)
  }

  get admit(): EffectContext['admit'] {
    return () => outside(this.#job, this.#owner.admit(this.#job))
  }

  get wait(): EffectContext['wait'] {
    return (promise) => outside(this.#job, promise)
  }

  get whenGone(): EffectContext['whenGone'] {
    return (call) => {
      if (this.#job.isCalledOff) call()
      else this.#job.whenGone = call
    }
  }

  get tell(): EffectContext['tell'] {
    return (event) => {
      // Of work that is called off nothing counts any more, and that is the one thing still to be said.
      const { isOver, isCalledOff } = this.#job
      if (!isOver || (isCalledOff && event.type === 'model-discarded')) this.#owner.tell(event)
    }
  }
}

/** What goes on outside a job is no reason for the clock to wait. */
async function outside<T>(job: Job, promise: Promise<T>): Promise<T> {
  job.end()
  try {
    return await promise
  } finally {
    job.begin()
  }
}
