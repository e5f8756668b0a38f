import type { StandardInput } from '../../protocol/input.ts'
import { type UserMessage, userMessage } from '../../protocol/message.ts'
import { OwnedBy } from '../../../components/effects/effect.ts'
import type { SubtaskResult } from '../../protocol/delegation.ts'
import type { SummaryResult } from '../../protocol/context.ts'
import { usageOf } from '../../rules/delegation/session-usage.ts'
import type { Entity } from '../../world/component.ts'
import { EntiaError } from '../../base/entia-error.ts'
import type { Input, OwnInput } from '../../world/input.ts'
import { checkOptions, listOf, refuseMisfit, text } from '../../base/option-shapes.ts'
import type { World } from '../../world/world.ts'
import type { AnswerInput, ChildRunner, Lineage } from '../children/child-run.ts'
import { type MakeRunner, spentBy } from '../children/child-worlds.ts'
import { Children, hasAsked } from '../children/children.ts'
import { Completions } from '../children/completions.ts'
import { childKind, hasUntold, isChildEffect, tellUntold } from '../children/kinds.ts'
import { Subagents } from '../children/subagents.ts'
import type { EffectKind } from '../effects/effect-kind.ts'
import { checkListening, Entrance, postedInput } from './entrance.ts'
import type { EventPlace, EventsByType, RunnerEvent } from './events.ts'
import type { Host } from '../effects/host.ts'
import type { DrivenNow } from '../effects/host-seams.ts'
import type { LetterBox } from './letter-box.ts'
import { openLetters } from './letters.ts'
import { Listeners, listenersOf } from './listeners.ts'
import { Pump } from '../effects/pump.ts'
import { pumpOwner } from './pump-owner.ts'
import * as requests from './requests.ts'
import {
  defaultMaxInputsPerTick,
  hostOf,
  type OpenRunnerOptions,
  type PostOptions,
  refuseNoWorld,
  type RunnerOptions,
  type RunnerStats,
  type StopOptions,
} from './runner-options.ts'
import { beginJournal, type HeldWorld, isApart, openStored } from './stored-world.ts'
import { checkedAddition, emitAgain, lookOver, runId, startedInput, type ToolAddition } from './taking-up.ts'
import type { TextSoFar, TextsSoFar } from './texts-so-far.ts'
import { TickLoop } from './tick-loop.ts'
import { textsOf } from './world-stream.ts'

/** Drives one world on one host: tick → commit → start effects → sleep until the next input. */
export class Runner {
  readonly world: World
  readonly host: Host
  readonly #options: RunnerOptions
  readonly #lineage: Lineage | undefined
  #held: HeldWorld
  readonly #listeners: Listeners
  readonly #texts: TextsSoFar
  /** From `addTool`; applied at the start. */
  readonly #additions: ToolAddition[] = []
  readonly #entrance: Entrance
  readonly #pump: Pump
  #loop: TickLoop | undefined
  #knownChildren: Children | undefined
  #knownCompletions: Completions | undefined
  #letters: LetterBox | undefined
  #stopping: Promise<void> | undefined

