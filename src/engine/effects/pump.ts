import { Due, Effect, Pending, Running } from '../../../components/effects/effect.ts'
import { GrantAwaited } from '../../../components/sessions/subagent-session.ts'
import type { StandardInput } from '../../protocol/input.ts'
import type { OutcomeData } from '../../protocol/failure.ts'
import type { RestartClass } from '../../protocol/tool-declaration.ts'
import { thrownMessage } from '../../rules/text/thrown-message.ts'
import type { Entity } from '../../world/component.ts'
import type { OwnInput } from '../../world/input.ts'
import type { World } from '../../world/world.ts'
import { isThenable } from '../../world/is-thenable.ts'
import type { Clock } from '../loop/clock.ts'
import type { EffectKind, HeldPlace, ValuePlace, Work } from './effect-kind.ts'
import type { StreamEvent } from '../loop/events.ts'
import type { Host } from './host.ts'
import { Job, JobContext, type JobOwner } from './job.ts'

/** Components by which an effect says what is to be done about it. */
const followed = [Due, Effect, GrantAwaited, Pending, Running]

/** Work, with what its effect said when it was prepared: while it waits, a tick may be committed that has the effect no more. */
interface Order {
  readonly work: Work
  readonly restart: RestartClass
  readonly timeoutMs: number | undefined
}

export interface PumpOwner {
  post(input: StandardInput): void
  emit(event: StreamEvent): void
  values(): ValuePlace
  /** Takes an input of a program, under an id. */
  enter(input: StandardInput | OwnInput, id: string): Promise<unknown>
  /** The world has done with an effect, or with the try of it that was at work. */
  gone(effect: Entity): void
  dropped(): void
}

/** Starts the effects of committed ticks, aborts those that later ticks have settled, and posts outcomes. */
export class Pump implements JobOwner {
  readonly #world: World
  readonly #host: Host
  readonly #owner: PumpOwner
  readonly #kindOf: (name: string) => EffectKind
  readonly clock: Clock
  isStopping = false
  /** Nothing begins any more, and what would begin again elsewhere is aborted. */
  #isDraining = false
  #drained: (() => void) | undefined
  readonly #jobs = new Map<Entity, Job>()
  /** Jobs whose outcome has not entered the world yet: they are kept, so that they do not begin again. */
  #finished = 0
  readonly #timers = new Map<Entity, () => void>()
  /** World time is this much behind the clock. */
  #offsetMs = 0
  readonly #heldBack: Entity[] = []

  constructor(world: World, host: Host, owner: PumpOwner, kindOf: (name: string) => EffectKind) {
    this.#world = world
    this.#host = host
    this.#owner = owner
    this.#kindOf = kindOf
    this.clock = host.clock
  }

  get isIdle(): boolean {
    return this.#jobs.size === 0 && this.#timers.size === 0
  }

  get inFlight(): number {
    return this.#jobs.size - this.#finished
  }

