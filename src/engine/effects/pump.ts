import { Due, Effect, Pending, Running } from '../../../components/effects/effect.ts'
import type { StandardInput } from '../../protocol/input.ts'
import type { OutcomeData } from '../../protocol/failure.ts'
import type { RestartClass } from '../../protocol/tool-declaration.ts'
import { thrownMessage } from '../../rules/text/thrown-message.ts'
import type { Entity } from '../../world/component.ts'
import type { World } from '../../world/world.ts'
import { isThenable } from '../../world/is-thenable.ts'
import type { EffectKind, Work } from './effect-kind.ts'
import type { StreamEvent } from '../loop/events.ts'
import type { Host } from './host.ts'
import { Job } from './job.ts'
import { JobContext, type JobOwner } from './job-context.ts'

/** Components by which an effect says what is to be done about it. */
const followed = [Due, Effect, Pending, Running]

/** Work, and what its effect said of it in the tick that it follows from. */
interface Order {
  readonly work: Work
  readonly restart: RestartClass
  readonly timeoutMs: number | undefined
}

/** Whom a pump reports to. */
export interface PumpOwner {
  post(input: StandardInput): void
  tell(event: StreamEvent): void
  /** The world has done with an effect, or the try of it that was at work. */
  gone(effect: Entity): void
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
  readonly #kindOf: (name: string) => EffectKind
  #isStopping = false
  readonly #jobOwner: JobOwner
  readonly #jobs = new Map<Entity, Job>()
  /** Jobs whose outcome is on its way into the world: they are known until it is there, so that they are not begun again. */
  #finished = 0
  readonly #timers = new Map<Entity, () => void>()
  /** World time is this much behind the clock. */
  #offsetMs = 0
  /** What begins after the first tick. */
  readonly #heldBack: Entity[] = []

