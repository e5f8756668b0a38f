import { Host } from '../engine/effects/host.ts'
import type { HostOptions } from '../engine/effects/host-options.ts'
import type { DrivenWorld, HostSeams } from '../engine/effects/host-seams.ts'
import type { RunnerEvent } from '../engine/loop/events.ts'
import { Runner } from '../engine/loop/runner.ts'
import type { StandardInput } from '../protocol/input.ts'
import type { Tool } from '../tools/port.ts'
import type { ModelProvider } from '../models/port.ts'
import type { Store } from '../stores/port.ts'
import type { Component } from '../world/component.ts'
import type { World } from '../world/world.ts'
import type { Fault } from './fault.ts'
import { FaultyStore } from './faulty-store.ts'
import type { PoolEvent } from './law.ts'
import { type CheckedOptions, checkMade } from './options.ts'
import { ProcessClock, type ProcessState } from './process-clock.ts'
import type { ReplayedRun } from './recording/replayed-run.ts'
import { simulatedModel } from './simulated-model.ts'
import { simulatedTool } from './simulated-tool.ts'
import { SimulatedWork, type WorkOwner } from './simulated-work.ts'
import type { VirtualClock } from '../engine/loop/virtual-clock.ts'
import type { Clock } from '../engine/loop/clock.ts'
import type { FaultPlan } from './fault-plan.ts'
import { SessionPool } from '../engine/children/pool.ts'

/** What a process needs of the simulation that it lives in. */
interface ProcessParts extends Omit<WorkOwner, 'isDead'> {
  readonly options: CheckedOptions
  readonly clock: VirtualClock
  /** The tools of this run, which know its services. */
  readonly tools: readonly Tool[]
  /** Outlives the process; absent: nothing is kept. */
  readonly store: Store | undefined
  /** Until when the store's disk is full. */
  readonly disk: { fullUntilMs: number }
  /** Under which the store has the root world. */
  readonly name: string
  /** Made for this process: it has the systems from here, and the rest if the store has no such world. */
  readonly world: World
  readonly components: () => readonly Component[]
  readonly seams: Pick<Required<HostSeams>, 'newRun' | 'began' | 'ticked' | 'ended' | 'held' | 'removed'>
  readonly pool: (event: PoolEvent) => void
  readonly heard: (event: RunnerEvent) => void
  /** Answers out of a recording, if there is one. */
  readonly replayed: ReplayedRun | undefined
}

/** One life of the program under test: a Runner, its Host, and all that dies with them. */
export class SimulatedProcess {
  readonly #parts: ProcessParts
  readonly #clock: ProcessClock
  readonly #store: FaultyStore | undefined
  readonly #dead = Promise.withResolvers<Fault>()
  #state: ProcessState = 'alive'
  #dyingOf: Fault | undefined
  #runner: Runner | undefined
  #coming = 0
  readonly #expecting: (() => void)[] = []

  constructor(parts: ProcessParts) {
    this.#parts = parts
    const { plan, label, struck, clock, store, disk } = parts
    this.#clock = new ProcessClock(clock)
    const owner = {
      plan,
      label,
      struck,
      disk,
      state: () => this.#state,
      now: () => clock.now(),
      crash: (fault: Fault) => this.#crash(fault),
      // What waits for a commit that never comes holds nothing up.
      parked: (what?: 'tick') => this.#clock.end(what),
    }
    this.#store = store && new FaultyStore(store, owner)
  }

  /** Resolves when it has died, with what killed it. */
  get dead(): Promise<Fault> {
    return this.#dead.promise
  }

  /** What has killed it, or will. */
  get doom(): Fault | undefined {
    return this.#dyingOf
  }

  /** Is something on its way into a world of it? The run is not over before that has come in. */
  get isExpecting(): boolean {
    return this.#coming > 0
  }

