import { Conversation } from '../../components/conversation.ts'
import type { StandardInput } from '../../components/input.ts'
import type { UserMessage } from '../../components/message.ts'
import type { SubtaskResult } from '../../components/subtask.ts'
import type { SummaryResult } from '../../components/summary-result.ts'
import type { Entity } from '../world/component.ts'
import { EntiaError } from '../world/entia-error.ts'
import type { OwnInput } from '../world/input.ts'
import { shortly } from '../world/known-options.ts'
import { callback, checkOptions, count, listOf, refuseMisfit, text } from '../world/option-shapes.ts'
import { World } from '../world/world.ts'
import {
  checkpoint,
  type CheckpointOptions,
  compact,
  type CompactOptions,
  type ContextCallParts,
} from './context-calls.ts'
import { type CostCeilingReset, resetCostCeiling } from './cost-ceiling-reset.ts'
import { checkEventType } from './declared-names.ts'
import { Drive } from './drive.ts'
import type { EventsByType, RunnerEvent } from './events.ts'
import type { Host } from './host.ts'
import { checkOpenOptions, type OpenRunnerOptions, type RunnerOptions } from './runner-options.ts'
import type { RunnerStats } from './runner-stats.ts'
import { openStored, type StoredWorldHeld } from './stored-world.ts'
import { Subagents } from './children/subagents.ts'
import type { TextSoFar } from './texts-so-far.ts'
import { runSubtask, type SubtaskOptions } from './children/run-subtask.ts'

/** Drives one world on one host: tick → commit → start effects → sleep until the next input. */
export class Runner {
  readonly #drive: Drive
  #stopping: Promise<void> | undefined

  /**
   * @param held what `Runner.open` has opened
   * @throws `invalid-argument` for what is no World, or an option that there is not
   */
  constructor(world: World, options: RunnerOptions = {}, held?: StoredWorldHeld) {
    refuseNoWorld(world)
    this.#drive = new Drive(world, options, held)
  }

  /**
   * A Runner for the world of that name: as the store has it, or else made anew. It is not started.
   *
   * @throws `no-such-world`, `world-locked`, and what restoring throws
   */
  static async open(options: OpenRunnerOptions): Promise<Runner> {
    checkOpenOptions(options)
    const held = await openStored(options)
    try {
      return new Runner(held.world, options, held)
    } catch (error) {
      await held.keeper.close()
      throw error
    }
  }

  get world(): World {
    return this.#drive.world
  }

  get host(): Host {
    return this.#drive.host
  }

  get stats(): RunnerStats {
    return this.#drive.stats
  }

  /**
   * Calls a listener for every event of a type, or of all (`*`), sessions' events included: those have a `path`. Gives a
   * function that ends it.
   *
   * @throws `invalid-argument` for a type that neither the standard systems nor `events` of one of the world's name
   */
  on<K extends keyof EventsByType>(
    type: K,
    listener: (event: { readonly type: K } & EventsByType[K]) => unknown,
  ): () => void
  on(type: '*', listener: (event: RunnerEvent) => unknown): () => void
  on(type: string, listener: (event: never) => unknown): () => void {
    checkEventType(this.world, type)
    if (typeof listener !== 'function') {
      const what = `runner.on: the listener of '${type}' must be a function, got ${shortly(listener)}`
      throw new EntiaError('invalid-argument', `${what}. Write runner.on('${type}', (event) => { … }).`)
    }
    return this.#drive.listeners.on(type, listener)
  }

  /**
   * Gives an agent a tool of the Host, with the first tick: a tool that is new since the agent was saved is not shown to it
   * otherwise. Nothing changes if the agent has a tool of that name. To be called before `start()`.
   *
   * @throws `world-driven` after the start; at the start `invalid-argument` if there is no such agent or tool
   */
  addTool(agent: Entity, tool: string): void {
    refuseMisfit('runner.addTool', 'agent', agent, count)
    refuseMisfit('runner.addTool', 'tool', tool, text)
    this.#drive.addTool(agent, tool)
  }

  /**
   * Takes the world up. From here on it is driven: it ticks whenever something comes in.
   *
   * @throws before anything has run: `config-invalid`, `missing-handler`, `unknown-provider`, `tool-changed`, `tool-conflict`,
   * `world-driven`, `world-exists`, `world-locked`
   */
  async start(): Promise<void> {
    await this.#drive.start()
  }

  /** Resolves once nothing is in flight and nothing is due. @throws `system-failed`, `store-failed` if the Runner fails */
  async idle(): Promise<void> {
    await this.#drive.idle()
  }

  /**
   * Puts an input in. Resolves once it is committed, or dropped because its id was seen before.
   *
   * @throws `invalid-input` (also for a kind that neither the standard systems nor `inputs` of one of the world's name),
   * `not-json`; what the Runner fails with before that
   */
  async post(input: StandardInput | OwnInput, options: { readonly id?: string } = {}): Promise<void> {
    checkOptions('runner.post', options, { id: text })
    await this.#drive.post(input, options.id)
  }

  /** A person's message to an agent. Resolves once it is committed. @throws `unknown-entity` if there is no such agent */
  async message(agent: Entity, message: string | UserMessage, options: { readonly id?: string } = {}): Promise<void> {
    this.#assertAgent(agent)
    const content = [{ type: 'text' as const, text: message as string }]
    const said = typeof message === 'string' ? { role: 'user' as const, content } : message
    await this.post({ kind: 'message', agent, message: said }, options)
  }