  /** @param kindOf finds how effects of a kind are done */
  constructor(world: World, host: Host, owner: PumpOwner, kindOf: (name: string) => EffectKind) {
    this.#world = world
    this.#host = host
    this.#owner = owner
    this.#kindOf = kindOf
    this.#jobOwner = {
      clock: host.clock,
      isStopping: () => this.#isStopping,
      admit: (job) => this.#admit(job),
      tell: (event) => owner.tell(event),
    }
  }

  /** Nothing is at work, and nothing waits for its time. */
  get isIdle(): boolean {
    return this.#jobs.size === 0 && this.#timers.size === 0
  }

  get inFlight(): number {
    return this.#jobs.size - this.#finished
  }

  /**
   * Takes up everything that the world waits for, at a start.
   *
   * @param reruns pending effects that begin only when the tick of the start has given them another try
   */
  takeUp(offsetMs: number, reruns: readonly Entity[]): void {
    this.#offsetMs = offsetMs
    this.#heldBack.push(...reruns)
    const { state } = this.#world.core
    // Straight from the columns: bitECS is not to follow these components for one look at the start.
    // What ran only once does not begin again; what goes on from a journal goes on ahead of what waits.
    const goingOn = state.entitiesWith(Running).filter((effect) => this.#isResumable(effect))
    const pending = reruns.length === 0 ? state.entitiesWith(Pending) : withoutAny(state.entitiesWith(Pending), reruns)
    for (const effect of [...state.entitiesWith(Due), ...goingOn, ...pending]) this.#follow(effect)
  }

  /** Follows the tick that has just been committed. */
  follow(): void {
    const { state } = this.#world.core
    for (const effect of state.despawned) this.#callOff(effect)
    for (const effect of state.written(followed)) this.#follow(effect)
    for (const effect of this.#heldBack.splice(0)) if (this.#world.exists(effect)) this.#follow(effect)
  }

  /** Does for an effect what its components call for by now. */
  #follow(effect: Entity): void {
    const { attempt, deadlineMs } = this.#world.get(effect, Effect) ?? {}
    const job = this.#jobs.get(effect)
    const dueMs = this.#world.get(effect, Due)?.atMs
    if (this.#world.has(effect, Running)) {
      // Without a job it was running when the last process ended.
      if (job !== undefined) job.admit()
      else if (this.#isResumable(effect)) this.#start(effect)
    } else if (!this.#world.has(effect, Pending)) this.#callOff(effect)
    else if (job?.attempt !== attempt) this.#start(effect)
    if (dueMs !== undefined) this.#setTimer(effect, dueMs)
    else if (deadlineMs !== undefined && this.#jobs.has(effect)) this.#setTimer(effect, deadlineMs, true)
  }

  /**
   * Aborts all work without settling anything.
   *
   * @param forGood nothing of it is to begin again: sessions end as well
   */
  stop(forGood = false): void {
    this.#isStopping = !forGood
    for (const cancel of this.#timers.values()) cancel()
    this.#timers.clear()
    for (const job of this.#jobs.values()) {
      job.abort('The Runner was stopped.')
      job.whenGone?.()
    }
    this.#jobs.clear()
    this.#finished = 0
  }

  #isResumable(effect: Entity): boolean {
    return this.#world.get(effect, Effect)?.restart === 'resumable'
  }

  #start(effect: Entity): void {
    const { kind, attempt, restart, timeoutMs } = this.#world.read(effect, Effect)
    this.#forget(effect)
    this.#clearTimer(effect)
    const job = new Job(effect, attempt, this.#host.clock)
    this.#jobs.set(effect, job)
    try {
      const doing = this.#kindOf(kind)
      const queue = doing.queue?.(this.#world, effect)
      const work = doing.prepare(this.#world, effect)
      if (work === undefined) return
      // It may be in line for long, and begin while a tick is being committed that has it no more: what it goes by is
      // what the tick said that it follows from.
      const begin = (free: () => void): void => this.#run(job, { work, restart, timeoutMs }, free)
      if (doing.isWaiting === true) begin(() => undefined)
      else this.#host.enqueue(queue, begin)
    } catch (error) {
      this.#finish(job, thrown(error), () => undefined)
    }
  }

  /** @param free called when the work is done, or called off and no longer waited for */
  #run(job: Job, { work, restart, timeoutMs }: Order, free: () => void): void {
    if (job.isCalledOff) return free()
    if (restart !== 'once') this.#begin(job, work, timeoutMs, free)
    else void this.#admit(job).then(() => (job.isCalledOff ? free() : this.#begin(job, work, timeoutMs, free)))
  }

  #begin(job: Job, work: Work, timeoutMs: number | undefined, free: () => void): void {
    const { clock } = this.#host
    const { effect, attempt } = job
    if (timeoutMs !== undefined) job.timer = clock.at(clock.now() + timeoutMs, () => this.#fire(effect, attempt))
    job.begin()
    job.whenCalledOff(free)
    const key = this.#world.get(effect, Effect)?.key ?? `${this.#world.name}/${effect}`
    let outcome: OutcomeData | Promise<OutcomeData>
    try {
      outcome = work(new JobContext(job, key, this.#jobOwner))
    } catch (error) {
      outcome = thrown(error)
    }
    if (isThenable(outcome)) void this.#await(job, outcome, free)
    else this.#finish(job, outcome, free)
  }

  async #await(job: Job, outcome: Promise<OutcomeData>, free: () => void): Promise<void> {
    try {
      this.#finish(job, await outcome, free)
    } catch (error) {
      this.#finish(job, thrown(error), free)
    }
  }

  async #admit(job: Job): Promise<void> {
    const { effect, attempt } = job
    if (job.isCalledOff || this.#world.has(effect, Running)) return
    this.#owner.post({ attempt, effect, kind: 'admitted' })
    await job.admitted()
  }

  /** @param free called when it has ended, however it has */
  #finish(job: Job, outcome: OutcomeData, free: () => void): void {
    const { effect, attempt } = job
    if (job.isCalledOff) this.#owner.dropped()
    else {
      job.finish()
      this.#finished++
      this.#owner.post({ attempt, effect, kind: 'outcome', outcome })
    }
    free()
  }

  #callOff(effect: Entity): void {
    this.#clearTimer(effect)
    this.#forget(effect)?.abort('The effect was settled without it.')
  }

  #forget(effect: Entity): Job | undefined {
    const job = this.#jobs.get(effect)
    if (job?.isOver === true) this.#finished--
    this.#jobs.delete(effect)
    job?.whenGone?.()
    if (job !== undefined) this.#owner.gone(effect)
    return job
  }

  #setTimer(effect: Entity, atMs: number, isDeadline = false): void {
    this.#clearTimer(effect)
    const { attempt } = this.#world.read(effect, Effect)
    const { clock } = this.#host
    const fire = (): void => {
      this.#timers.delete(effect)
      this.#fire(effect, attempt)
    }
    // What ends at its deadline has ended: all else that is to happen at this instant goes first.
    const fireLast = (): void => void this.#timers.set(effect, clock.at(clock.now(), fire))
    this.#timers.set(effect, clock.at(atMs + this.#offsetMs, isDeadline ? fireLast : fire))
  }

  #clearTimer(effect: Entity): void {
    this.#timers.get(effect)?.()
    this.#timers.delete(effect)
  }

  #fire(effect: Entity, attempt: number): void {
    this.#owner.post({ attempt, effect, kind: 'due' })
  }
}

function thrown(error: unknown): OutcomeData {
  return { ok: false, failure: { kind: 'internal', message: thrownMessage(error) } }
}

function withoutAny(effects: readonly Entity[], others: readonly Entity[]): readonly Entity[] {
  const left = new Set(effects)
  for (const other of others) left.delete(other)
  return [...left]
}
