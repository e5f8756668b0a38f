import * as standard from '../../components/index.ts'
import type { DrivenWorld } from '../engine/host-seams.ts'
import type { RunnerEvent } from '../engine/events.ts'
import { VirtualClock } from '../engine/virtual-clock.ts'
import type { StandardInput } from '../../components/input.ts'
import type { Store } from '../stores/port.ts'
import { thrownMessage } from '../tools/thrown-message.ts'
import { EntiaError } from '../world/entia-error.ts'
import type { Input } from '../world/input.ts'
import type { Step } from '../world/journal.ts'
import type { JsonObject } from '../world/json.ts'
import { tokensOf } from '../world/restore.ts'
import type { World } from '../world/world.ts'
import { Chance } from './chance.ts'
import type { Fault } from './fault.ts'
import { FaultPlan } from './fault-plan.ts'
import { Labels } from './labels.ts'
import { type Broken, LawBook, type LawWatch, type RunFacts, type WatchedWorld } from './law.ts'
import { type CheckedOptions, defaultStore } from './options.ts'
import { People } from './people.ts'
import { type RealUse, watchRealUse } from './real-use.ts'
import type { RunningService } from './service.ts'
import { SimulatedProcess } from './simulated-process.ts'
import { Trace } from './trace.ts'
import { Underway } from './underway.ts'
import { whoWaits } from './who-waits.ts'

/** How a run was broken, and where. */
export interface Violation extends Broken {
  /** The label of the world in which it was seen. */
  readonly world: string
  readonly tick: number
  /** World time of the simulation. */
  readonly atMs: number
}

/** One run of a world under a seed, over all its crashes. */
export class Simulation {
  readonly options: CheckedOptions
  readonly chance: Chance
  readonly plan: FaultPlan
  readonly trace: Trace
  readonly services: Readonly<Record<string, RunningService<unknown, never, unknown>>>
  readonly labels = new Labels()
  readonly realUses: RealUse[] = []
  /** The worlds as they were last, by label. */
  readonly worlds = new Map<string, WatchedWorld>()
  readonly book: LawBook
  ticks = 0
  crashes = 0
  violation: Violation | undefined
  readonly #clock: VirtualClock
  readonly #underway = new Underway()
  readonly #store: Store | undefined
  readonly #broken = Promise.withResolvers<void>()
  readonly #people: People
  #process: SimulatedProcess | undefined
  #world: World | undefined
  /** Counts whatever goes on, so that a standstill is seen. */
  #progress = 0

