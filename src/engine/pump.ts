import { Due } from '../../components/due.ts'
import { Effect } from '../../components/effect.ts'
import { Approval } from '../../components/approval.ts'
import type { StandardInput } from '../../components/input.ts'
import type { OutcomeData } from '../../components/outcome.ts'
import { Pending } from '../../components/pending.ts'
import { Running } from '../../components/running.ts'
import { thrownMessage } from '../tools/thrown-message.ts'
import type { Delta } from '../world/changes.ts'
import type { Entity } from '../world/component.ts'
import type { World } from '../world/world.ts'
import { sleep } from './clock.ts'
import type { EffectContext } from './effect-kind.ts'
import type { StreamEvent } from './events.ts'
import type { Host } from './host.ts'
import { Job } from './job.ts'

type Work = (context: EffectContext) => Promise<OutcomeData>

/** Whom a pump reports to. */
export interface PumpOwner {
  post(input: StandardInput): void
  tell(event: StreamEvent): void
  /** An outcome came for work that was called off. */
  dropped(): void
}

/**
 * The only place where a promise starts: does the effects that committed ticks have asked for, calls off those that later
 * ticks have settled, and posts what becomes of them.
 */
export class Pump {
  readonly #world: World
  readonly #host: Host
  readonly #owner: PumpOwner
  readonly #jobs = new Map<Entity, Job>()
  readonly #timers = new Map<Entity, () => void>()
  /** World time is this much behind the clock. */
  #offsetMs = 0

  constructor(world: World, host: Host, owner: PumpOwner) {
    this.#world = world
    this.#host = host
    this.#owner = owner
  }

  /** Nothing is at work, and nothing waits for its time. */
  get isIdle(): boolean {
    return this.#jobs.size === 0 && this.#timers.size === 0
  }

  get inFlight(): number {
    return this.#jobs.size
  }

  /** Takes up everything that the world waits for, at a start. */
  takeUp(offsetMs: number): void {
    this.#offsetMs = offsetMs
    for (const effect of this.#world.query(Due)) this.#setTimer(effect, this.#world.read(effect, Due).atMs)
    for (const effect of this.#world.query(Pending)) {
      this.#setDeadline(effect)
      this.#start(effect)
    }
  }

  /** Follows a committed tick. */
  follow({ set = {}, removed = {}, despawned = [] }: Delta): void {
    for (const effect of despawned) this.#callOff(effect)
    for (const effect of removed[Pending.name] ?? []) if (!this.#world.has(effect, Running)) this.#callOff(effect)
    for (const effect of removed[Running.name] ?? []) this.#callOff(effect)
    for (const [effect] of set[Effect.name] ?? []) this.#setDeadline(effect)
    for (const [effect] of set[Due.name] ?? []) this.#setTimer(effect, this.#world.read(effect, Due).atMs)
    for (const [effect] of set[Pending.name] ?? []) this.#start(effect)
    for (const [effect] of set[Running.name] ?? []) this.#jobs.get(effect)?.admit()
  }

  /** Aborts all work without settling anything. */
  stop(): void {
    for (const cancel of this.#timers.values()) cancel()
    this.#timers.clear()
    for (const job of this.#jobs.values()) job.abort('The Runner was stopped.')
    this.#jobs.clear()
  }

  #start(effect: Entity): void {
    const { kind, attempt } = this.#world.read(effect, Effect)
    const job = new Job(effect, attempt, this.#host.clock)
    this.#jobs.set(effect, job)
    try {
      const doing = this.#host.kind(kind)
      const queue = doing.queue?.(this.#world, effect)
      const work = doing.prepare(this.#world, effect)
      if (work === undefined) return
      // A question to a person takes nobody's slot.
      if (this.#world.has(effect, Approval)) void this.#run(job, work)
      else this.#host.enqueue(queue, () => this.#run(job, work))
    } catch (error) {
      this.#finish(job, { ok: false, failure: { kind: 'internal', message: thrownMessage(error) } })
    }
  }

  /** Resolves when the slot is free again: the work is done, or called off and no longer waited for. */
  async #run(job: Job, work: Work): Promise<void> {
    if (job.isCalledOff) return
    const { effect, attempt } = job
    const { restart, timeoutMs } = this.#world.read(effect, Effect)
    if (restart === 'once') {
      this.#owner.post({ attempt, effect, kind: 'admitted' })
      await job.admitted()
      if (job.isCalledOff) return
    }
    const { clock } = this.#host
    if (timeoutMs !== undefined) job.timer = clock.at(clock.now() + timeoutMs, () => this.#fire(effect, attempt))
    job.begin()
    await new Promise<void>((resolve) => {
      job.whenCalledOff(resolve)
      void this.#do(job, work).then(resolve)
    })
  }

  async #do(job: Job, work: Work): Promise<void> {
    const { clock } = this.#host
    const { effect, attempt } = job
    const context: EffectContext = {
      effect,
      attempt,
      key: `${this.#world.name}/${effect}`,
      get signal() {
        return job.signal
      },
      sleep: (durationMs) => sleep(clock, durationMs, job),
      tell: (event) => {
        // Of work that is called off nothing counts any more, and that is the one thing still to be said.
        if (!job.isOver || (job.isCalledOff && event.type === 'model-discarded')) this.#owner.tell(event)
      },
    }
    try {
      this.#finish(job, await work(context))
    } catch (error) {
      this.#finish(job, { ok: false, failure: { kind: 'internal', message: thrownMessage(error) } })
    }
  }

  #finish(job: Job, outcome: OutcomeData): void {
    const { effect, attempt } = job
    if (job.isCalledOff) return this.#owner.dropped()
    job.finish()
    this.#jobs.delete(effect)
    this.#owner.post({ attempt, effect, kind: 'outcome', outcome })
  }

  #callOff(effect: Entity): void {
    this.#clearTimer(effect)
    const job = this.#jobs.get(effect)
    if (job === undefined) return
    this.#jobs.delete(effect)
    job.abort('The effect was settled without it.')
  }

  #setDeadline(effect: Entity): void {
    const { deadlineMs } = this.#world.read(effect, Effect)
    if (deadlineMs !== undefined) this.#setTimer(effect, deadlineMs)
  }

  #setTimer(effect: Entity, atMs: number): void {
    this.#clearTimer(effect)
    const { attempt } = this.#world.read(effect, Effect)
    const fire = (): void => {
      this.#timers.delete(effect)
      this.#fire(effect, attempt)
    }
    this.#timers.set(effect, this.#host.clock.at(atMs + this.#offsetMs, fire))
  }

  #clearTimer(effect: Entity): void {
    this.#timers.get(effect)?.()
    this.#timers.delete(effect)
  }

  #fire(effect: Entity, attempt: number): void {
    this.#owner.post({ attempt, effect, kind: 'due' })
  }
}
