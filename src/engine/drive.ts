import type { StandardInput } from '../../components/input.ts'
import { OwnedBy } from '../../components/owned-by.ts'
import { SeenInputs } from '../../components/seen-inputs.ts'
import type { SessionUsage } from '../../components/subagent-session.ts'
import { canonical } from '../world/canonical.ts'
import type { Entity } from '../world/component.ts'
import { EntiaError } from '../world/entia-error.ts'
import type { Input, WorldEvent } from '../world/input.ts'
import type { World } from '../world/world.ts'
import { begunBefore } from './begun-before.ts'
import { checkParts } from './check-parts.ts'
import type { AnswerInput, Lineage } from './children/child-run.ts'
import type { MakeRunner } from './children/child-worlds.ts'
import type { EffectKind } from './effect-kind.ts'
import type { EventPlace, EventTime, StreamEvent } from './events.ts'
import type { Host } from './host.ts'
import type { DrivenWorld } from './host-seams.ts'
import { newFacts } from './host-facts.ts'
import { type Enter, Inbox, type Waiter } from './inbox.ts'
import type { Keeper } from './keeper.ts'
import { Listeners } from './listeners.ts'
import { tellLostTicks } from './lost-ticks.ts'
import { postedInput, takeEarly } from './posted-input.ts'
import { Pump } from './pump.ts'
import { defaultMaxInputsPerTick, hostOf, type RunnerOptions } from './runner-options.ts'
import type { RunnerStats } from './runner-stats.ts'
import { childKind, isChildEffect } from './children/kinds.ts'
import { Completions } from './children/completions.ts'
import { usageOf } from '../subagents/session-usage.ts'
import { Children, hasAsked } from './children/children.ts'
import { hasUntold, tellUntold } from './children/untold.ts'
import { beginKeeping, loadedTokenizer } from './stored-world.ts'
import { synchronous } from './synchronous.ts'
import { type TextSoFar, TextsSoFar } from './texts-so-far.ts'
import { TickLoop } from './tick-loop.ts'
import { callsOf, goneTools, type ToolAddition, toolChanges } from './tool-changes.ts'

/** What holds a world already that is to be driven, and what ties it to a parent. */
export interface DriveTies {
  readonly lineage?: Lineage
  readonly keeper?: Keeper | undefined
  readonly told?: readonly WorldEvent[]
}

/** How one world is driven on one host: what stands behind a Runner, and behind each session of it. */
export class Drive {
  readonly world: World
  readonly host: Host
  readonly #options: RunnerOptions
  readonly listeners: Listeners
  readonly #texts = new TextsSoFar()
  /** Tools that the program gives to agents with the start. */
  readonly #additions: ToolAddition[] = []
  readonly #inbox: Inbox
  readonly #pump: Pump
  #completions: Completions | undefined
  #children: Children | undefined
  readonly #lineage: Lineage | undefined
  readonly #told: readonly WorldEvent[]
  #keeper: Keeper | undefined
  #loop: TickLoop | undefined
  #isStopped = false
  /** What sessions had spent that are stopped with it. */
  readonly #late: Input[] = []
  #dropped = 0