  /** Takes up a world's work at a start. @param reruns pending effects that begin only after the first tick */
  takeUp(offsetMs: number, reruns: readonly Entity[]): void {
    this.#offsetMs = offsetMs
    this.#heldBack.push(...reruns)
    const { state } = this.#world.core
    // From the columns: a query would have bitECS follow these components from here on.
    // A `once` effect does not begin again; a session that continues goes ahead of those that wait.
    const goingOn = state.entitiesWith(Running).filter((effect) => this.#isResumable(effect))
    const pending = reruns.length === 0 ? state.entitiesWith(Pending) : withoutAny(state.entitiesWith(Pending), reruns)
    for (const effect of [...state.entitiesWith(Due), ...goingOn, ...pending]) this.#follow(effect)
  }

  follow(): void {
    const { state } = this.#world.core
    for (const { entity } of state.tracking.despawned) this.#callOff(entity)
    for (const effect of state.written(followed)) this.#follow(effect)
    for (const effect of this.#heldBack.splice(0)) if (this.#world.exists(effect)) this.#follow(effect)
  }

  #follow(effect: Entity): void {
    const { attempt, deadlineMs } = this.#world.get(effect, Effect) ?? {}
    const job = this.#jobs.get(effect)
    const dueMs = this.#world.get(effect, Due)?.atMs
    if (job !== undefined) job.isHeld = this.#world.has(effect, GrantAwaited)
    if (this.#world.has(effect, Running)) {
      // Without a job, it ran when the last process ended.
      if (job !== undefined) job.admit()
      else if (this.#isResumable(effect)) this.#start(effect)
    } else if (!this.#world.has(effect, Pending)) this.#callOff(effect)
    else if (job?.attempt !== attempt) this.#start(effect)
    if (dueMs !== undefined) this.#setTimer(effect, dueMs)
    else if (deadlineMs !== undefined && this.#jobs.has(effect)) this.#setTimer(effect, deadlineMs, true)
  }

  /** Begins nothing more, aborts what may begin again, and waits so long for `once` work, whose outcomes enter the world. */
  async drain(onceMs: number): Promise<void> {
    this.#isDraining = true
    this.isStopping = true
    for (const cancel of this.#timers.values()) cancel()
    this.#timers.clear()
    for (const [effect, job] of this.#jobs) {
      if (job.isOnce || job.isOver) continue
      job.abort('The Runner is stopped.')
      this.#forget(effect)
    }
    if (this.#jobs.size === 0) return
    const drained = new Promise<void>((resolve) => (this.#drained = resolve))
    const cancel = this.clock.at(this.clock.now() + onceMs, () => this.#drained?.())
    await drained
    cancel()
  }

  /** Aborts all work without settling it. @param forGood nothing begins again at the next start: sessions end too */
  stop(forGood = false): void {
    this.isStopping = !forGood
    for (const cancel of this.#timers.values()) cancel()
    this.#timers.clear()
    for (const job of this.#jobs.values()) {
      job.abort('The Runner was stopped.')
      job.whenGone?.()
      this.#owner.gone(job.effect)
    }
    this.#jobs.clear()
    this.#finished = 0
    this.#drained?.()
  }

  #isResumable(effect: Entity): boolean {
    return this.#world.get(effect, Effect)?.restart === 'resumable'
  }

  #start(effect: Entity): void {
    if (this.#isDraining) return
    const { kind, attempt, restart, timeoutMs } = this.#world.read(effect, Effect)
    this.#callOff(effect)
    const job = new Job(effect, attempt, this.#host.clock)
    job.isHeld = this.#world.has(effect, GrantAwaited)
    this.#jobs.set(effect, job)
    try {
      const doing = this.#kindOf(kind)
      const queue = doing.queue?.(this.#world, effect)
      const work = doing.prepare(this.#world, effect)
      if (work === undefined) return
      const begin = (free: () => void): void => this.#run(job, { work, restart, timeoutMs }, free)
      if (doing.isWaiting === true) begin(() => undefined)
      else this.#host.enqueue(queue, begin)
    } catch (error) {
      this.#finish(job, thrown(error), () => undefined)
    }
  }

  #run(job: Job, order: Order, free: () => void): void {
    if (job.isCalledOff) return free()
    job.isOnce = order.restart === 'once'
    if (!job.isOnce) this.#begin(job, order, free)
    else void this.admit(job).then(() => (job.isCalledOff ? free() : this.#begin(job, order, free)))
  }

  #begin(job: Job, { work, timeoutMs }: Order, free: () => void): void {
    const { clock } = this
    const { effect, attempt } = job
    if (timeoutMs !== undefined) job.timer = clock.at(clock.now() + timeoutMs, () => this.#fire(effect, attempt))
    job.begin()
    job.whenCalledOff(free)
    const key = this.#world.get(effect, Effect)?.key ?? `${this.#world.name}/${effect}`
    let outcome: OutcomeData | Promise<OutcomeData>
    try {
      outcome = work(new JobContext(job, key, this))
    } catch (error) {
      outcome = thrown(error)
    }
    if (!isThenable(outcome)) return this.#finish(job, outcome, free)
    const fail = (error: unknown): void => this.#finish(job, thrown(error), free)
    void outcome.then((settled) => this.#finish(job, settled, free)).catch(fail)
  }

  async admit(job: Job, place?: HeldPlace): Promise<void> {
    const { effect, attempt } = job
    for (;;) {
      while (job.isHeld && !job.isCalledOff) {
        place?.leave()
        await job.released()
        if (!job.isCalledOff) await place?.enter('return')
      }
      if (job.isCalledOff || this.#world.has(effect, Running)) return
      this.#owner.post({ attempt, effect, kind: 'admitted' })
      // Its world may have refused it, and let it go since.
      await job.admitted()
    }
  }

  emit(event: StreamEvent): void {
    this.#owner.emit(event)
  }

  enter(input: StandardInput | OwnInput, id: string): Promise<unknown> {
    return this.#owner.enter(input, id)
  }

  get values(): ValuePlace {
    return this.#owner.values()
  }

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
    if (this.#jobs.size === 0) this.#drained?.()
    return job
  }

  #setTimer(effect: Entity, atMs: number, isDeadline = false): void {
    this.#clearTimer(effect)
    if (this.#isDraining) return
    const { attempt } = this.#world.read(effect, Effect)
    const { clock } = this
    const fire = (): void => {
      this.#timers.delete(effect)
      this.#fire(effect, attempt)
    }
    // A deadline comes last of all that happens at its instant.
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
