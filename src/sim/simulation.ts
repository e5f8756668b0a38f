import { VirtualClock } from '../engine/loop/virtual-clock.ts'
import { withStandard } from '../engine/loop/with-standard.ts'
import { lastWords } from '../rules/projection/text-of.ts'
import type { RunnerEvent } from '../engine/loop/events.ts'
import { Conversation } from '../../components/agent/conversation.ts'
import type { StandardInput } from '../protocol/input.ts'
import { memoryStore } from '../stores/memory.ts'
import type { Store } from '../stores/port.ts'
import { thrownMessage } from '../rules/text/thrown-message.ts'
import { EntiaError } from '../world/entia-error.ts'
import type { Component } from '../world/component.ts'
import { checkWakes, knownComponents } from '../world/inspection.ts'
import type { World } from '../world/world.ts'
import { Arrivals, Chance } from './chance.ts'
import { FaultPlan, isList } from './fault-plan.ts'
import { factsOf } from './law.ts'
import { type CheckedOptions, checkMade, checkTools, madeAnew } from './options.ts'
import { SimulatedUsers } from './simulated-users.ts'
import { type RealUse, watchRealUse, watchStandstill } from './real-use.ts'
import type { Missed } from './recording/missed.ts'
import { type RecordedStart, recordedStart } from './recording/recorded-answers.ts'
import { ReplayedRun } from './recording/replayed-run.ts'
import type { RunningService } from './service.ts'
import { SimulatedProcess } from './simulated-process.ts'
import { Underway } from './simulated-work.ts'
import { RunRecorder } from './run-recorder.ts'

/** One run of a world under a seed, through all its crashes. */
export class Simulation {
  readonly options: CheckedOptions
  readonly plan: FaultPlan
  readonly recorder: RunRecorder
  readonly services: Readonly<Record<string, RunningService<unknown, never, unknown>>>
  readonly realUses: RealUse[] = []
  readonly #chance: Chance
  readonly #clock: VirtualClock
  readonly #underway = new Underway()
  readonly #store: Store | undefined
  readonly #users: SimulatedUsers
  readonly #disk = { fullUntilMs: 0 }
  #process: SimulatedProcess | undefined
  #replayed: ReplayedRun | undefined
  readonly #recorded: RecordedStart | undefined
  /** The root world as made for the current process, which owns its systems. */
  #made: World | undefined
  #name = ''