  /** Resolves once the next thing that is on its way has come in. */
  async arrival(): Promise<void> {
    if (this.#coming > 0) await new Promise<void>((resolve) => this.#expecting.push(resolve))
  }

  get runner(): Runner | undefined {
    return this.#state === 'dead' ? undefined : this.#runner
  }

  /** Takes the world up, as the store has it or as it was made. */
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
      // Without a listener, events are not even made.
      if (Object.keys(options.users).length > 0) this.#runner.on('*', hear)
      await this.#runner.start()
    } finally {
      this.#clock.end()
    }
  }

  /** Ends it as a crash does: nothing of it goes on, and its locks are free. */
  async kill(): Promise<void> {
    this.#state = 'dead'
    this.#clock.die()
    await this.#store?.release()
  }

  /** Lets go of everything in an orderly way. */
  async stop(): Promise<void> {
    await this.#runner?.stop()
    this.#state = 'dead'
    this.#clock.die()
  }

  #host(): Host {
    const { options, tools, pool, replayed } = this.#parts
    const work = new SimulatedWork({ ...this.#parts, isDead: () => this.#state === 'dead' })
    const { models, latencyMs, users, skills, effects, prices, maxInFlight, sessionPool } = options
    const providers = Object.entries(models).map(([name, provider]): [string, ModelProvider] => [
      name,
      simulatedModel(name, provider, work, latencyMs.model),
    ])
    const simulated = (tool: Tool): Tool => simulatedTool(tool, work, latencyMs.tool)
    const hostOptions: HostOptions = {
      clock: this.#clock,
      models: Object.fromEntries(providers),
      tools: tools.map(simulated),
      skills: skills.map((skill) => ({ ...skill, ...(skill.tools && { tools: skill.tools.map(simulated) }) })),
      effects,
      prices,
      maxInFlight,
      sessionPool: new PoolWatch(checkMade('sessionPool', sessionPool(), ['enter', 'leave']), (event) => {
        if (this.#state !== 'dead') pool(event)
      }),
      ...(Object.keys(users).length > 0 && { approve: 'by-input' }),
    }
    return replayed?.host(hostOptions, this.#seams(), work) ?? new Host(hostOptions, this.#seams())
  }

  #seams(): Required<HostSeams> {
    const { seams } = this.#parts
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
        // What is in the store is seen, though its process may be dead by now.
        if (this.#state === 'dead' && this.#store === undefined) return
        seams.ticked(driven, step)
        if (this.#dyingOf?.what === 'crash.afterCommit') this.#die(this.#dyingOf)
      },
      deliver: (driven: DrivenWorld, input: StandardInput, enter: () => void) => {
        if (this.#state === 'dead') return
        delivered({ ...this.#parts, clock: this.#clock, onItsWay: () => this.#onItsWay() }, driven, input, enter)
      },
    }
  }

  #onItsWay(): () => void {
    this.#coming++
    return () => {
      this.#coming--
      for (const arrived of this.#expecting.splice(0)) arrived()
    }
  }

  /** A fault of the store kills it: at once, once the ticks of the transaction were seen, or when what they began has ended. */
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

/** So long a process goes on that can write nothing any more. */
const maxDyingMs = 60_000

/** What decides how something reaches its world. */
interface DeliveryParts {
  readonly plan: FaultPlan
  readonly clock: Clock
  readonly struck: (fault: Fault) => void
  readonly label: (world: string) => string
  /** Something is on its way from here on, until the function that this gives is called. */
  readonly onItsWay: () => () => void
}

/** Brings what the work of an effect has come to into its world: at once, or as a fault has it. */
function delivered(parts: DeliveryParts, { world }: DrivenWorld, input: StandardInput, enter: () => void): void {
  const { plan, clock, label, onItsWay, struck } = parts
  if (input.kind !== 'outcome' || !plan.has('delivery')) return enter()
  const fault = plan.strike('delivery', plan.next(label(world.name), 'outcome'))
  if (fault === undefined) return enter()
  struck(fault)
  if (fault.what === 'delivery.duplicated') {
    enter()
    return enter()
  }
  const arrived = onItsWay()
  // Whatever comes in meanwhile overtakes it.
  clock.at(clock.now() + (fault.ms ?? 0), () => {
    arrived()
    enter()
  })
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
