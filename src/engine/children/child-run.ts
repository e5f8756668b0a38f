import { TranscriptWrite } from '../../../components/context/agent-transcript.ts'
import { ArchiveJob } from '../../../components/context/archive.ts'
import { HolderDraft, Seed } from '../../../components/context/holder.ts'
import { Ancestry, SessionEnd, SlotReleased, SlotRequest } from '../../../components/sessions/ancestry.ts'
import { Conversation } from '../../../components/agent/conversation.ts'
import { DelegationLimits } from '../../../components/sessions/delegation-limits.ts'
import type { InputOf, StandardInput } from '../../protocol/input.ts'
import { LastQuestion } from '../../../components/sessions/session-call.ts'
import type { Message } from '../../protocol/message.ts'
import { Turn } from '../../../components/agent/turn.ts'
import { usageSince } from '../../rules/delegation/grants.ts'
import { systemText } from '../../rules/projection/project.ts'
import type { Component, DeepReadonly, Entity } from '../../world/component.ts'
import type { World } from '../../world/world.ts'
import type { SessionSlot } from './pool.ts'
import type { Failure } from '../../protocol/failure.ts'
import type { Listeners } from '../loop/listeners.ts'
import type { TextSoFar } from '../loop/texts-so-far.ts'
import type { SessionUsage } from '../../protocol/usage.ts'
import type { Input } from '../../world/input.ts'

/** How a session's World has ended. */
export type SessionEndData = DeepReadonly<(typeof SessionEnd)['schema']['_output']>

/** A child's Runner, as its parent drives it. */
export interface ChildRunner {
  readonly runner: {
    readonly world: World
    post(input: StandardInput, options?: { readonly id?: string }): Promise<unknown>
    textSoFar(agent: Entity, path: readonly string[]): TextSoFar | undefined
  }
  /** Writes the world down before it is driven. */
  readonly prepare: () => Promise<void>
  /** Starts the Runner with these as its first inputs. */
  readonly start: (first: readonly Input[]) => Promise<void>
  /** Takes a user's answer, if this world or one below has asked. */
  readonly answer: (input: AnswerInput) => Promise<boolean>
  /** Stops; with an input for one last tick, for good. */
  readonly end: (last?: Input) => Promise<void>
  /** What an agent and its sessions have used. */
  readonly usageOf: (agent: Entity) => SessionUsage
}

/** What a session's agent may spend: an input to its World. */
export type Grant = Omit<InputOf<'granted'>, 'id' | 'kind'>

/** A user's answer to an approval. */
export type AnswerInput = Extract<StandardInput, { readonly kind: 'answer' }>

/** What connects the Runner of a child to its run. */
export interface ChildTies {
  /** Absent: it runs without one, as a query does. */
  readonly slot: SessionSlot | undefined
  /** Of a subtask: asks its caller's world before each model call; resolves with why it may not begin, if it may not. */
  readonly mayCall: (() => Promise<Failure | undefined>) | undefined
  /** Called after each tick, once it is committed. */
  readonly committed: () => void
  /** Called when the Runner fails. */
  readonly failed: (error: Error) => void
}

/** What connects the Runner of a child to that of its parent. */
export interface Lineage extends ChildTies {
  /** The root world, in whose database all worlds below it lie. */
  readonly root: string
  /** Ids of the sessions above and its own, outermost first. */
  readonly path: readonly string[]
  /** The parent's. They get all events of this world. */
  readonly listeners: Listeners
}

/** Makes a Runner for a World that is open. */
export type MakeChildRunner = (ties: ChildTies) => ChildRunner

/** What a session's agent was last asked with. */
export interface Transcript {
  readonly systemPrompt: string
  readonly messages: readonly Message[]
}

interface ChildRunOptions {
  /** Given back while the child only waits. */
  readonly slot?: SessionSlot
  /** Asked before each call of its model. */
  readonly mayCall?: (run: ChildRun) => Promise<Failure | undefined>
}

/** A child's World while it is driven, from its first tick or from where it was left, until its end. */
export class ChildRun {
  readonly agent: Entity
  readonly world: World
  readonly #runner: ChildRunner
  readonly #slot: SessionSlot | undefined
  /** What had been used before this run. */
  readonly #usedBefore: SessionUsage
  readonly #ended: Promise<SessionEndData>
  #settle: ((end: SessionEndData) => void) | undefined
  #isAwaited = false
  #isLeaving = false
  #isStopped = false
  #hasFailed = false
  /** Resolves once its World ticks, or will not. */
  readonly #started = Promise.withResolvers<void>()
  readonly #quiet = Promise.withResolvers<undefined>()

