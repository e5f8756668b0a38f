import { StepStopped } from '../../../components/agent/agent-tags.ts'
import { Conversation } from '../../../components/agent/conversation.ts'
import { Llm } from '../../../components/agent/llm.ts'
import { PlanMode, Policy } from '../../../components/agent/policy.ts'
import { takeBackUnread } from '../../../systems/agent/rewinding.ts'
import type { SessionInfo } from '../../engine/children/session-info.ts'
import { listenersOf } from '../../engine/loop/listeners.ts'
import type { Runner } from '../../engine/loop/runner.ts'
import type { SummaryResult } from '../../protocol/context.ts'
import type { Failure, Stop } from '../../protocol/failure.ts'
import type { Message, UserMessage } from '../../protocol/message.ts'
import type { ToolPreset } from '../../rules/delegation/declarations.ts'
import { parseModel } from '../../protocol/model-name.ts'
import { type Approval as Permission, approvals, type Channel } from '../../protocol/policy.ts'
import type { Tool } from '../../tools/port.ts'
import type { Entity } from '../../world/component.ts'
import { EntiaError } from '../../base/entia-error.ts'
import { awaitedByAgent } from '../../rules/waiting/awaited-in.ts'
import { callback, checkOptions, flag, givenName, oneOf, refuseMisfit } from '../../base/option-shapes.ts'
import type { World } from '../../world/world.ts'
import { type Answer, refusedAnswer } from '../ask/answer.ts'
import { asAsking, askedTurn, attachedTurn, type Asking, type TurnUnderWay } from '../ask/ask.ts'
import type { PartStream } from '../ask/part-stream.ts'
import type { BackgroundShells } from '../tools/background-shells.ts'
import { isAtWork } from '../ask/turn-watch.ts'
import { type ChatStats, chatStats } from './chat-stats.ts'
import type { ChatSessionParts } from './chat-session-parts.ts'
import { Observers, type Observer } from './observers.ts'
import type { RewindOptions, RewindPlan, RewindResult } from './rewind.ts'
import { inUse } from './session-folder.ts'
import { takeUpTools } from './tool-feed.ts'
import { knownModel } from '../models/choose-provider.ts'
import { enterPlanMode } from './plan-mode.ts'
import { toolCallEvent } from './tool-call-event.ts'
import { refuseBlank, type TurnOptions, turnShapes } from './turn-options.ts'
import { toolsOf } from './chat-tools.ts'

/** What a turn has come to. */
export interface TurnResult {
  /** The final text. Where the turn was stopped: the line that closes it, such as `[turn cancelled]`. */
  readonly reply: string
  readonly session: ChatSession
  readonly stop: Stop
  /** Of a turn that did not end well. */
  readonly failure?: Failure | undefined
  /** Model calls of the turn. */
  readonly steps: number
  /** Tokens of the agent's own calls in this turn. */
  readonly usage: Answer['usage']
  /** US dollars that the turn has cost; `undefined`: a price is unknown. */
  readonly costUsd: number | undefined
}

/**
 * A conversation with one agent: its World, its Host and its Runner. It starts to work with its first turn.
 */
export class ChatSession {
  readonly world: World
  readonly agent: Entity
  readonly runner: Runner
  /** Its name in stores and lists: the time it was made, and a few random letters. */
  readonly key: string
  /** The working folder of its tools. */
  readonly cwd?: string | undefined
  readonly channel: Channel
  /** Shells that `bash` has left running, of its subagents too. */
  readonly shells: Pick<BackgroundShells, 'list' | 'stop'> | undefined
  /** Tools of subagents for which none are named, of those that it has. */
  readonly subagentPreset: ToolPreset
  readonly #parts: ChatSessionParts
  readonly #observers: Observers
  #started: Promise<void> | undefined
  #closed: Promise<void> | undefined
  /** Resolves once the newest message was posted, or refused. */
  #begun: Promise<unknown> | undefined
  /** Calls of `turn` and `ask` that have no answer yet. */
  #asked = 0

