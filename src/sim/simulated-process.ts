import { Host } from '../engine/effects/host.ts'
import type { DrivenWorld, HostSeams } from '../engine/effects/host-seams.ts'
import type { RunnerEvent } from '../engine/loop/events.ts'
import { Runner } from '../engine/loop/runner.ts'
import type { StandardInput } from '../protocol/input.ts'
import type { Tool } from '../tools/port.ts'
import type { Store } from '../stores/port.ts'
import type { Component } from '../world/component.ts'
import type { World } from '../world/world.ts'
import type { Fault } from './fault.ts'
import { FaultyStore } from './faulty-store.ts'
import type { PoolEvent } from './law.ts'
import { type CheckedOptions, checkMade } from './options.ts'
import { maxDyingMs, ProcessClock, type ProcessState } from './process-clock.ts'
import type { ReplayedRun } from './recording/replayed-run.ts'
import type { RunRecorder } from './run-recorder.ts'
import { deliver, simulatedHost } from './simulated-host.ts'
import { SimulatedWork, type WorkOwner } from './simulated-work.ts'
import type { VirtualClock } from '../engine/loop/virtual-clock.ts'
import { SessionPool } from '../engine/children/pool.ts'

interface ProcessParts extends Omit<WorkOwner, 'isDead' | 'recorder'> {
  readonly recorder: RunRecorder
  readonly options: CheckedOptions
  readonly clock: VirtualClock
  readonly tools: readonly Tool[]
  /** Outlives the process; absent: nothing is kept. */
  readonly store: Store | undefined
  readonly disk: { fullUntilMs: number }
  readonly name: string
  /** Made for this process: the source of its systems, and of the rest if the store has no such world. */
  readonly world: World
  readonly components: () => readonly Component[]
  readonly seams: Pick<
    Required<Omit<HostSeams, 'committing' | 'fleet'>>,
    'newRun' | 'began' | 'ticked' | 'ended' | 'held' | 'removed'
  >
  readonly heard: (event: RunnerEvent) => void
  readonly replayed: ReplayedRun | undefined
}

/** One life of the simulated program: a Runner, its Host, and all that dies with them. */
export class SimulatedProcess {
  readonly #parts: ProcessParts
  readonly #clock: ProcessClock
  readonly #store: FaultyStore | undefined
  readonly #dead = Promise.withResolvers<Fault>()
  #state: ProcessState = 'alive'
  #dyingOf: Fault | undefined
  #runner: Runner | undefined
  #coming = 0
  #hasFailed = false
  readonly #expecting: (() => void)[] = []

  constructor(parts: ProcessParts) {
    this.#parts = parts
    const { plan, recorder, clock, store, disk } = parts
    this.#clock = new ProcessClock(clock)
    const owner = {
      plan,
      label: (world: string) => recorder.labels.named(world),
      struck: (fault: Fault) => recorder.struck(fault),
      disk,
      state: () => this.#state,
      now: () => clock.now(),
      isDueWithin: (ms: number) => clock.nextMs !== undefined && clock.nextMs <= clock.now() + ms,
      after: (ms: number, call: () => void) => this.#clock.at(clock.now() + ms, call),
      waits: (isWaiting: boolean) => this.#clock[isWaiting ? 'end' : 'begin']('tick'),
      crash: (fault: Fault) => this.#crash(fault),
      // Work waiting for a commit that never finishes must not stop the clock.
      parked: (what?: 'tick') => this.#clock.end(what),
    }
    this.#store = store && new FaultyStore(store, owner)
  }

  /** Resolves when it dies, with the fault that killed it. */
  get dead(): Promise<Fault> {
    return this.#dead.promise
  }

  /** The fault that killed it, or will. */
  get doom(): Fault | undefined {
    return this.#dyingOf
  }

  /** Whether an input is on its way into a world. The run does not end before it arrives. */
  get isExpecting(): boolean {
    return this.#coming > 0
  }