  constructor(options: CheckedOptions) {
    this.options = options
    const { seed, faults, laws, services, maxSessions } = options
    this.chance = new Chance(seed)
    this.plan = new FaultPlan(this.chance, faults)
    this.trace = new Trace(options.onTrace)
    const running = Object.entries(services).map(([name, each]) => [name, each.start(this.chance, name)] as const)
    this.services = Object.fromEntries(running)
    const needsStore = this.plan.has('crash') || this.plan.has('store')
    this.#store = options.store?.() ?? (needsStore ? defaultStore() : undefined)
    const states = running.map(([name, { state }]) => [name, state] as const)
    const facts: RunFacts = {
      seed,
      maxSessions,
      isKept: this.#store !== undefined,
      services: Object.fromEntries(states),
    }
    this.book = new LawBook(laws, facts)
    this.#clock = new VirtualClock({ dateMs: firstDateMs, whenQuiet: () => this.#whenQuiet() })
    this.#people = new People({
      people: options.people,
      chance: this.chance,
      plan: this.plan,
      clock: this.#clock,
      post: (input, id) => this.#post(input, id),
      struck: (fault) => this.#struck(fault),
    })
  }

  get nowMs(): number {
    return this.#clock.now()
  }

  /** The root world as it was last. */
  get world(): World {
    const { name } = this.#world as World
    return this.worlds.get(name)?.world ?? (this.#world as World)
  }

  /** Runs it to its end: until nothing is in flight and nothing is due, or a law is broken. */
  async run(): Promise<void> {
    const unwatch = watchRealUse()
    const watchdog = this.#watchStandstill()
    try {
      this.#world = this.options.world(this.options.seed)
      while (this.violation === undefined && !(await this.#live()));
      if (this.violation === undefined) this.#ask('finished', this.worlds)
    } finally {
      clearInterval(watchdog)
      unwatch()
      await this.#process?.kill()
    }
  }

  /** One life of the process. True: the run is over. */
  async #live(): Promise<boolean> {
    const process = this.#start()
    this.#process = process
    const ended = this.#idle(process).then(
      () => undefined,
      (error: unknown) => error as Error,
    )
    const end = await Promise.race([ended, process.dead, this.#broken.promise])
    if (this.violation !== undefined) return true
    if (end === undefined) {
      await process.stop()
      return true
    }
    await process.kill()
    const fault = 'what' in end ? end : undefined
    if (fault !== undefined) this.#struck(fault)
    else if (!isStoreFailure(end))
      this.#break('the Runner does not fail', 'A Runner fails only if its store does.', thrownMessage(end))
    this.#crashed(thrownMessage(fault?.what ?? end))
    return this.violation !== undefined
  }

  #start(): SimulatedProcess {
    const { options, chance, plan, services } = this
    const world = this.#world as World
    const tools = typeof options.tools === 'function' ? options.tools(services) : options.tools
    const components = [...Object.values(standard), ...(options.components ?? []), ...world.core.tokens.values()]
    return new SimulatedProcess({
      options,
      chance,
      plan,
      tools,
      world,
      remake: () => this.#remake(),
      clock: this.#clock,
      store: this.#store,
      underway: this.#underway,
      components: [...new Set(tokensOf(components))],
      label: (name) => this.labels.named(name),
      struck: (fault) => this.#struck(fault),
      usedReal: (use) => this.#usedReal(use),
      called: ({ key, ...call }) => this.#called(key, call),
      heard: (event) => this.#heard(event),
      pool: (event) => void this.#ask('pool', event),
      seams: {
        began: (driven) => this.#began(driven),
        ticked: (driven, step) => this.#ticked(driven, step),
        ended: (driven) => void this.#ask('ended', this.#watched(driven)),
      },
    })
  }

  /** A world that nobody has driven: one that was not written down before its process died is made once more. */
  #remake(): World {
    const { seed, world } = this.options
    if (this.crashes > 0) this.#world = world(seed)
    return this.#world as World
  }

  /** Resolves once there is nothing more to do, for the world and for the people. */
  async #idle(process: SimulatedProcess): Promise<void> {
    await process.start()
    this.#people.resume()
    await process.runner?.idle()
    while (this.#people.isBusy) {
      await this.#people.quiet()
      await process.runner?.idle()
    }
  }

  #began(driven: DrivenWorld): void {
    this.labels.learnAll(driven)
    const watched = this.#watched(driven)
    this.worlds.set(watched.label, watched)
    this.#ask('began', watched)
  }

  #ticked(driven: DrivenWorld, step: Step): void {
    this.#progress++
    this.ticks++
    this.labels.learn(driven, step.delta)
    const watched = this.#watched(driven)
    this.worlds.set(watched.label, watched)
    for (const { type, ...facts } of step.events) {
      this.trace.write({ atMs: this.nowMs, label: watched.label, tick: step.delta.tick, type, facts })
    }
    this.#ask('ticked', { ...watched, step })
    const { maxTicks, maxVirtualMs } = this.options.bounds
    if (this.ticks >= maxTicks) this.#neverIdle(`bounds.maxTicks (${maxTicks})`)
    if (this.nowMs >= maxVirtualMs) this.#neverIdle(`bounds.maxVirtualMs (${maxVirtualMs})`)
    if (driven.path.length === 0) this.#people.ticked(driven.world)
  }

  #called(
    key: string,
    call: { readonly kind: 'model' | 'tool'; readonly name: string; readonly attempt: number },
  ): void {
    this.#progress++
    const end = key.lastIndexOf('/')
    const label = this.labels.named(key.slice(0, end))
    const world = this.worlds.get(label)?.world
    if (world === undefined) return
    const effect = Number(key.slice(end + 1))
    const restart = world.get(effect, standard.Effect)?.restart ?? 'pure'
    this.#ask('called', { ...call, label, world, effect, restart })
  }

  #heard(event: RunnerEvent): void {
    if ('tick' in event) this.#people.see(event)
  }

  #struck(fault: Fault): void {
    this.trace.write({ atMs: this.nowMs, label: '-', type: 'fault', facts: { ...fault } })
  }

  #crashed(why: string): void {
    this.crashes++
    this.trace.write({ atMs: this.nowMs, label: '-', type: 'crashed', facts: { why } })
    this.#ask('crashed')
    const { maxCrashes } = this.options.bounds
    if (this.crashes >= maxCrashes) this.#neverIdle(`bounds.maxCrashes (${maxCrashes})`)
    this.#people.pause()
  }

  #usedReal(use: RealUse): void {
    if (this.realUses.some(({ name, used }) => name === use.name && used === use.used)) return
    this.realUses.push(use)
    if (this.options.realUse === 'list') return
    const what = `${use.name} used ${use.used}`
    const advice =
      "What a run is to do again must come from the context ('sleep', 'key') or from a service. Or pass { realUse: 'list' }."
    this.#break(
      'real-time-in-simulation',
      'Nothing in a simulation looks at the real clock or throws real dice.',
      `${what}. ${advice}`,
    )
  }

  /** Nothing will happen any more of itself. If the run is not over by that, somebody waits for what cannot come. */
  #whenQuiet(): void {
    const runner = this.#process?.runner
    if (runner === undefined || this.violation !== undefined) return
    let isIdle = false
    void runner.idle().then(
      () => (isIdle = true),
      () => (isIdle = true),
    )
    const before = this.#progress
    setImmediate(() =>
      setImmediate(() => {
        if (isIdle || before !== this.#progress || this.#process?.runner !== runner) return
        this.#neverIdle('nothing is due, nothing is at work')
      }),
    )
  }

  #neverIdle(bound: string): void {
    const waiting = whoWaits(this.worlds)
    this.#break('the run comes to an end', 'A run goes idle within its bounds.', `${bound}. ${waiting}`)
  }

  /** Work that takes real time is named, since no seed decides how long it takes. */
  #watchStandstill(): NodeJS.Timeout {
    let before = 0
    let beforeMs = 0
    return setInterval(() => {
      const isStill = this.#progress === before && this.#clock.now() === beforeMs
      before = this.#progress
      beforeMs = this.#clock.now()
      if (!isStill || this.violation !== undefined) return
      const names = this.#underway.names
      const what = names.length > 0 ? names.join(', ') : 'something outside of tools and models'
      const message = `${what} took more than ${this.options.bounds.maxStallMs} ms of real time (bounds.maxStallMs)`
      this.#break('real-time-in-simulation', 'Nothing in a simulation takes real time.', message)
    }, this.options.bounds.maxStallMs)
  }

  async #post(input: StandardInput | Input, id: string): Promise<void> {
    const runner = this.#process?.runner
    if (runner !== undefined) await runner.post(input, { id })
    else await new Promise(() => undefined)
  }

  #watched(driven: DrivenWorld): WatchedWorld {
    return { ...driven, label: this.labels.of(driven) }
  }

  #ask<K extends keyof LawWatch>(what: K, ...question: Parameters<NonNullable<LawWatch[K]>>): void {
    if (this.violation !== undefined) return
    const broken = this.book.ask(what, ...question)
    if (broken === undefined) return
    const [about] = question
    const label = (about as Partial<WatchedWorld> | undefined)?.label
    this.#violate(broken, label)
  }

  #break(law: string, meaning: string, message: string): void {
    this.#violate({ law, meaning, message }, undefined)
  }

  #violate(broken: Broken, label: string | undefined): void {
    if (this.violation !== undefined) return
    const name = label ?? this.#world?.name ?? '-'
    const tick = this.worlds.get(name)?.world.tick ?? 0
    this.violation = { ...broken, world: name, tick, atMs: this.nowMs }
    const { law, message } = broken
    this.trace.write({
      atMs: this.nowMs,
      label: name,
      tick,
      type: 'law-broken',
      facts: { law, message } satisfies JsonObject,
    })
    this.#broken.resolve()
  }
}

/** The date on which every simulation begins: 1 January 2030. */
const firstDateMs = 1_893_456_000_000

function isStoreFailure(error: unknown): boolean {
  return error instanceof EntiaError && error.code === 'store-failed'
}