  /** @param ties what ties it to a store that holds its world already, and to a parent. The engine's own */
  constructor(world: World, options: RunnerOptions = {}, ties: DriveTies = {}) {
    this.world = world
    this.#options = options
    this.#lineage = ties.lineage
    this.#keeper = ties.keeper
    this.#told = ties.told ?? []
    this.host = hostOf(options)
    this.listeners = new Listeners(world.name, () => this.#time, ties.lineage)
    this.#inbox = new Inbox(options.maxInputsPerTick ?? defaultMaxInputsPerTick)
    const owner = {
      post: (input: StandardInput) => this.#deliver(input),
      tell: (event: StreamEvent) => {
        if (event.type === 'model-delta') this.#texts.hear(event)
        else if (event.type === 'model-discarded') this.#texts.discard(event)
        this.listeners.tell(event)
      },
      gone: (effect: Entity) => this.#texts.forget(effect),
      dropped: () => void this.#dropped++,
    }
    const kindOf = (name: string): EffectKind =>
      isChildEffect(name) ? childKind(name, this.children, ties.lineage) : this.host.kind(name)
    this.#pump = new Pump(world, this.host, owner, kindOf)
  }

  get stats(): RunnerStats {
    return { ticks: this.#loop?.ticks ?? 0, dropped: this.#dropped, inFlight: this.#pump.inFlight }
  }

  /** Takes the world up, with these as its first inputs. @throws as `Runner.start` */
  async start(first: readonly Input[] = []): Promise<void> {
    if (this.#loop !== undefined || this.#isStopped) {
      throw new EntiaError('world-driven', `A Runner starts once; make a new one for world '${this.world.name}'.`)
    }
    const gone = goneTools(this.world, this.host)
    checkParts(this.world, this.host, gone)
    const facts = newFacts(this.world, this.host.facts(this.#options.store !== undefined))
    const tools = toolChanges(this.world, this.host, facts, this.#additions)
    const { core } = this.world
    // Kept out of the store's snapshot, which would bring them in again after a crash.
    const early = takeEarly(this.world)
    core.drive({
      name: 'a Runner',
      post: (input) => {
        const posted = postedInput(this.world, input)
        if (this.#loop === undefined) early.push(posted)
        else this.#enterPosted(posted)
      },
    })
    const written = core.unwatch()
    const runBefore = core.run
    core.run = this.#runId()
    try {
      await this.#openStore()
    } catch (error) {
      core.drive(undefined)
      core.run = runBefore
      core.watch(written)
      for (const input of early) core.inbox.push(input)
      throw error
    }
    const { world, host } = this
    const { clock, seams } = host
    seams.began?.(this.#driven)
    this.#loop = new TickLoop({
      world,
      clock,
      inbox: this.#inbox,
      pump: this.#pump,
      listeners: this.listeners,
      keeper: this.#keeper,
      ticked: seams.ticked && ((step) => seams.ticked?.(this.#driven, step)),
      committed: this.#lineage?.committed,
      failed: this.#lineage?.failed,
    })
    this.#inbox.remember(world.query(SeenInputs).flatMap((keeper) => world.read(keeper, SeenInputs)))
    this.#tellAgain()
    tellLostTicks(world.name, this.#keeper?.lost, this.listeners)
    this.listeners.on('input-dropped', ({ path }: EventPlace) => void (this.#dropped += path === undefined ? 1 : 0))
    if (written !== undefined) this.#inbox.push(written)
    const reruns = begunBefore(world)
    const run = core.run === runBefore ? undefined : core.run
    const found = { ...(run !== undefined && { run }), ...(facts && { host: facts }), ...(tools && { tools }) }
    this.#enter({ kind: 'started', dateMs: clock.date(), ...found, ...(reruns.length > 0 && { reruns }) })
    for (const input of first) this.#enter(input)
    for (const input of early) this.#enterPosted(input)
    this.#pump.takeUp(this.#loop.offsetMs, [...reruns, ...callsOf(world, gone)])
    if (hasUntold(world)) tellUntold(this.children)
  }

  /** Gives an agent a tool of the Host with the first tick. */
  addTool(agent: Entity, tool: string): void {
    if (this.#loop === undefined && !this.#isStopped) return void this.#additions.push({ agent, tool })
    const advice = 'Call addTool before start(); later, write its ToolRegistry with runner.change(…).'
    throw new EntiaError('world-driven', `World '${this.world.name}' has been started. ${advice}`)
  }

  /** Resolves once nothing is in flight and nothing is due. @throws as `Runner.idle` */
  async idle(): Promise<void> {
    const loop = this.#running()
    await loop.idle()
    // A session that was stopped tells what it had spent.
    while (!this.#isStopped && this.#children?.isClosing === true) {
      await this.#children.stopped()
      await loop.idle()
    }
  }

  /** Puts an input in. @throws as `Runner.post` */
  async post(input: StandardInput | Input, id?: string): Promise<void> {
    const stored = postedInput(this.world, input, id)
    // One that could not be passed on may come again under its id: it counts as seen by the world that has asked.
    if (stored.kind === 'answer' && (await this.#isPassedOn(stored as AnswerInput))) return
    if (this.#isRepeated(stored)) return
    await this.#committed((waiter) => this.#inbox.push(stored, { ...waiter, isProgram: true }))
  }

  /** Takes a person's answer, if this world or one below has asked. */
  async answer(input: AnswerInput): Promise<boolean> {
    if (!hasAsked(this.world, input)) return this.#isPassedOn(input)
    await this.post(input)
    return true
  }

  /** Changes the world at the next tick. @throws as `Runner.change` */
  async change<T>(change: (world: World) => T): Promise<T> {
    this.#running()
    const results: T[] = []
    const make = (world: World): void => void results.push(synchronous(change(world)))
    await this.#committed((waiter) => this.#inbox.pushChange(make, { ...waiter, isProgram: true }))
    return results.at(-1) as T
  }

  /** Writes the world down before it is driven. */
  async prepare(): Promise<void> {
    await this.#openStore()
  }

  /** What an agent and its sessions have used. */
  usageOf(agent: Entity): SessionUsage {
    return usageOf(this.world, agent, this.#children?.live ?? [])
  }

  /** What an agent's model has written so far, in this world or in that of a session below. */
  textSoFar(agent: Entity, [sessionId, ...path]: readonly string[]): TextSoFar | undefined {
    if (sessionId !== undefined) return this.#children?.driven(sessionId)?.textSoFar(agent, path)
    if (!this.world.exists(agent)) return undefined
    for (const effect of this.world.referrers(OwnedBy, agent)) {
      const text = this.#texts.get(effect)
      if (text !== undefined) return text
    }
    return undefined
  }

  /** What programs wait for. */
  get completions(): Completions {
    return (this.#completions ??= new Completions(this.listeners))
  }

  /** The world's sessions and subtasks as they are run. */
  get children(): Children {
    return (this.#children ??= this.#makeChildren())
  }

  /**
   * Aborts all work without settling it, waits for a commit under way, and lets go of world and store. Idempotent.
   *
   * @param last an input for one more tick: nothing is to go on after it, sessions end as well
   */
  async end(last?: Input): Promise<void> {
    if (this.#isStopped) return
    this.#isStopped = true
    const isUnderWay = !this.#pump.isIdle
    this.#pump.stop(last !== undefined)
    if (this.#options.host === undefined) this.host.close()
    await this.#loop?.halt()
    this.#completions?.close(this.world.name)
    await this.#children?.closed()
    await this.#loop?.halt([...(last === undefined ? [] : [last]), ...this.#late], isUnderWay)
    await this.#keeper?.close()
    this.host.seams.ended?.(this.#driven)
    for (const waiter of this.#inbox.drain()) waiter.reject(this.#refusal('was stopped before this was committed'))
    // A world whose last tick could not be committed is not the world any more: it stays closed.
    if (this.#loop === undefined || this.#loop.failure?.code === 'store-failed') return
    this.world.core.drive(undefined)
    this.world.core.watch()
  }

  /** Passes an answer on that this world has not asked for. False: no world below has asked for it either. */
  async #isPassedOn(input: AnswerInput): Promise<boolean> {
    return this.#children !== undefined && !hasAsked(this.world, input) && (await this.#children.answer(input))
  }

  get #time(): EventTime {
    return { nowMs: this.#loop?.nowMs ?? this.world.nowMs, dateMs: this.host.clock.date() }
  }

  get #driven(): DrivenWorld {
    return { world: this.world, path: this.#lineage?.path ?? [], inSlot: this.#lineage?.slot !== undefined }
  }

  /**
   * What `newId` is to mix in from here on. In the store before the first tick, so that a start that was cut off goes on
   * under the same.
   */
  #runId(): string | undefined {
    const { isSeeded, run } = this.world.core
    if (this.#lineage !== undefined) return run
    const { newRun } = this.host.seams
    if (newRun !== undefined) return run ?? newRun()
    if (run === undefined) return isSeeded || this.#options.store === undefined ? undefined : crypto.randomUUID()
    // Ids may have been given that the store knows nothing of any more: in transcripts beside a restored backup, for one.
    return this.#keeper?.lost === undefined ? run : crypto.randomUUID()
  }

  async #openStore(): Promise<void> {
    const { store, record } = this.#options
    if (store === undefined) return loadedTokenizer(this.world)
    const keeper = await beginKeeping(this.world, this.#keeper, { store, record, root: this.#lineage?.root })
    if (!this.#isStopped) this.#keeper = keeper
    else {
      if (this.#keeper === undefined) await keeper.close()
      throw this.#refusal('was stopped before it had started')
    }
  }

  #makeChildren(): Children {
    const { host, world } = this
    const { store, record } = this.#options
    const { root = world.name, path = [] } = this.#lineage ?? {}
    const makeRunner: MakeRunner = (child, ties, held) => {
      const lineage = { root, path: [...path, child.name], listeners: this.listeners, ...ties }
      const kept = store === undefined ? {} : { store, ...(record !== undefined && { record }) }
      return new Drive(child, { host, ...kept }, { lineage, ...held })
    }
    const enter: Enter = (input) => {
      if (!this.#isStopped) return this.#committed((waiter) => this.#inbox.push(input, waiter))
      return void this.#late.push(input)
    }
    return new Children({ world, host, store, root, record, makeRunner, enter })
  }

  /** What the newest committed tick told may not have been heard before the last process ended. */
  #tellAgain(): void {
    const { dateMs, name, nowMs, tick } = this.world
    this.#told.forEach((event, index) => this.listeners.tell({ ...event, world: name, tick, index, nowMs, dateMs }))
  }

  #running(): TickLoop {
    if (this.#loop?.failure !== undefined) throw this.#loop.failure
    if (this.#loop !== undefined && !this.#isStopped) return this.#loop
    throw this.#refusal(this.#isStopped ? 'was stopped' : 'is not running: call start() first')
  }

  #refusal(what: string): EntiaError {
    return new EntiaError('world-driven', `The Runner of world '${this.world.name}' ${what}.`)
  }

  async #committed(enter: (waiter: Waiter) => void): Promise<void> {
    const loop = this.#running()
    await new Promise<void>((resolve, reject) => {
      enter({ resolve, reject })
      loop.wake()
    })
  }

  /** Nobody waits for it: if the Runner is stopped before it is taken, it is in the world's inbox again. */
  #enterPosted(input: Input): void {
    const loop = this.#running()
    if (this.#isRepeated(input)) return
    const reject = (): void => {
      if (loop.failure === undefined) this.world.core.inbox.push(input)
    }
    this.#inbox.push(input, { resolve: () => undefined, reject })
    loop.wake()
  }

  /** Drops and counts what comes under an id for a second time. */
  #isRepeated({ id }: Input): boolean {
    if (typeof id !== 'string' || this.#inbox.isNew(id)) return false
    this.#dropped++
    return true
  }

  #deliver(input: StandardInput): void {
    const { deliver } = this.host.seams
    if (deliver === undefined) this.#enter(input)
    else deliver(this.#driven, input, () => this.#enter(input))
  }

  #enter(input: StandardInput | Input): void {
    if (this.#isStopped || this.#loop === undefined || this.#loop.failure !== undefined) return
    this.#inbox.push(canonical(input, () => 'an input') as Input)
    this.#loop.wake()
  }
}
