import { Due, Effect, Pending, Running } from '../../../components/effects/effect.ts'
import { GrantAwaited } from '../../../components/sessions/subagent-session.ts'
import type { StandardInput } from '../../protocol/input.ts'
import type { OutcomeData } from '../../protocol/failure.ts'
import { thrownMessage } from '../../base/thrown-message.ts'
import type { Entity } from '../../world/component.ts'
import type { OwnInput } from '../../world/input.ts'
import type { World } from '../../world/world.ts'
import { isThenable } from '../../base/is-thenable.ts'
import type { Clock } from '../loop/clock.ts'
import type { EffectKind, HeldPlace, ValuePlace, Work } from './effect-kind.ts'
import type { StreamEvent } from '../loop/events.ts'
import type { Host } from './host.ts'
import { Job, type JobOwner } from './job.ts'

/** Components by which an effect says what is to be done about it. */
const followed = [Due, Effect, GrantAwaited, Pending, Running]

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
  readonly world: World
  readonly #host: Host
  readonly #owner: PumpOwner
  readonly #kindOf: (name: string) => EffectKind
  readonly #kinds = new Map<string, EffectKind>()
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
    this.world = world
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
    const { state } = this.world.core
    // From the columns: a query would have bitECS follow these components from here on.
    // A `once` effect does not begin again; a session that continues goes ahead of those that wait.
    const goingOn = state.entitiesWith(Running).filter((effect) => this.#isResumable(effect))
    const pending = reruns.length === 0 ? state.entitiesWith(Pending) : withoutAny(state.entitiesWith(Pending), reruns)
    for (const effect of [...state.entitiesWith(Due), ...goingOn, ...pending]) this.#follow(effect)
  }

  follow(): void {
    const { state } = this.world.core
    for (const { entity } of state.tracking.despawned) this.#callOff(entity)
    for (const effect of state.written(followed)) this.#follow(effect)
    for (const effect of this.#heldBack.splice(0)) if (this.world.exists(effect)) this.#follow(effect)
  }

  #follow(effect: Entity): void {
    const { attempt, deadlineMs } = this.world.get(effect, Effect) ?? {}
    const job = this.#jobs.get(effect)
    const dueMs = this.world.get(effect, Due)?.atMs
    if (job !== undefined) job.isHeld = this.world.has(effect, GrantAwaited)
    if (this.world.has(effect, Running)) {
      // Without a job, it ran when the last process ended.
      if (job !== undefined) job.admitted()
      else if (this.#isResumable(effect)) this.#start(effect)
    } else if (!this.world.has(effect, Pending)) this.#callOff(effect)
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
    for (const job of this.#jobs.values()) {
      if (job.isAdmitting || job.isOver) continue
      this.#forget(job)
      job.abort('The Runner is stopped.')
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
      job.gone()
      this.#owner.gone(job.effect)
    }
    this.#jobs.clear()
    this.#finished = 0
    this.#drained?.()
  }

  #isResumable(effect: Entity): boolean {
    return this.world.get(effect, Effect)?.restart === 'resumable'
  }

  #start(effect: Entity): void {
    if (this.#isDraining) return
    const asked = this.world.read(effect, Effect)
    this.#callOff(effect)
    const job = new Job(effect, asked, this)
    if (this.world.has(effect, GrantAwaited)) job.isHeld = true
    this.#jobs.set(effect, job)
    try {
      const kind = this.#kinds.get(asked.kind) ?? this.#kindNamed(asked.kind)
      const queue = kind.queue?.(this.world, effect)
      const work = kind.prepare(this.world, effect)
      if (work === undefined) return
      const begin = (leaveSlot?: () => void): void => this.#enter(job, work, leaveSlot)
      if (kind.isWaiting === true) begin()
      else this.#host.enqueue(queue, begin)
    } catch (error) {
      this.#finish(job, thrown(error))
    }
  }

  #kindNamed(name: string): EffectKind {
    const kind = this.#kindOf(name)
    this.#kinds.set(name, kind)
    return kind
  }

  /** In its slot. A `once` job begins only once its world has committed that it runs. */
  #enter(job: Job, work: Work, leaveSlot: (() => void) | undefined): void {
    if (job.isCalledOff) return leaveSlot?.()
    if (!job.isOnce) return this.#begin(job, work, leaveSlot)
    job.isAdmitting = true
    void this.admit(job).then(() => (job.isCalledOff ? leaveSlot?.() : this.#begin(job, work, leaveSlot)))
  }

  #begin(job: Job, work: Work, leaveSlot: (() => void) | undefined): void {
    const { clock } = this
    const { attempt, effect, timeoutMs } = job
    if (timeoutMs !== undefined) job.cancelAlarm = clock.at(clock.now() + timeoutMs, () => this.#fire(effect, attempt))
    job.begin()
    job.leaveSlot = leaveSlot
    let outcome: OutcomeData | Promise<OutcomeData>
    try {
      outcome = work(job)
    } catch (error) {
      outcome = thrown(error)
    }
    if (!isThenable(outcome)) return this.#finish(job, outcome)
    const fail = (error: unknown): void => this.#finish(job, thrown(error))
    void outcome.then((settled) => this.#finish(job, settled)).catch(fail)
  }

  async admit(job: Job, place?: HeldPlace): Promise<void> {
    const { effect, attempt } = job
    for (;;) {
      while (job.isHeld && !job.isCalledOff) {
        place?.leave()
        await job.untilReleased()
        if (!job.isCalledOff) await place?.enter('return')
      }
      if (job.isCalledOff || this.world.has(effect, Running)) return
      this.#owner.post({ attempt, effect, kind: 'admitted' })
      // Its world may have refused it, and let it go since.
      await job.untilAdmitted()
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

  #finish(job: Job, outcome: OutcomeData): void {
    const { effect, attempt } = job
    if (job.isCalledOff) this.#owner.dropped()
    else {
      job.finish()
      this.#finished++
      this.#owner.post({ attempt, effect, kind: 'outcome', outcome })
    }
    job.leaveSlot?.()
  }

  #callOff(effect: Entity): void {
    if (this.#timers.size > 0) this.#clearTimer(effect)
    const job = this.#jobs.get(effect)
    if (job === undefined) return
    this.#forget(job)
    job.abort('The effect was settled without it.')
  }

  #forget(job: Job): void {
    if (job.isOver) this.#finished--
    this.#jobs.delete(job.effect)
    job.gone()
    this.#owner.gone(job.effect)
    if (this.#jobs.size === 0) this.#drained?.()
  }

  #setTimer(effect: Entity, atMs: number, isDeadline = false): void {
    this.#clearTimer(effect)
    if (this.#isDraining) return
    const { attempt } = this.world.read(effect, Effect)
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