  constructor(options: CheckedOptions) {
    this.options = options
    const { seed, faults, recording, services, maxSessions } = options
    this.#recorded = recording && recordedStart(recording)
    const chance = (this.#chance = new Chance(seed))
    this.plan = new FaultPlan(chance, faults)
    const running = Object.entries(services).map(([name, each]) => [name, each.start(chance, name)] as const)
    this.services = Object.fromEntries(running)
    // Which faults are left out must not decide about the store: a shrunk run would differ.
    const needsStore = isList(faults) || Object.keys(faults).length > 0 || recording !== undefined
    const made = options.store && checkMade('store', options.store(), ['open', 'list'])
    this.#store = made ?? (needsStore ? memoryStore() : undefined)
    const arrivals = new Arrivals(chance)
    const clock = new VirtualClock({
      dateMs: this.#recorded?.dateMs ?? firstDateMs,
      whenQuiet: () => this.#whenQuiet(),
      together: () => arrivals.comeTogether(clock.now()),
      stepsWithoutTurn: 64,
    })
    this.#clock = clock
    const states = running.map(([name, { state }]) => [name, state] as const)
    const isKept = this.#store !== undefined
    const facts = factsOf({ seed, maxSessions, isKept, services: Object.fromEntries(states) })
    this.recorder = new RunRecorder(options, facts, () => clock.now())
    this.#users = new SimulatedUsers({
      users: options.users,
      chance,
      clock,
      plan: this.plan,
      post: (input, id) => this.#post(input, id),
      change: (change) => this.#change(change),
      recorder: this.recorder,
      textOf: (event) => this.#textOf(event),
      usedReal: (use) => this.#usedReal(use),
    })
  }

  get missed(): readonly Missed[] {
    return this.#replayed?.missed ?? []
  }

  get nowMs(): number {
    return this.#clock.now()
  }

  get world(): World {
    return this.recorder.worlds.get(this.#name)?.world ?? (this.#made as World)
  }

  async run(): Promise<void> {
    const { recorder } = this
    this.#made = this.#make()
    this.#name = this.#made.name
    this.#replayed = this.#replay(this.#made)
    const endWatch = watchRealUse({
      running: () => recorder.runningSystem,
      tell: (use) => this.#usedReal(use, 'the world: world.nowMs, world.dateMs, world.random() or world.newId()'),
    })
    const progress = (): number => recorder.progress + this.nowMs
    const endStandstill = watchStandstill(progress, () => this.#stands(), this.options.bounds.maxStallMs)
    try {
      while (recorder.violation === undefined && !(await this.#live()));
      recorder.ask('finished', recorder.worlds)
      this.#faultsStruck()
    } finally {
      endStandstill()
      endWatch()
      await this.#process?.kill()
    }
  }

  /** A listed fault that found no place tests nothing: the run differs from the one it was pasted from. */
  #faultsStruck(): void {
    const { plan, recorder } = this
    const [missed] = plan.missed
    if (missed === undefined || recorder.violation !== undefined) return
    const { what, at } = missed
    const others = plan.missed.length > 1 ? ` (and ${plan.missed.length - 1} more)` : ''
    const end = `The run ended after ${recorder.ticks} ticks and ${recorder.crashes} crashes`
    const advice = 'Take it out of `faults`, or make the list again from a run that fails.'
    const message = `${what} at '${at}'${others} struck nowhere. ${end}, ${plan.reached(at)}. ${advice}`
    recorder.break('faults-strike', 'Every fault of a list strikes.', message)
  }

  /** One life of the process. True: the run is over. */
  async #live(): Promise<boolean> {
    const { recorder } = this
    const process = this.#start()
    this.#process = process
    const ended = this.#idle(process).then(
      () => undefined,
      (error: unknown) => error as Error,
    )
    let end = await Promise.race([ended, process.dead, recorder.broken])
    if (recorder.violation !== undefined) return true
    if (end === undefined) {
      if (process.doom === undefined) await Promise.race([process.stop(), process.dead])
      // Its last write may have killed it.
      end = process.doom
      if (end === undefined) return true
    }
    await process.kill()
    if ('what' in end) recorder.struck(end)
    else if (!isStoreFailure(end)) {
      recorder.break('runner-goes-on', 'A Runner fails only if its store does.', thrownMessage(end))
    }
    this.#users.pause()
    recorder.crashed('what' in end ? end.what : thrownMessage(end))
    const restartsMs = this.nowMs + this.#chance.within(restartMs, `restart ${recorder.crashes}`)
    await new Promise<void>((resolve) => void this.#clock.at(restartsMs, resolve))
    return false
  }

  #start(): SimulatedProcess {
    const { options, plan, services, recorder } = this
    // State in closures of systems and tools dies with the process.
    if (recorder.crashes > 0) this.#made = this.#make()
    const world = this.#made as World
    const tools = typeof options.tools === 'function' ? options.tools(services) : options.tools
    checkTools(tools)
    return new SimulatedProcess({
      options,
      plan,
      tools,
      name: this.#name,
      world,
      chance: this.#chance,
      clock: this.#clock,
      store: this.#store,
      disk: this.#disk,
      underway: this.#underway,
      components: () => this.#components(world),
      replayed: this.#replayed,
      recorder,
      usedReal: (use) => this.#usedReal(use),
      heard: (event) => this.#users.see(event),
      seams: {
        newRun: () => this.#recorded?.run,
        began: (driven) => {
          // Every second seed checks whether the `wakes` of a system miss something.
          checkWakes(driven.world, options.seed % 2 === 1)
          recorder.began(driven)
        },
        ended: (driven) => recorder.ended(driven),
        held: (holder) => recorder.ask('held', holder),
        removed: (holder) => recorder.ask('removed', holder),
        ticked: (driven, step) => {
          recorder.ticked(driven, step)
          if (driven.path.length === 0) this.#users.ticked(driven.world)
        },
      },
    })
  }

  /** Session ids are made from a world's seed and run: those of a recording reproduce its ids. */
  #make(): World {
    const { recording, seed, world } = this.options
    return madeAnew(world(recording?.seed ?? seed))
  }

  #components(world: World): readonly Component[] {
    return withStandard([...(this.options.components ?? []), ...knownComponents(world).values()])
  }

  #replay(world: World): ReplayedRun | undefined {
    const { recorder } = this
    const { faults, onMiss, users, recording } = this.options
    if (recording === undefined) return undefined
    const meaning = 'What a replayed run asks for, its recording has an answer to.'
    return new ReplayedRun({
      recording,
      onMiss,
      world,
      components: this.#components(world),
      clock: this.#clock,
      label: (name) => recorder.labels.named(name),
      runner: () => this.#process?.runner,
      hasUsers: Object.keys(users).length > 0,
      hasFaults: isList(faults) ? faults.length > 0 : Object.keys(faults).length > 0,
      broke: (message, label) => recorder.break('replay-mismatch', meaning, message, label),
    })
  }

  /** Resolves once the world and the users have nothing left to do. */
  async #idle(process: SimulatedProcess): Promise<void> {
    await process.start()
    this.#users.resume()
    const outside = this.#replayed?.outside
    outside?.resume()
    await process.runner?.idle()
    const isBusy = (): boolean => this.#users.isBusy || outside?.isBusy === true || process.isExpecting
    while (isBusy()) {
      await this.#users.quiet()
      await Promise.all([outside?.quiet(), process.arrival()])
      await process.runner?.idle()
    }
  }

  /** @param source where to get a reproducible value instead */
  #usedReal(use: RealUse, source = "the tool's context or a service"): void {
    if (this.realUses.some(({ name, used }) => name === use.name && used === use.used)) return
    this.realUses.push(use)
    if (this.options.realUse === 'list') return
    const advice = `Take what must be the same in every run from ${source}, or pass realUse: 'list'`
    this.#isReal(`${use.name} used ${use.used}. ${advice}.`)
  }

  /** Names work that takes real time, since no seed decides how long it takes. */
  #stands(): void {
    const { names } = this.#underway
    const who = names.length > 0 ? names.join(', ') : 'something that is neither a tool nor a model'
    this.#isReal(`${who} took more than ${this.options.bounds.maxStallMs} ms of real time (bounds.maxStallMs).`)
  }

  #isReal(message: string): void {
    const meaning = 'Nothing in a simulation takes real time, or looks at the real clock, or throws real dice.'
    this.recorder.break('real-time-in-simulation', meaning, message)
  }

  /** Nothing is due or at work. Unless the run is idle, something waits forever. */
  #whenQuiet(): void {
    const { recorder } = this
    const runner = this.#process?.runner
    if (runner === undefined || recorder.violation !== undefined || this.#replayed?.goOn() === true) return
    let isIdle = false
    const idle = (): boolean => (isIdle = true)
    runner.idle().then(idle, idle)
    const before = recorder.progress
    const look = (): void => {
      if (isIdle || before !== recorder.progress || this.#process?.runner !== runner) return
      recorder.neverIdle('Nothing is at work, and nothing is due')
    }
    setImmediate(() => setImmediate(look))
  }

  #textOf(event: RunnerEvent): string | undefined {
    const { agent, world } = event as { readonly agent?: unknown; readonly world?: string }
    const isOfRoot = typeof agent === 'number' && world === this.#name && this.world.has(agent, Conversation)
    return isOfRoot ? lastWords(this.world, agent) : undefined
  }

  async #change(change: (world: World) => void): Promise<void> {
    const runner = this.#process?.runner
    if (runner === undefined) await new Promise(() => undefined)
    let hasThrown = false
    const made = (world: World): void => {
      hasThrown = true
      change(world)
      hasThrown = false
    }
    await runner?.change(made).catch((error: unknown) => {
      if (!hasThrown) throw error
    })
  }

  async #post(input: StandardInput, id: string): Promise<void> {
    const runner = this.#process?.runner
    if (runner !== undefined) await runner.post(input, { id })
    else await new Promise(() => undefined)
  }
}

/** Delay before a dead process restarts, in milliseconds. */
const restartMs = [0, 3_000] as const

/** 1 January 2030. */
const firstDateMs = 1_893_456_000_000

function isStoreFailure(error: unknown): boolean {
  return error instanceof EntiaError && error.code === 'store-failed'
}