  constructor(makeRunner: MakeChildRunner, { slot, mayCall }: ChildRunOptions) {
    this.#slot = slot
    this.#ended = new Promise((resolve) => (this.#settle = resolve))
    this.#runner = makeRunner({
      slot,
      mayCall: mayCall && (() => mayCall(this)),
      committed: () => this.#look(),
      failed: (error) => {
        this.#hasFailed = true
        this.#settle?.({ ok: false, error: error.message, kind: 'internal' })
        this.#quiet.resolve(undefined)
      },
    })
    this.world = this.#runner.runner.world
    this.agent = agentOf(this.world)
    this.#usedBefore = this.usage
  }

  /** Saves the World before its first tick. */
  async prepare(): Promise<void> {
    await this.#runner.prepare()
  }

  /**
   * Drives the World.
   *
   * @param granted what the agent may spend, in all or on a question. A World that has it already does not get it again
   */
  async start(granted?: Grant): Promise<void> {
    try {
      await this.#runner.start(
        granted === undefined || this.#isGranted(granted) ? [] : [{ kind: 'granted', ...granted }],
      )
    } finally {
      this.#started.resolve()
    }
  }

  #isGranted({ question }: Grant): boolean {
    if (question === undefined) return this.world.has(this.agent, DelegationLimits)
    return this.world.get(this.agent, LastQuestion)?.id === question
  }

  /** What the agent has used on a question since it was put. */
  usedOn(question: string): SessionUsage | undefined {
    const asked = this.world.get(this.agent, LastQuestion)
    return asked?.id === question ? usageSince(asked.usedBefore, this.usage) : undefined
  }

  /** Puts a further question to the agent, once under an id. */
  async ask(prompt: string, id: string): Promise<void> {
    const message = { role: 'user' as const, content: [{ type: 'text' as const, text: prompt }] }
    await this.#runner.runner.post({ kind: 'message', agent: this.agent, message }, { id })
  }

  /** Cancels the agent's turn. */
  async abandon(): Promise<void> {
    await this.#runner.runner.post({ kind: 'cancel', agent: this.agent })
  }

  /** Passes a user's answer on to the World that has asked: this one, or one below. False: neither has. */
  async answer(input: AnswerInput): Promise<boolean> {
    await this.#started.promise
    return !this.#isStopped && !this.#hasFailed && (await this.#runner.answer(input))
  }

  /** Resolves once the session has ended, or its Runner has failed. */
  ended(): Promise<SessionEndData> {
    // An end from before the question does not count.
    this.#isAwaited = true
    this.#look()
    return this.#ended
  }

  get isAtWork(): boolean {
    return this.world.has(this.agent, Turn)
  }

  /** It has ended, and turns of it are still being archived. */
  get isArchiving(): boolean {
    if (!this.world.has(this.agent, SessionEnd) && !this.world.has(this.agent, Seed)) return false
    return [ArchiveJob, HolderDraft, TranscriptWrite].some((token) => holds(this.world, token))
  }

  /** Resolves once it neither works nor archives, or its Runner has failed. */
  quiet(): Promise<undefined> {
    this.#isLeaving = true
    this.#look()
    return this.#quiet.promise
  }

  get usage(): SessionUsage {
    return this.#runner.usageOf(this.agent)
  }

  /** What it has used since this run began. */
  get usedInRun(): SessionUsage {
    return usageSince(this.#usedBefore, this.usage)
  }

  /** What the model of an agent has written so far, in this World or in that of a session below. */
  textSoFar(agent: Entity, path: readonly string[]): TextSoFar | undefined {
    return this.#runner.runner.textSoFar(agent, path)
  }

  get transcript(): Transcript {
    return transcriptOf(this.world)
  }

  /** Stops all work and closes the World, which can go on from there. */
  stop(): Promise<void> {
    return this.#end()
  }

  /** Stops all work. Sessions below it end as cancelled. */
  cancel(reason: string): Promise<void> {
    return this.#end({ kind: 'session-stopped', reason })
  }

  #end(last?: Input): Promise<void> {
    this.#isStopped = true
    this.#started.resolve()
    return this.#runner.end(last)
  }

  #look(): void {
    if (this.#isStopped) return
    if (this.#isLeaving && !this.isAtWork && !this.isArchiving) this.#quiet.resolve(undefined)
    const end = this.world.get(this.agent, SessionEnd)
    if (end !== undefined) {
      if (this.#isAwaited) this.#settle?.(end)
    } else if (this.world.has(this.agent, SlotReleased) && !holds(this.world, SlotRequest)) this.#slot?.leave()
  }
}

/** The agent of a session's World. */
export function agentOf(world: World): Entity {
  return world.entitiesWith(Ancestry)[0] as Entity
}

/** What the agent of a session's World was last asked with. */
export function transcriptOf(world: World): Transcript {
  const agent = agentOf(world)
  return { systemPrompt: systemText(world, agent), messages: [...(world.get(agent, Conversation) ?? [])] }
}

function holds(world: World, token: Component): boolean {
  return world.entitiesWith(token).length > 0
}
