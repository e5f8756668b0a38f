import { thrownMessage } from '../../base/thrown-message.ts'
import { EntiaError } from '../../base/entia-error.ts'
import type { Step } from '../../world/journal.ts'
import type { Input, WorldEvent } from '../../world/input.ts'
import { deltaOf, runTick, type Ticked } from '../../world/tick.ts'
import type { World } from '../../world/world.ts'
import type { Clock } from './clock.ts'
import type { DrivenStep } from '../effects/host-seams.ts'
import type { Inbox, Intake, Waiter } from './inbox.ts'
import type { JournalWriter } from './journal-writer.ts'
import type { Listeners } from './listeners.ts'
import type { Pump } from '../effects/pump.ts'
import { withReports } from '../children/session-reports.ts'

/** Waits between tries of a commit. */
const commitWaitsMs = [50, 500]

export interface TickLoopParts {
  readonly world: World
  readonly clock: Clock
  readonly inbox: Inbox
  readonly pump: Pump
  readonly listeners: Listeners
  readonly journal: JournalWriter | undefined
  /** World time that has passed since the last tick. */
  readonly sleptMs?: number | undefined
  /** Called before the first try of each commit. */
  readonly committing?: ((step: DrivenStep) => void) | undefined
  /** Who is called after each commit, before effects begin. */
  readonly ticked?: (() => ((step: DrivenStep) => void) | undefined) | undefined
  readonly committed?: (() => void) | undefined
  readonly failed?: ((error: EntiaError) => void) | undefined
}

/** How long ticks of all worlds may follow one another before timers, sockets and files have their turn. */
const sliceMs = 1
let sliceEndMs = 0

/** Cheaper than `queueMicrotask`, which keeps an asynchronous resource for each call. */
const past = Promise.resolve()

function isInSlice(): boolean {
  return performance.now() < sliceEndMs
}

function atNextTurn(tick: () => void): () => void {
  const turn = setImmediate(() => {
    sliceEndMs = performance.now() + sliceMs
    tick()
  })
  return () => clearImmediate(turn)
}

/** Ticks whenever an input arrives: tick → commit → start effects → emit events. A failure ends it for good. */
export class TickLoop {
  readonly #parts: TickLoopParts
  /** World time is this much behind the clock. */
  readonly offsetMs: number
  #cancelTick: (() => void) | undefined
  #isAwake = false
  #isTicking = false
  /** Looks for inputs once more in this turn of the event loop. */
  #isLooking = false
  /** Ticks in the next microtask. */
  #isFollowing = false
  #isStopped = false
  #wantsTick = false
  #idleWaiters: Waiter[] = []
  #haltWaiter: (() => void) | undefined
  #cutWait: (() => void) | undefined
  failure: EntiaError | undefined
  ticks = 0

  constructor(parts: TickLoopParts) {
    this.#parts = parts
    this.offsetMs = parts.clock.now() - (parts.world.nowMs + (parts.sleptMs ?? 0))
  }

