import { SessionPool } from '../../engine/children/pool.ts'
import { Host } from '../../engine/effects/host.ts'
import type { DrivenStep, DrivenWorld, HostSeams } from '../../engine/effects/host-seams.ts'
import { Worker } from '../../engine/fleet/worker.ts'
import type { Board } from '../../engine/fleet/board.ts'
import type { Runner } from '../../engine/loop/runner.ts'
import type { VirtualClock } from '../../engine/loop/virtual-clock.ts'
import type { Tool } from '../../tools/port.ts'
import type { Component } from '../../world/component.ts'
import type { EntiaErrorCode } from '../../base/entia-error.ts'
import type { World } from '../../world/world.ts'
import type { Fault } from '../fault.ts'
import type { CheckedOptions } from '../options.ts'
import { maxDyingMs, type ProcessState } from '../process-clock.ts'
import type { BegunCall, RunRecorder } from '../run-recorder.ts'
import { deliver, simulatedHost } from '../simulated-host.ts'
import { SimulatedWork, type WorkOwner } from '../simulated-work.ts'
import { FleetClock, type Skew } from './fleet-clock.ts'
import type { BoardCall } from './board-reach.ts'
import { NetworkedStore } from './networked-store.ts'
import { Notices } from './notices.ts'
import type { SharedState } from './shared-state.ts'
import type { SimulatedBoard } from './simulated-board.ts'
import { Wire } from './wire.ts'

export interface FleetProcessParts extends Omit<WorkOwner, 'isDead' | 'recorder'> {
  readonly options: CheckedOptions
  /** Of the place that it has among the processes: `p1`. */
  readonly name: string
  /** Its own: one that replaces another is another worker. */
  readonly worker: string
  readonly shared: VirtualClock
  readonly skew: Skew
  readonly state: SharedState
  readonly board: SimulatedBoard
  readonly recorder: RunRecorder
  readonly tools: readonly Tool[]
  /** Its systems are those of the worlds that this process restores. */
  readonly known: World
  readonly components: readonly Component[]
  /** Most sessions that it holds at once. */
  readonly maxSessions: number
  readonly idleMs: number
  readonly make: (name: string) => World
  readonly newRun: () => string | undefined
  readonly began: (driven: DrivenWorld) => void
  readonly ticked: (driven: DrivenWorld, step: DrivenStep) => void
  readonly deploy: (process: FleetProcess) => void
}

/** How often it says that it lives. */
const beatEachMs = 2_000
/** After its end the operating system takes so long to close its connections. */
const lockFreeMs = 80
const idleCodes: ReadonlySet<EntiaErrorCode | undefined> = new Set(['store-failed', 'world-locked', 'world-fenced'])

interface Driven {
  readonly driven: DrivenWorld
  /** In which it is driven. */
  readonly holding: number
  committedTick: number
}

/** One life of one of several processes: its clock, its way to what is shared, its Host and its worker. */
export class FleetProcess {
  readonly name: string
  readonly worker: string
  readonly #parts: FleetProcessParts
  readonly #clock: FleetClock
  readonly #wire: Wire
  readonly #notices: Notices
  readonly #store: NetworkedStore
  readonly #board: Board
  readonly #worker: Worker
  readonly #dead = Promise.withResolvers<Fault>()
  readonly #driven = new Map<string, Driven>()
  readonly #runners = new Map<string, Runner>()
  #steps = new Map<string, DrivenStep>()
  #state: ProcessState = 'alive'
  #isStopping = false