  /**
   * @param held the store's hold on the world, if it is opened already. Internal
   * @param lineage ties to a parent's Runner. Internal
   * @throws `invalid-argument`
   */
  constructor(world: World, options: RunnerOptions = {}, held: HeldWorld = {}, lineage?: Lineage) {
    refuseNoWorld(world)
    const { seams } = (this.host = hostOf(options))
    this.world = world
    this.#options = options
    this.#lineage = lineage
    this.#held = held
    const time = () => ({ nowMs: this.#loop?.nowMs ?? world.nowMs, dateMs: this.host.clock.date() })
    this.#listeners = new Listeners(world.name, time, lineage)
    this.#texts = textsOf(held.mail, this.host.clock)
    listenersOf.set(this, this.#listeners)
    this.#entrance = new Entrance(world, options.maxInputsPerTick ?? defaultMaxInputsPerTick)
    const owner = pumpOwner({
      children: () => this.#children,
      deliver: seams.deliver && ((input, enter) => seams.deliver?.(this.#driven, input, enter)),
      entrance: this.#entrance,
      listeners: this.#listeners,
      post: (input, id) => this.post(input, { id }),
      texts: this.#texts,
    })
    const kindOf = (name: string): EffectKind =>
      isChildEffect(name) ? childKind(name, this.#children, lineage) : this.host.kind(name)
    this.#pump = new Pump(world, this.host, owner, kindOf)
  }

  /** Restores or creates a world. @throws `no-such-world`, `world-locked`, and what restoring throws */
  static async open(options: OpenRunnerOptions): Promise<Runner> {
    const held = await openStored(options)
    try {
      return new Runner(held.world, options, held)
    } catch (error) {
      await held.journal.close()
      throw error
    }
  }

  get stats(): RunnerStats {
    return { ticks: this.#loop?.ticks ?? 0, dropped: this.#entrance.dropped, inFlight: this.#pump.inFlight }
  }

  /**
   * Calls a listener for events of a type, or of all (`*`); those of sessions have a `path`. Returns a function that ends it.
   * @throws `invalid-argument` for a type that no system of the world declares
   */
  on<K extends keyof EventsByType>(
    type: K,
    listener: (event: { readonly type: K } & EventsByType[K]) => unknown,
  ): () => void
  on(type: '*', listener: (event: RunnerEvent) => unknown): () => void
  on(type: string, listener: (event: never) => unknown): () => void {
    checkListening(this.world, type, listener)
    return this.#listeners.on(type, listener)
  }

  /**
   * In the first tick, gives an agent a tool of the Host that it lacks. A saved one gets none otherwise. Call it before `start()`.
   * @throws `world-driven` after the start; at the start `invalid-argument` if there is no such agent or tool
   */
  addTool(agent: Entity, tool: string): void {
    if (this.#loop === undefined && !this.#entrance.isClosed)
      return void this.#additions.push(checkedAddition(agent, tool))
    const advice = 'Call addTool before start(); later, write its ToolRegistry with runner.change(…).'
    throw new EntiaError('world-driven', `World '${this.world.name}' has been started. ${advice}`)
  }

  /**
   * Starts to drive the world: it ticks whenever an input arrives.
   * @throws before anything runs: `config-invalid`, `missing-handler`, `unknown-provider`, `tool-changed`, `tool-conflict`,
   * `world-driven`, `world-exists`, `world-locked`
   */
  async start(): Promise<void> {
    await this.#start([])
  }

  async #start(first: readonly Input[]): Promise<void> {
    const { host, world } = this
    const { core } = world
    if (this.#loop !== undefined || this.#entrance.isClosed) {
      throw new EntiaError('world-driven', `A Runner starts once; make a new one for world '${world.name}'.`)
    }
    const found = lookOver(world, host, this.#options.store !== undefined, this.#additions)
    this.#entrance.attach()
    const [written, runBefore] = [core.unwatch(), core.run]
    core.run = this.#lineage === undefined ? runId(world, host, this.#options.store, this.#held) : core.run
    try {
      await this.#openStore()
    } catch (error) {
      core.run = runBefore
      core.watch(written)
      this.#entrance.detach()
      throw error
    }
    if (written !== undefined) this.#entrance.inbox.push(written)
    const started = startedInput(found, host.clock.date(), core.run === runBefore ? undefined : core.run)
    this.#drive([started, ...first], found.heldBack)
  }

  /** Of a World that is over: ticks for what its own sessions tell, and begins nothing. */
  async #settle(): Promise<void> {
    await this.#pump.drain(0)
    this.#entrance.attach()
    await this.#openStore()
    this.#drive([], undefined)
  }

  /** @param heldBack effects that begin after the first tick; `undefined`: no effect begins */
  #drive(first: readonly (StandardInput | Input)[], heldBack: readonly Entity[] | undefined): void {
    const { host, world } = this
    host.began(this.#driven)
    const loop = (this.#loop = new TickLoop({
      world,
      clock: host.clock,
      inbox: this.#entrance.inbox,
      pump: this.#pump,
      listeners: this.#listeners,
      journal: this.#held.journal,
      sleptMs: this.#held.sleptMs,
      committing: host.seams.committing && ((step) => host.seams.committing?.(this.#driven, step)),
      ticked: () => host.hearsTick(() => this.#driven),
      committed: this.#lineage?.committed,
      failed: this.#lineage?.failed,
    }))
    emitAgain(world, this.#held, this.#listeners)
    this.#listeners.on('input-dropped', ({ path }: EventPlace) => void (path ?? this.#entrance.dropped++))
    this.#entrance.open(loop, first)
    if (heldBack !== undefined) this.#pump.takeUp(loop.offsetMs, heldBack)
    if (heldBack !== undefined && hasUntold(world)) tellUntold(this.#children)
    this.#letters = openLetters(this.#held, {
      world,
      entrance: this.#entrance,
      children: () => this.#children,
      told: this.#lineage?.told,
      isOver: heldBack === undefined,
      isPassedOn: (input) => this.#isPassedOn(input),
      emit: (event) => this.#listeners.emit(event),
    })
  }

  /** Resolves once nothing is in flight and nothing is due. @throws `system-failed`, `store-failed` if the Runner fails */
  async idle(): Promise<void> {
    const { loop } = this.#entrance
    await loop.idle()
    // A session that was stopped reports what it has spent.
    while (!this.#entrance.isClosed && this.#knownChildren?.isClosing === true) {
      await this.#knownChildren.stopped()
      await loop.idle()
    }
  }

  /**
   * Posts an input. Resolves with the tick that took it, once that is committed. A repeated id is dropped: it resolves with the
   * first, or with `undefined` if that was committed before.
   * @throws `invalid-input` (also for a kind that no system of the world declares), `not-json`; what the Runner fails with; for an
   * answer, what a session has failed with that may have asked: after a restart it asks again
   */
  async post(input: StandardInput | OwnInput, options: PostOptions = {}): Promise<number | undefined> {
    checkOptions('runner.post', options, { id: text })
    const stored = postedInput(this.world, input, options.id)
    // Its id counts as seen only by the world that has asked, so an answer that was not passed on may be posted again.
    if (stored.kind === 'answer' && (await this.#isPassedOn(stored as AnswerInput))) return undefined
    return this.#entrance.post(stored)
  }

  /** Sends a user's message to an agent. Resolves as `post` does. @throws `unknown-entity` */
  async message(agent: Entity, message: string | UserMessage, options: PostOptions = {}): Promise<number | undefined> {
    requests.assertAgent(this.world, agent)
    return this.post({ kind: 'message', agent, message: userMessage(message) }, options)
  }

  /** Ends an agent's turn and aborts its work, sessions included, once that is committed. @throws `unknown-entity` */
  async cancel(agent: Entity, reason?: string): Promise<void> {
    requests.assertAgent(this.world, agent)
    await this.post({ kind: 'cancel', agent, ...(reason !== undefined && { reason }) })
  }

  /** Stops the step under way of an agent's turn; its next message goes on with the turn. @throws `unknown-entity` */
  async stopStep(agent: Entity, reason?: string): Promise<void> {
    requests.assertAgent(this.world, agent)
    await this.post({ kind: 'cancel', agent, step: true, ...(reason !== undefined && { reason }) })
  }

  /**
   * Changes the world at the next tick, as one recorded input. Resolves with the function's result once that is committed.
   * If the function throws, nothing changes, and this rejects with the same error.
   */
  async change<T>(change: (world: World) => T): Promise<T> {
    return this.#entrance.change(change)
  }

  /**
   * Lets an agent continue after a cost ceiling, and raises its session ceiling by `addSessionUsd`. What was spent stays spent;
   * a new turn starts at zero. Resolves once that is committed.
   * @throws `limit-reached` while it has spent its session ceiling or more; `invalid-argument`
   */
  async resetCostCeiling(agent: Entity, options: requests.CostCeilingReset = {}): Promise<void> {
    await requests.resetCostCeiling(agent, options, this.#completions)
  }

  /** Lets an agent continue after the watchdog has stopped it, with its counters at zero. @throws `unknown-entity` */
  async resetWatchdog(agent: Entity): Promise<void> {
    requests.assertAgent(this.world, agent)
    await this.post({ kind: 'watchdog-reset', agent })
  }

  /**
   * Runs a subtask for an agent in a World of its own, with the given prompt, message and tools, without the agent's
   * conversation. Resolves with its result, also if it fails.
   * @throws before it runs: `invalid-argument`, `unknown-provider`
   */
  async runSubtask(agent: Entity, options: requests.SubtaskOptions): Promise<SubtaskResult> {
    return requests.runSubtask(agent, options, this.#completions, this.host)
  }

  /**
   * Replaces an agent's conversation so far by a summary, before its next step. Requests made before that join the first; the
   * newest focus counts. Resolves with the result, also if it fails.
   * @throws `invalid-argument` (also for an agent without `Context`)
   */
  async compact(agent: Entity, options: requests.CompactOptions = {}): Promise<SummaryResult> {
    return requests.compact(agent, options, this.#completions)
  }

  /** Compacts if the conversation is as full as configured. @throws as `compact` */
  async compactIfNeeded(agent: Entity, options: requests.CompactOptions = {}): Promise<SummaryResult> {
    return requests.compact(agent, options, this.#completions, true)
  }

  /**
   * Marks an agent's task as done: a record replaces it, before the next step. Resolves with the result, also if it fails.
   * @throws `invalid-argument` (also for an agent whose `Context` has no checkpoints)
   */
  async checkpoint(agent: Entity, options: requests.CheckpointOptions = {}): Promise<SummaryResult> {
    return requests.checkpoint(agent, options, this.#completions)
  }

  /**
   * The text that an agent's model has streamed so far in the call in flight, if any. For a program that starts to listen
   * during an answer: the `model-delta` events of this effect and attempt continue from `deltas`.
   * @param path of a session's agent, as in its events. @default an agent of this world
   */
  textSoFar(agent: Entity, path: readonly string[] = []): TextSoFar | undefined {
    refuseMisfit('runner.textSoFar', 'path', path, listOf(text))
    const [sessionId, ...below] = path
    if (sessionId !== undefined) return this.#knownChildren?.driven(sessionId)?.textSoFar(agent, below)
    return this.world.exists(agent) ? this.#texts.ofAny(this.world.referrers(OwnedBy, agent)) : undefined
  }

  subagents(agent: Entity): Subagents {
    return new Subagents(agent, { clock: this.host.clock, children: this.#children, completions: this.#completions })
  }

  /** Aborts all work without settling it, waits for a commit under way, and releases world and store. Idempotent. */
  async stop({ onceMs = 0 }: StopOptions = {}): Promise<void> {
    await (this.#stopping ??= onceMs > 0 ? this.#pump.drain(onceMs).then(() => this.#end()) : this.#end())
  }

  /** @param last an input for one more tick, after which nothing continues: sessions end as well */
  async #end(last?: Input): Promise<void> {
    if (this.#entrance.isClosed) return
    this.#entrance.isClosed = true
    this.#letters?.close()
    const isUnderWay = !this.#pump.isIdle
    this.#pump.stop(last !== undefined)
    if (this.#options.host === undefined) this.host.close()
    await this.#loop?.halt()
    this.#knownCompletions?.close(this.world.name)
    await this.#knownChildren?.closed()
    await this.#loop?.halt([...(last === undefined ? [] : [last]), ...this.#entrance.late], isUnderWay)
    await this.#held.journal?.close()
    this.host.ended(this.#driven)
    this.#listeners.emit({ type: 'runner-stopped', world: this.world.name })
    this.#entrance.refuseRest()
    if (this.#loop === undefined || isApart(this.#loop.failure)) return
    this.world.core.drive(undefined)
    this.world.core.watch()
  }

  get #children(): Children {
    if (this.#knownChildren !== undefined) return this.#knownChildren
    const { host, world } = this
    const { store, record } = this.#options
    const { root = world.name, path = [] } = this.#lineage ?? {}
    const kept = store === undefined ? {} : { store, ...(record !== undefined && { record }) }
    const makeRunner: MakeRunner = (child, ties, held) => {
      const lineage = { root, path: [...path, child.name], listeners: this.#listeners, ...ties }
      return Runner.ofChild(child, { host, ...kept }, held, lineage)
    }
    const { journal, mail } = this.#held
    const enter = this.#entrance.learn.bind(this.#entrance)
    const parts = { world, host, store, root, path, record, makeRunner, enter, shared: mail && journal }
    return (this.#knownChildren = new Children(parts))
  }

  get #completions(): Completions {
    return (this.#knownCompletions ??= new Completions(this.world, this.#listeners, (input) => this.post(input)))
  }

  get #driven(): DrivenNow {
    const { root = this.world.name, path = [], slot } = this.#lineage ?? {}
    return { commands: this, world: this.world, root, path, inSlot: slot !== undefined, store: this.#options.store }
  }

  /** A child's Runner, as its parent drives it, or a worker to whom it came. Internal */
  static ofChild(world: World, options: RunnerOptions, held: HeldWorld, lineage: Lineage): ChildRunner {
    const runner = new Runner(world, options, held, lineage)
    return {
      runner,
      prepare: () => runner.#openStore(),
      start: (first) => runner.#start(first),
      settle: () => runner.#settle(),
      answer: (input) => (hasAsked(world, input) ? runner.post(input).then(() => true) : runner.#isPassedOn(input)),
      approvals: (path) => runner.#knownChildren?.approvals(path) ?? [],
      end: (last) => runner.#end(last),
      usageOf: (agent) => usageOf(world, agent, runner.#knownChildren?.live ?? []),
      spent: () => spentBy(world, (sessionId) => runner.#children.spentBy(sessionId)),
    }
  }

  async #openStore(): Promise<void> {
    const { store, record } = this.#options
    const { journal: held } = this.#held
    const journal = await beginJournal(this.world, held, { store, record, root: this.#lineage?.root })
    if (journal !== undefined) journal.ticksPerSnapshot = this.host.ticksPerSnapshot
    if (!this.#entrance.isClosed) return void (this.#held = { ...this.#held, journal })
    if (held === undefined) await journal?.close()
    throw this.#entrance.refusal('was stopped before it had started')
  }

  async #isPassedOn(input: AnswerInput): Promise<boolean> {
    return this.#knownChildren !== undefined && !hasAsked(this.world, input) && this.#knownChildren.answer(input)
  }
}