  constructor(parts: ChatSessionParts) {
    const { agent, channel, cwd, runner } = (this.#parts = parts)
    this.world = runner.world
    this.key = runner.world.name
    this.agent = agent
    this.channel = channel
    this.cwd = cwd
    this.runner = runner
    this.shells = parts.shells
    this.subagentPreset = parts.subagentPreset ?? 'investigate'
    this.#observers = new Observers((call, message) => {
      listenersOf.get(runner)?.emit({ type: 'observer-failed', world: this.key, ...call, message })
    })
    runner.on('call-settled', (event) => {
      if (event.path === undefined && event.agent === agent) this.#observers.call(toolCallEvent(event, channel))
    })
  }

  get provider(): string {
    return parseModel(this.world.read(this.agent, Llm).model).provider
  }

  /** Without its provider. */
  get model(): string {
    return parseModel(this.world.read(this.agent, Llm).model).model
  }

  /** Nothing is changed until a plan is approved. */
  get planMode(): boolean {
    return this.world.has(this.agent, PlanMode)
  }

  /** The conversation so far. A copy. */
  get history(): readonly Message[] {
    return this.world.read(this.agent, Conversation).slice()
  }

  /** A turn is under way, or was when the chat session was closed. */
  get isBusy(): boolean {
    return this.#asked > 0 || isAtWork(this.world, this.agent)
  }

  get isClosed(): boolean {
    return this.#closed !== undefined
  }

  /**
   * Starts to work, once: what was under way when the chat session was closed goes on, and an approval that waited is asked
   * again. A turn does it by itself.
   * @throws `session-closed`, `session-in-use`, and what `Runner.start` throws
   */
  async start(): Promise<void> {
    this.#assertOpen()
    await (this.#started ??= this.#begin())
  }

  async #begin(): Promise<void> {
    this.#addPolicy(this.world)
    await this.#parts.rewinding.begin(this.world, this.agent)
    this.#parts.begin?.()
    try {
      await this.runner.start()
    } catch (error) {
      throw inUse(this.key, error)
    }
    const { feed } = this.#parts
    await feed?.begin(() => {
      // A Runner that stops takes up nothing more.
      void this.runner.change((world) => takeUpTools(world, this.agent, feed.declarations)).catch(() => undefined)
    })
  }

  /** @see turn */
  async turn(prompt: string | UserMessage, options: TurnOptions = {}): Promise<TurnResult> {
    checkOptions('turn', options, turnShapes)
    refuseBlank(prompt)
    this.#assertOpen()
    if (this.isBusy) throw this.#inProgress()
    const tools = toolsOf(options.toolSource, options.tools)
    const { signal } = options
    return this.#counted(async () => {
      await this.start()
      // No turn is opened for somebody who has gone already.
      if (signal?.aborted === true) return this.#result(refusedAnswer(this.agent, 'cancelled', cancelledBefore))
      return this.#result(await this.#with(tools, () => askedTurn(this.runner, this.agent, prompt, { signal }).ended))
    })
  }

  #result({ costUsd, failure, steps, stop, text, usage }: Answer): TurnResult {
    const closing = stop === 'cancelled' ? '[turn cancelled]' : `[turn failed: ${failure?.kind ?? stop}]`
    const reply = text === '' && stop !== 'done' ? closing : text
    return { reply, session: this, stop, ...(failure && { failure }), steps, usage, costUsd }
  }

  /**
   * Says something: opens a turn, or joins the one under way at its next step. Gives its answer as a promise and its parts as
   * they come. Unlike `turn`, the promise rejects for a turn that failed.
   * @throws by its promise and parts: `empty-prompt`, `session-closed`, and what `ask` throws
   */
  ask(message: string | UserMessage, options: { readonly id?: string; readonly signal?: AbortSignal } = {}): Asking {
    return this.#asking(() => {
      refuseBlank(message)
      return askedTurn(this.runner, this.agent, message, options)
    })
  }

  /** The turn under way, or else the last one; its parts begin with what it has so far. @throws as `ask.attach` does */
  attach(): Asking {
    return this.#asking(() => attachedTurn(this.runner, this.agent))
  }

  /** Ends the turn under way. `takeBack` takes so many of the newest messages away that no model has read. Gives their number. */
  async cancel(reason?: string, { takeBack = 0 }: { readonly takeBack?: number } = {}): Promise<number> {
    this.#assertOpen()
    if (!this.isBusy) return 0
    await this.start()
    const taken = takeBack > 0 && this.runner.change((world) => takeBackUnread(world, this.agent, takeBack))
    await this.runner.cancel(this.agent, reason)
    return (await taken) || 0
  }

  /**
   * Stops what the step does now: open calls are answered as cancelled, and the turn goes on with the next message. One that
   * waited for the next step is read at once.
   */
  async stopStep(reason?: string): Promise<void> {
    if (!this.isBusy) return
    await this.start()
    await this.runner.stopStep(this.agent, reason)
  }

  /** A step was stopped, and the turn waits for a message. */
  get isStopped(): boolean {
    return this.world.has(this.agent, StepStopped)
  }

  /** What `rewind` would do. @throws as `rewind` does */
  async rewindPlan(count = 1): Promise<RewindPlan> {
    await this.start()
    if (this.isBusy) throw this.#inProgress()
    return this.#parts.rewinding.plan(this.runner, this.agent, count)
  }

  /**
   * Takes back the newest `count` of the user's messages and all behind them; subagents that only they know are cancelled.
   * @throws `turn-in-progress`; `invalid-argument` for a count that is no whole number from 1 to the number of messages
   */
  async rewind(count = 1, options: RewindOptions = {}): Promise<RewindResult> {
    await this.start()
    if (this.isBusy) throw this.#inProgress()
    return this.#parts.rewinding.rewind(this.runner, this.agent, count, options)
  }

  /** @see addObserver */
  addObserver(observer: Observer): () => void {
    refuseMisfit('addObserver', 'observer', observer, callback)
    return this.#observers.add(observer)
  }

  /** Which model answers from the next step on: of the same provider, or `provider/model`. @throws `unknown-provider` */
  async setModel(name: string): Promise<void> {
    refuseMisfit('setModel', 'name', name, givenName)
    const model = name.includes('/')
      ? knownModel(name, this.provider, this.runner.host.providerNames)
      : `${this.provider}/${name}`
    await this.#change((world) => world.patch(this.agent, Llm, { model }))
  }

  /** Switches plan mode on or off, from the next step on. */
  async setPlanMode(isOn: boolean): Promise<void> {
    refuseMisfit('setPlanMode', 'isOn', isOn, flag)
    await this.#change((world) => {
      if (isOn) enterPlanMode(world, this.agent)
      else world.remove(this.agent, PlanMode)
    })
  }

  /** What the policy says of a tool from its next call on; `undefined`: nothing of its own. */
  async setPermission(tool: string, permission: Permission | undefined): Promise<void> {
    refuseMisfit('setPermission', 'tool', tool, givenName)
    if (permission !== undefined) refuseMisfit('setPermission', 'permission', permission, oneOf(...approvals))
    await this.#change((world) => {
      this.#addPolicy(world)
      // Where there was no configuration, this one says nothing of other tools.
      const { config = { dangerousTools: [] } } = world.read(this.agent, Policy)
      const { [tool]: _, ...others } = config.permissions ?? {}
      const permissions = permission === undefined ? others : { ...others, [tool]: permission }
      world.patch(this.agent, Policy, { config: { ...config, permissions } })
    })
  }

  /** Tokens, calls and cost so far. */
  stats(): ChatStats {
    return chatStats(this.world, this.agent)
  }

  /** Replaces the conversation so far by a summary. @throws as `runner.compact` does */
  async compact(focus?: string): Promise<SummaryResult> {
    await this.start()
    return this.runner.compact(this.agent, { focus })
  }

  /** Marks the task as done: a record replaces it. @throws as `runner.checkpoint` does */
  async done(note?: string): Promise<SummaryResult> {
    await this.start()
    return this.runner.checkpoint(this.agent, { note })
  }

  /** Goes on after a cost ceiling. @param usd by how much the ceiling of the chat session is raised. @throws `limit-reached` */
  async resumeAfterCostCeiling(usd?: number): Promise<void> {
    await this.start()
    await this.runner.resetCostCeiling(this.agent, { addSessionUsd: usd })
  }

  /** Its subagents, ended ones too. */
  async agents(): Promise<readonly SessionInfo[]> {
    await this.start()
    return this.runner.subagents(this.agent).list()
  }

  /**
   * Cancels what runs, saves, and frees child processes. A stored turn that only waits for a person's answer stays open: the
   * question is asked again when the chat session is opened and started. Idempotent.
   * @param options `keepTurn`: so does any stored turn, which goes on then as after a crash. @default false
   */
  async close(options: { readonly keepTurn?: boolean } = {}): Promise<void> {
    await (this.#closed ??= this.#end(options.keepTurn === true))
  }

  async #end(keepsTurn: boolean): Promise<void> {
    try {
      // A start that has failed was told to the one who started.
      await this.#started?.catch(() => undefined)
      await this.#begun
      // What was said right before this is in the world after a tick.
      if (this.#asked > 0) await this.runner.change(() => undefined).catch(() => undefined)
      const isOpen = this.#started !== undefined && isAtWork(this.world, this.agent) && !this.#waitsForPerson()
      // A Runner that has failed cancels nothing.
      if (isOpen && !keepsTurn) {
        await this.runner.cancel(this.agent, 'the chat session was closed').catch(() => undefined)
      }
      await this.runner.stop()
      await this.#parts.chatTools.ended()
    } finally {
      await this.#parts.dispose?.()
    }
  }

  #addPolicy(world: World): void {
    const { policy } = this.#parts
    if (policy !== undefined && !world.has(this.agent, Policy)) world.add(this.agent, Policy(policy()))
  }

  #waitsForPerson(): boolean {
    const open = awaitedByAgent(this.world, this.agent)
    return open.length > 0 && open.every(({ on }) => on === 'person')
  }

  #asking(begin: () => TurnUnderWay): Asking {
    const streams: PartStream[] = []
    let turn: TurnUnderWay | undefined
    const begun = this.start().then(() => {
      turn = begin()
      for (const stream of streams) turn.follow(stream)
      return turn
    })
    this.#begun = begun.catch(() => undefined)
    const ended = this.#counted(async () => (await begun).ended)
    return asAsking({
      ended,
      follow: (stream) => void (turn === undefined ? streams.push(stream) : turn.follow(stream)),
    })
  }

  async #counted<T>(work: () => Promise<T>): Promise<T> {
    this.#asked++
    try {
      return await work()
    } finally {
      this.#asked--
    }
  }

  /** Does a turn with other tools. */
  async #with<T>(tools: readonly Tool[] | undefined, work: () => Promise<T>): Promise<T> {
    if (tools === undefined) return work()
    const { chatTools } = this.#parts
    const putBack = await this.runner.change((world) => chatTools.replace(world, this.agent, tools))
    try {
      return await work()
    } finally {
      // A Runner that was stopped or has failed keeps the registry; opening the chat session again mends it.
      await this.runner.change(putBack).catch(() => undefined)
    }
  }

  /** Writes to the world: at once before the start, later in a tick. */
  async #change(change: (world: World) => void): Promise<void> {
    this.#assertOpen()
    if (this.#started === undefined) return change(this.world)
    await this.#started
    await this.runner.change(change)
  }

  #assertOpen(): void {
    if (this.#closed === undefined) return
    const what = `The chat session '${this.key}' is closed.`
    throw new EntiaError('session-closed', `${what} Open a stored one again with openSession, or make a new one.`, {
      key: this.key,
    })
  }

  #inProgress(): EntiaError {
    const advice = 'Await it, cancel it with session.cancel(), or join it with session.ask(message).'
    const message = `A turn of the chat session '${this.key}' is under way. ${advice}`
    return new EntiaError('turn-in-progress', message, { key: this.key })
  }
}

const cancelledBefore: Failure = { kind: 'cancelled', message: 'The turn was cancelled before it began.' }