  constructor(parts: FleetProcessParts) {
    const { board, chance, name, plan, recorder, shared, skew, state, worker } = parts
    this.name = name
    this.worker = worker
    this.#parts = parts
    this.#clock = new FleetClock(shared, skew)
    const struck = (fault: Fault): void => recorder.struck(fault)
    const common = { name, plan, struck, state: () => this.#state, crash: (fault: Fault) => this.#crash(fault) }
    const clock = this.#clock
    this.#wire = new Wire({ ...common, shared, clock, chance, befallen: (fault) => this.#befallen(fault) })
    const isCut = (): boolean => this.#wire.isCut
    this.#notices = new Notices({ ...common, shared, clock, chance, isCut })
    this.#store = new NetworkedStore({
      ...common,
      shared: state,
      wire: this.#wire,
      clock,
      worker,
      label: (world) => recorder.labels.named(world),
      committed: (world, holding) => this.#committed(world, holding),
      onLetter: (hear) => this.#notices.onLetter(hear),
    })
    this.#board = board.of(worker, {
      call: (what, act) => this.#ask(what, act),
      hear: (hear) => this.#notices.onWork(hear),
      hearState: (hear) => this.#notices.onState(hear),
      clock,
    })
    this.#worker = this.#makeWorker()
  }

  /** Resolves when it dies, with the fault that killed it. */
  get dead(): Promise<Fault> {
    return this.#dead.promise
  }

  get isAlive(): boolean {
    return this.#state === 'alive'
  }

  /** The Runner of a root world that it holds, unless another process has that by now. */
  runner(world: string): Runner | undefined {
    const runner = this.#runners.get(world)
    // It may be one that has ended, of a world that was driven here anew and is not any more.
    const isDriven = runner !== undefined && this.#driven.get(world)?.driven.world === runner.world
    return this.#state === 'alive' && isDriven && !this.isLost(world) ? runner : undefined
  }

  /** It drives a world that was given to another, and does not know that yet. */
  isLost(world: string): boolean {
    const { board, state } = this.#parts
    const known = this.#driven.get(world)
    const holder = state.holderOf(world)
    if (known !== undefined && holder?.holding !== known.holding) return true
    const order = { root: state.rootOf(world), sessionId: world }
    // A session that another one asks further is driven by the process of that one.
    return known?.driven.inSlot === true && board.holderOf(order) !== this.worker
  }

  /** Whether this is where a world was begun last that is not ended. */
  drives({ world }: DrivenWorld): boolean {
    return this.#driven.get(world.name)?.driven.world === world
  }

  start(): void {
    const { board, shared, state } = this.#parts
    const { store } = state
    store.on('letter', (root, world) => this.#notices.letter(root, world))
    board.hear(() => this.#notices.work())
    board.pauses.hear(() => this.#notices.state())
    this.#beatLater(shared)
    this.#notices.poll()
    this.#worker.start()
  }

  /** Lets go of all that it holds, and ends. */
  async stop(): Promise<void> {
    this.#isStopping = true
    await Promise.race([this.#worker.stop(), this.#dead.promise])
    this.kill()
  }

  get isStopping(): boolean {
    return this.#isStopping
  }

  /** Ends it like a crash: nothing goes on. */
  kill(): void {
    if (this.#state === 'dead') return
    this.#state = 'dead'
    this.#clock.die()
    const { board, shared } = this.#parts
    shared.at(shared.now() + lockFreeMs, () => {
      board.presence.leave(this.worker)
      board.changed()
    })
  }

  #makeWorker(): Worker {
    const { board, components, idleMs, known, make, maxSessions } = this.#parts
    const host = this.#host()
    board.presence.says(this.worker, host.abilities)
    return new Worker({
      store: this.#store,
      board: this.#board,
      host,
      known: { components, systems: known.systems },
      make,
      maxSessions,
      maxWorlds: maxWorldsHeld,
      idleMs,
      opened: (runner) => this.#runners.set(runner.world.name, runner),
      unfit: (world, code, message) => this.#unfit(world, code, message),
    })
  }

  #host(): Host {
    const { options, recorder, tools } = this.#parts
    const { labels } = recorder
    const work = new SimulatedWork({
      ...this.#parts,
      isDead: () => this.#state === 'dead',
      recorder: {
        labels,
        called: (call) => this.#called(call),
        struck: (fault) => recorder.struck(fault),
        break: (...broken) => recorder.break(...broken),
      },
    })
    const sessionPool = new SessionPool({ cap: options.maxSessions })
    return new Host(simulatedHost({ options, clock: this.#clock, tools, work, sessionPool }), this.#seams())
  }

  #seams(): HostSeams {
    const { newRun, plan, recorder, state } = this.#parts
    const later = (delayMs: number, enter: () => void): unknown => this.#clock.at(this.#clock.now() + delayMs, enter)
    return {
      fleet: this.#board,
      newRun,
      began: (driven) => this.#began(driven),
      committing: ({ world }, step) => {
        this.#steps.set(world.name, step)
        this.#parts.state.committing(world.name, this.worker, step)
      },
      ended: (driven) => this.#ended(driven),
      held: (holder) => {
        // Whoever has the world by now has perhaps removed it meanwhile.
        if (this.#state !== 'dead' && !state.isDeleted(holder.name)) recorder.ask('held', holder)
      },
      removed: (holder) => {
        if (this.#state !== 'dead') recorder.ask('removed', holder)
      },
      deliver: (driven, input, enter) => {
        if (this.#state !== 'dead') deliver({ plan, recorder, later }, driven, input, enter)
      },
    }
  }

  #began(driven: DrivenWorld): void {
    const { name, tick } = driven.world
    const holder = this.#parts.state.holderOf(name)
    if (this.#state === 'dead' || holder?.worker !== this.worker) return
    this.#driven.set(name, { driven, holding: holder.holding, committedTick: tick })
    this.#parts.began(this.#seen(driven))
  }

  /** By a claim that is not the newest any more, a session is driven without a slot. */
  #seen(driven: DrivenWorld): DrivenWorld {
    return driven.inSlot && this.isLost(driven.world.name) ? { ...driven, inSlot: false } : driven
  }

  #committed(world: string, holding: number): void {
    const known = this.#driven.get(world)
    const step = this.#steps.get(world)
    if (known === undefined || step === undefined || known.holding !== holding) return
    known.committedTick = step.delta.tick
    this.#parts.ticked(this.#seen(known.driven), step)
  }

  #ended(driven: DrivenWorld): void {
    if (this.#state !== 'alive' || !this.drives(driven)) return
    const { name } = driven.world
    const { recorder, state } = this.#parts
    const isOwn = state.holderOf(name)?.holding === this.#driven.get(name)?.holding
    this.#driven.delete(name)
    this.#runners.delete(name)
    if (isOwn) recorder.ended(driven)
  }

  #called(call: BegunCall): void {
    const { recorder } = this.#parts
    const name = [...this.#driven].find(([world]) => recorder.labels.named(world) === call.label)?.[0]
    const known = name === undefined ? undefined : this.#driven.get(name)
    if (name === undefined || known === undefined) return
    const { committedTick } = known
    const late = this.isLost(name) ? { process: this.name, world: known.driven.world, committedTick } : undefined
    recorder.called(call, { process: this.name, late })
  }

  /** A look at what has not changed since the last one meets no fault, and costs nothing. */
  #ask<T>(what: BoardCall, act: () => Promise<T>): Promise<T> {
    if (what === 'state' || what === 'hasSlot') return this.#wire.look(act)
    const { board, plan, recorder, shared } = this.#parts
    if (what === 'due' || what === 'next') {
      if (board.isKnown(this.worker, what)) return this.#wire.look(act)
    }
    if (what !== 'next') return this.#wire.call(act)
    return this.#wire.call(act, { isTaking: true }).then(async (taken) => {
      const isNone = Array.isArray(taken) && taken.length === 0
      const late = isNone ? undefined : plan.strike('dispatch', plan.next('line', 'reply'), isLate)
      if (late === undefined) return taken
      recorder.struck(late)
      await new Promise<void>((resolve) => void shared.at(shared.now() + (late.ms ?? 0), resolve))
      await this.#clock.awake()
      return taken
    })
  }

  #beatLater(shared: VirtualClock): void {
    this.#clock.at(this.#clock.now() + beatEachMs, () => {
      const { board } = this.#parts
      const beat = async (): Promise<void> => board.beat(this.worker)
      void this.#wire.look(beat)
      this.#beatLater(shared)
    })
  }

  #befallen(fault: Fault): void {
    const { board, deploy, shared } = this.#parts
    if (fault.what === 'process.suspect') board.suspect(this.worker)
    else if (fault.what === 'process.deploy') deploy(this)
    else {
      this.#clock.pause()
      shared.at(shared.now() + (fault.ms ?? 0), () => this.#clock.resume())
    }
  }

  #unfit(world: string, code: EntiaErrorCode | undefined, message: string): void {
    if (this.#state !== 'alive' || idleCodes.has(code)) return
    const meaning = 'A worker can drive whatever comes to it, unless the store fails.'
    const { recorder } = this.#parts
    recorder.break('runner-goes-on', meaning, `${this.name} cannot drive it: ${message}`, recorder.labels.named(world))
  }

  #crash(fault: Fault): void {
    if (this.#state !== 'alive') return
    if (fault.what !== 'crash.afterEffects') return this.#die(fault)
    this.#state = 'dying'
    const { shared } = this.#parts
    shared.at(shared.now() + maxDyingMs, () => this.#die(fault))
  }

  #die(fault: Fault): void {
    if (this.#state === 'dead') return
    this.kill()
    this.#dead.resolve(fault)
  }
}

/** Most root worlds that a process holds at once: more than a story has. */
const maxWorldsHeld = 1_000

function isLate(what: string): boolean {
  return what === 'dispatch.late'
}