  /** World time. Sums of instants may fall short of a whole millisecond by a rounding error. */
  get nowMs(): number {
    return Math.floor(this.#parts.clock.now() - this.offsetMs + 1e-6)
  }

  get isIdle(): boolean {
    const { inbox, pump } = this.#parts
    return !this.#isTicking && !this.#wantsTick && inbox.size === 0 && pump.isIdle
  }

  wake(): void {
    if (this.#isStopped || this.#cancelTick !== undefined || this.#isTicking || this.#isFollowing) return
    this.#rise()
    const { clock, pump } = this.#parts
    if (clock.soon === undefined && pump.inFlight === 0 && isInSlice()) {
      // Nothing at work could bring more for the same tick.
      this.#isFollowing = true
      void past.then(this.#follow)
    } else if (!this.#isLooking) {
      const tick = (): void => {
        this.#cancelTick = undefined
        this.#tick()
      }
      this.#cancelTick = clock.soon?.(tick) ?? atNextTurn(tick)
    }
  }

  readonly #follow = (): void => {
    this.#isFollowing = false
    if (!this.#isStopped && !this.#isTicking && this.#hasMore) this.#tick()
  }

  get #hasMore(): boolean {
    return this.#parts.inbox.size > 0 || this.#wantsTick
  }

  /** Resolves once nothing is in flight and nothing is due. @throws if the loop fails */
  async idle(): Promise<void> {
    if (this.failure !== undefined) throw this.failure
    if (this.#isStopped || this.isIdle) return
    await new Promise<number>((resolve, reject) => this.#idleWaiters.push({ resolve, reject, isProgram: true }))
  }

  /**
   * Stops ticking. Resolves once a commit under way has ended.
   * @param last inputs for one more tick, which starts no effects
   * @param isUnderWay effects or timers were waiting: one more tick counts the time since the last
   */
  async halt(last: readonly Input[] = [], isUnderWay = false): Promise<void> {
    this.#isStopped = true
    this.#cancelTick?.()
    // The clock may be waiting for the caller: end the wait between two tries.
    this.#cutWait?.()
    if (this.#isTicking) await new Promise<void>((resolve) => (this.#haltWaiter = resolve))
    const isLate = isUnderWay && this.nowMs > this.#parts.world.nowMs
    if ((last.length > 0 || isLate) && this.failure === undefined) {
      this.#rise()
      await this.#take({ change: undefined, entries: last.map((input) => ({ input })) })
    }
    this.#rest()
    this.#resolveIdle()
  }

  #tick(): void {
    this.#isTicking = true
    const taken = this.#take(withReports(this.#parts.world, this.#parts.inbox.take()))
    if (taken === undefined) this.#ticked()
    else void taken.then(() => this.#ticked())
  }

  #ticked(): void {
    this.#isTicking = false
    this.#haltWaiter?.()
    if (this.#isStopped) return
    const { clock, pump } = this.#parts
    const hasMore = this.#hasMore
    if (!hasMore) this.#rest()
    if (!hasMore && pump.isIdle) this.#resolveIdle()
    else if (clock.soon === undefined && pump.inFlight > 0) this.#lookOnceSettled()
    else if (hasMore) this.wake()
  }

  /** Outcomes of work that waits for nothing outside go into a tick of this turn of the event loop. */
  #lookOnceSettled(): void {
    if (this.#isLooking) return
    this.#isLooking = true
    // Node empties the queue of promises, however long it grows, before it continues with `nextTick`.
    void past.then(this.#lookNext)
  }

  readonly #lookNext = (): void => process.nextTick(this.#look)

  readonly #look = (): void => {
    this.#isLooking = false
    if (this.#isStopped || this.#isTicking || this.#isFollowing || !this.#hasMore) return
    if (isInSlice()) this.#tick()
    else this.wake()
  }

  /** Ticks with an intake. A promise only if there is a store to wait for; it never rejects. */
  #take(intake: Intake): Promise<void> | undefined {
    const { journal, world } = this.#parts
    try {
      const result = this.#run(intake)
      if (result === undefined) return undefined
      if (journal !== undefined) return this.#write(journal, { ...result, delta: deltaOf(world) }, intake)
      const ticked = this.#parts.ticked?.()
      ticked?.({ ...result, delta: deltaOf(world) })
      this.#after(result, intake)
    } catch (error) {
      this.#fail(error as EntiaError, intake)
    }
    return undefined
  }

  async #write(journal: JournalWriter, step: Ticked & Step, intake: Intake): Promise<void> {
    try {
      this.#parts.committing?.(step)
      await this.#commit(journal, step, lettersOf(intake))
      this.#parts.ticked?.()?.(step)
      this.#after(step, intake)
    } catch (error) {
      this.#fail(error as EntiaError, intake)
    }
  }

  /** `undefined` if the program's change threw: the rest of the intake goes into the next tick. */
  #run({ change, entries }: Intake): Ticked | undefined {
    const { world, inbox } = this.#parts
    try {
      return runTick(
        world,
        entries.map((entry) => entry.input),
        { nowMs: this.nowMs, change: change?.make, driver: world.core.driver },
      )
    } catch (error) {
      if (change === undefined || (error instanceof EntiaError && error.code === 'system-failed')) throw error
      change.waiter?.reject(error)
      inbox.putBack(entries)
      return undefined
    }
  }

  async #commit(journal: JournalWriter, step: DrivenStep, letters: readonly number[]): Promise<void> {
    const { world, clock, listeners } = this.#parts
    for (let attempt = 1; ; attempt++) {
      try {
        return await journal.commit(world, step, letters)
      } catch (error) {
        // Somebody else has the world, and goes on from its last commit.
        if (error instanceof EntiaError && error.code === 'world-fenced') throw error
        const message = thrownMessage(error)
        listeners.emit({ type: 'commit-failed', world: world.name, tick: step.delta.tick, attempt, message })
        const waitMs = commitWaitsMs[attempt - 1]
        if (waitMs === undefined || this.#isStopped) {
          const what = `Tick ${step.delta.tick} of world '${world.name}' could not be committed in ${attempt} tries: ${message}`
          const advice =
            'Nothing of it has begun. Mend the store and open the world again: what was committed is there.'
          throw new EntiaError('store-failed', `${what}. ${advice}`, { tick: step.delta.tick }, { cause: error })
        }
        clock.end?.('tick')
        await new Promise<void>((resolve) => {
          const cancel = clock.at(clock.now() + waitMs, resolve)
          this.#cutWait = () => {
            cancel()
            resolve()
          }
        })
        clock.begin?.('tick')
      }
    }
  }

  #after({ events, again }: Ticked, { change, entries }: Intake): void {
    const { listeners, pump, world } = this.#parts
    this.ticks++
    this.#wantsTick = again
    // Effects may stream or end at once: listeners hear that after the events of the tick that started them.
    const isHeard = listeners.hasAny(events)
    const release = isHeard ? listeners.hold() : undefined
    if (!this.#isStopped) pump.follow()
    world.core.state.tracking.forget()
    change?.waiter?.resolve(world.tick)
    for (const { waiter } of entries) waiter?.resolve(world.tick)
    if (isHeard) this.#emit(events)
    release?.()
    this.#parts.committed?.()
  }

  #emit(events: readonly WorldEvent[]): void {
    const { listeners, world } = this.#parts
    const { dateMs, name, nowMs, tick } = world
    events.forEach((event, index) => {
      if (listeners.has(event.type)) listeners.emitNow({ ...event, world: name, tick, index, nowMs, dateMs })
    })
  }