  /**
   * Stops what an agent has under way, its sessions included, and ends its turn. Resolves once that is committed; then the
   * work is aborted.
   *
   * @throws `unknown-entity` if there is no such agent
   */
  async cancel(agent: Entity, reason?: string): Promise<void> {
    this.#assertAgent(agent)
    await this.post({ kind: 'cancel', agent, ...(reason !== undefined && { reason }) })
  }

  /**
   * Changes the world at the next tick, as one recorded input. Resolves with what the function gives once that is committed.
   * If it throws, nothing has changed, and this rejects with the same.
   */
  async change<T>(change: (world: World) => T): Promise<T> {
    refuseMisfit('runner.change', 'change', change, callback)
    return this.#drive.change(change)
  }

  /**
   * Lets an agent go on that has reached a cost ceiling, and raises the ceiling of its life if told to. What was spent stays
   * spent; a new turn starts at zero. Resolves once that is committed.
   *
   * @throws `limit-reached` while it has spent as much as its life's ceiling or more; `invalid-argument`
   */
  async resetCostCeiling(agent: Entity, options: CostCeilingReset = {}): Promise<void> {
    const request = this.#drive.completions.requestId(this.world.tick)
    await resetCostCeiling(this.world, (input) => this.post(input), { agent, request, options })
  }

  /** Lets an agent go on that the watchdog has stopped. Runs of identical calls are counted anew. @throws `unknown-entity` */
  async resetWatchdog(agent: Entity): Promise<void> {
    this.#assertAgent(agent)
    await this.post({ kind: 'watchdog-reset', agent })
  }

  /**
   * Runs a subtask for an agent: in a World of its own, which knows its prompt, its message and the tools that it is given,
   * and nothing of the agent's conversation. Resolves with what it has come to, a failure too.
   *
   * @throws before anything has run: `invalid-argument`, `unknown-provider`
   */
  async runSubtask(agent: Entity, options: SubtaskOptions): Promise<SubtaskResult> {
    const { completions, host, world } = this.#drive
    return runSubtask(agent, options, { completions, host, world, post: (input) => this.post(input) })
  }

  /**
   * Has a summary take the place of what an agent has said and heard: at the next quiet point, at once if it is idle. Requests
   * that come before that join the first, and the newest focus counts. Resolves with what has come of it, a failure too.
   *
   * @throws `invalid-argument` (an agent without `Context` too)
   */
  async compact(agent: Entity, options: CompactOptions = {}): Promise<SummaryResult> {
    return compact(agent, options, this.#contextCalls)
  }

  /** Does the same, but only if the conversation is as full as is configured. @throws as `compact` */
  async compactIfNeeded(agent: Entity, options: CompactOptions = {}): Promise<SummaryResult> {
    return compact(agent, options, this.#contextCalls, true)
  }

  /**
   * Says that an agent's task is done: a record takes its place, at the next quiet point. Resolves with what has come of it,
   * a failure too.
   *
   * @throws `invalid-argument` (an agent whose `Context` has no checkpoints too)
   */
  async checkpoint(agent: Entity, options: CheckpointOptions = {}): Promise<SummaryResult> {
    return checkpoint(agent, options, this.#contextCalls)
  }

  #assertAgent(agent: Entity): void {
    if (this.world.has(agent, Conversation)) return
    const what = `Entity ${shortly(agent)} of world '${this.world.name}' is no agent`
    throw new EntiaError('unknown-entity', `${what}: it was despawned, or has no Conversation.`, { entity: agent })
  }

  get #contextCalls(): ContextCallParts {
    const { completions, world } = this.#drive
    return { completions, world, post: (input) => this.post(input) }
  }

  /**
   * What an agent's model has written so far in a call that is in flight; `undefined` if it has written nothing, or no call
   * is. For a program that begins to listen in the midst of an answer: the `model-delta` events of this effect and attempt
   * go on from `deltas`.
   *
   * @param path of a session's agent, as its events have it. @default the agent is of this world
   */
  textSoFar(agent: Entity, path: readonly string[] = []): TextSoFar | undefined {
    refuseMisfit('runner.textSoFar', 'path', path, listOf(text))
    return this.#drive.textSoFar(agent, path)
  }

  /** An agent's sessions, for programs. */
  subagents(agent: Entity): Subagents {
    const { world, host, children, completions } = this.#drive
    const post = (input: StandardInput): Promise<void> => this.post(input)
    return new Subagents(agent, { world, clock: host.clock, children, completions, post })
  }

  /**
   * Aborts all work without settling it, waits for a commit under way, and lets go of world and store. Idempotent: each call
   * resolves when that is done.
   */
  async stop(): Promise<void> {
    await (this.#stopping ??= this.#drive.end())
  }
}

/** What a program without types may pass. */
function refuseNoWorld(world: unknown): void {
  if (world instanceof World) return
  const what = `Runner: the first argument must be a World, got ${shortly(world)}`
  throw new EntiaError('invalid-argument', `${what}. Write new Runner(world, { models }), or run(world, { models }).`)
}