  async arrival(): Promise<void> {
    if (this.#coming > 0 && !this.#hasFailed) await new Promise<void>((resolve) => this.#expecting.push(resolve))
  }

  get runner(): Runner | undefined {
    return this.#state === 'dead' ? undefined : this.#runner
  }

  async start(): Promise<void> {
    const { name, world, components, heard, options } = this.#parts
    const store = this.#store
    const host = this.#host()
    this.#clock.begin()
    try {
      this.#runner =
        store === undefined
          ? new Runner(world, { host })
          : await Runner.open({
              store,
              host,
              name,
              systems: world.systems,
              components: components(),
              create: () => world,
            })
      const hear = (event: RunnerEvent): void => {
        if (this.#state !== 'dead') heard(event)
      }
      // The process is over: what is on its way to it arrives at the next one.
      this.#runner.on('runner-failed', ({ world: failed }) => {
        if (failed !== name) return
        this.#hasFailed = true
        for (const arrived of this.#expecting.splice(0)) arrived()
      })
      // Without a listener, no events are created.
      if (Object.keys(options.users).length > 0) this.#runner.on('*', hear)
      await this.#runner.start()
    } finally {
      this.#clock.end()
    }
  }

  /** Ends it like a crash: nothing goes on, and its locks are free. */
  async kill(): Promise<void> {
    this.#state = 'dead'
    this.#clock.die()
    await this.#store?.release()
  }

  async stop(): Promise<void> {
    await this.#runner?.stop()
    this.#state = 'dead'
    this.#clock.die()
  }

  #host(): Host {
    const { options, tools, recorder, replayed } = this.#parts
    const work = new SimulatedWork({ ...this.#parts, isDead: () => this.#state === 'dead' })
    const sessionPool = new PoolWatch(checkMade('sessionPool', options.sessionPool(), ['enter', 'leave']), (event) => {
      if (this.#state !== 'dead') recorder.ask('pool', event)
    })
    const hostOptions = simulatedHost({ options, clock: this.#clock, tools, work, sessionPool })
    return replayed?.host(hostOptions, this.#seams(), work) ?? new Host(hostOptions, this.#seams())
  }

  #seams(): Required<Omit<HostSeams, 'committing' | 'fleet'>> {
    const { plan, recorder, seams } = this.#parts
    const later = (delayMs: number, enter: () => void): void => this.#later(delayMs, enter)
    return {
      newRun: seams.newRun,
      began: (driven) => {
        if (this.#state !== 'dead') seams.began(driven)
      },
      held: (holder) => {
        if (this.#state !== 'dead') seams.held(holder)
      },
      removed: (holder) => {
        if (this.#state !== 'dead') seams.removed(holder)
      },
      ended: (driven) => {
        if (this.#state === 'alive') seams.ended(driven)
      },
      ticked: (driven, step) => {
        // Ticks in the store are observed even if their process is dead by now.
        if (this.#state === 'dead' && this.#store === undefined) return
        seams.ticked(driven, step)
        if (this.#dyingOf?.what === 'crash.afterCommit') this.#die(this.#dyingOf)
      },
      deliver: (driven: DrivenWorld, input: StandardInput, enter: () => void) => {
        if (this.#state !== 'dead') deliver({ plan, recorder, later }, driven, input, enter)
      },
    }
  }

  /** Whatever arrives meanwhile overtakes it. */
  #later(delayMs: number, enter: () => void): void {
    this.#coming++
    this.#clock.at(this.#clock.now() + delayMs, () => {
      this.#coming--
      for (const arrived of this.#expecting.splice(0)) arrived()
      enter()
    })
  }

  /**
   * A fault of the store kills it: at once, after the ticks of the transaction were observed, or after the work they
   * started.
   */
  #crash(fault: Fault): void {
    if (this.#state !== 'alive') return
    this.#dyingOf = fault
    if (fault.what === 'crash.afterCommit') {
      // A transaction without ticks calls no `ticked`.
      setImmediate(() => this.#die(fault))
    } else if (fault.what === 'crash.afterEffects') {
      this.#state = 'dying'
      this.#clock.at(this.#clock.now() + maxDyingMs, () => this.#die(fault))
    } else this.#die(fault)
  }

  #die(fault: Fault): void {
    if (this.#state === 'dead') return
    this.#state = 'dead'
    this.#clock.die()
    this.#dead.resolve(fault)
  }
}

/** A session pool that reports sessions entering, getting a slot and leaving. */
class PoolWatch extends SessionPool {
  readonly #inner: SessionPool
  readonly #tell: (event: PoolEvent) => void
  readonly #present = new Map<string, object>()

  constructor(inner: SessionPool, tell: (event: PoolEvent) => void) {
    super({ cap: inner.cap })
    this.#inner = inner
    this.#tell = tell
  }

  override get running(): number {
    return this.#inner.running
  }

  override async enter(key: string, place: 'first' | 'return'): Promise<boolean> {
    const visit = {}
    this.#present.set(key, visit)
    this.#tell({ type: 'entered', key, place })
    const hasSlot = await this.#inner.enter(key, place)
    if (hasSlot && this.#present.get(key) === visit) this.#tell({ type: 'granted', key })
    return hasSlot
  }

  override position(key: string): number | undefined {
    return this.#inner.position(key)
  }

  override leave(key: string): void {
    if (this.#present.delete(key)) this.#tell({ type: 'left', key })
    this.#inner.leave(key)
  }
}