  #fail(error: EntiaError, { change, entries }: Intake): void {
    const { pump, inbox } = this.#parts
    this.failure = error
    this.#isStopped = true
    this.#wantsTick = false
    pump.stop()
    const taken = [change?.waiter, ...entries.map(({ waiter }) => waiter)].filter((waiter) => waiter !== undefined)
    const waiters = [...taken, ...inbox.drain(), ...this.#idleWaiters.splice(0)]
    for (const waiter of waiters) waiter.reject(error)
    this.#rest()
    this.#parts.failed?.(error)
    this.#emitFailure(error, waiters)
  }

  /** Warns if no listener hears the failure and no promise of the program rejects with it. */
  #emitFailure(error: EntiaError, waiters: readonly Waiter[]): void {
    const { failed, listeners, world } = this.#parts
    const { code, message } = error
    const isHeard = listeners.has('runner-failed') || waiters.some(({ isProgram }) => isProgram === true)
    listeners.emit({ type: 'runner-failed', world: world.name, code, message, error })
    // The failure of a session is an outcome in its parent's world.
    if (isHeard || failed !== undefined) return
    process.emitWarning(`The Runner of world '${world.name}' has failed: ${message}`, {
      type: 'EntiaWarning',
      code: 'ENTIA_RUNNER_FAILED',
      detail: "Listen for it with runner.on('runner-failed', …), or await runner.idle().",
    })
  }

  #resolveIdle(): void {
    for (const waiter of this.#idleWaiters.splice(0)) waiter.resolve(this.#parts.world.tick)
  }

  #rise(): void {
    if (this.#isAwake) return
    this.#isAwake = true
    this.#parts.clock.begin?.('tick')
  }

  #rest(): void {
    if (!this.#isAwake) return
    this.#isAwake = false
    this.#parts.clock.end?.('tick')
  }
}

const noLetters: readonly number[] = []

function lettersOf({ entries }: Intake): readonly number[] {
  if (!entries.some(({ letter }) => letter !== undefined)) return noLetters
  return entries.flatMap(({ letter }) => letter ?? [])
}
