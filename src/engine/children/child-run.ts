import { TranscriptWrite } from '../../../components/context/agent-transcript.ts'
import { ArchiveJob } from '../../../components/context/archive.ts'
import { HolderDraft, Seed } from '../../../components/context/holder.ts'
import {
  Ancestry,
  SessionEnd,
  SessionStopped,
  SlotReleased,
  SlotRequest,
} from '../../../components/sessions/ancestry.ts'
import { Conversation } from '../../../components/agent/conversation.ts'
import { DelegationLimits } from '../../../components/sessions/delegation-limits.ts'
import type { InputOf, StandardInput } from '../../protocol/input.ts'
import type { LetterData } from '../../protocol/letter.ts'
import { LastQuestion } from '../../../components/sessions/session-call.ts'
import type { Message } from '../../protocol/message.ts'
import { Turn } from '../../../components/agent/turn.ts'
import { growthOf } from '../../rules/tokens/token-counts.ts'
import { hasUnsettledSessions } from '../../rules/delegation/unsettled-sessions.ts'
import { systemText } from '../../rules/projection/project.ts'
import type { Component, DeepReadonly, Entity } from '../../world/component.ts'
import type { World } from '../../world/world.ts'
import { type OpenApproval, openApprovals } from './open-approvals.ts'
import type { Slot } from './pool.ts'
import type { Failure } from '../../protocol/failure.ts'
import type { Listeners } from '../loop/listeners.ts'
import type { StopOptions } from '../loop/runner-options.ts'
import type { TextSoFar } from '../loop/texts-so-far.ts'
import type { SessionUsage } from '../../protocol/usage.ts'
import type { Input } from '../../world/input.ts'

export type SessionEndData = DeepReadonly<(typeof SessionEnd)['schema']['_output']>

/** A child's Runner, as its parent drives it. */
export interface ChildRunner {
  readonly runner: {
    readonly world: World
    post(input: StandardInput, options?: { readonly id?: string }): Promise<unknown>
    textSoFar(agent: Entity, path: readonly string[]): TextSoFar | undefined
    stop(options: StopOptions): Promise<void>
  }
  /** Saves the world before its first tick. */
  readonly prepare: () => Promise<void>
  readonly start: (first: readonly Input[]) => Promise<void>
  /** Of a World that is over: ticks for what its own sessions tell, and begins nothing. */
  readonly settle: () => Promise<void>
  readonly answer: (input: AnswerInput) => Promise<boolean>
  /** What the children of its World ask for. @param path of its World */
  readonly approvals: (path: readonly string[]) => readonly OpenApproval[]
  /** Stops; with an input for one last tick, for good. */
  readonly end: (last?: Input) => Promise<void>
  readonly usageOf: (agent: Entity) => SessionUsage
  /** What its World has spent in all, once it has stopped. */
  readonly spent: () => Promise<SessionUsage>
}

export type Grant = Omit<InputOf<'granted'>, 'id' | 'kind'>

export type AnswerInput = Extract<StandardInput, { readonly kind: 'answer' }>

export interface ChildTies {
  /** Absent: it runs without one, as a query does. */
  readonly slot: Slot | undefined
  /** Of a subtask: asks the caller's budget before each model call. Resolves with a refusal, if there is one. */
  readonly mayCall: (() => Promise<Failure | undefined>) | undefined
  readonly committed: () => void
  readonly failed: (error: Error) => void
  /** Gets what the world above writes in letters: a grant, or that it ends. Absent: that comes from its process. */
  readonly told?: ((letter: LetterToSession, id: number) => void) | undefined
}

export type LetterToSession = Extract<
  LetterData,
  { readonly grant: unknown } | { readonly stop: unknown } | { readonly wait: true }
>

export interface Lineage extends ChildTies {
  /** The root world, whose database has all worlds below it. */
  readonly root: string
  /** Ids of the sessions above and its own, outermost first. */
  readonly path: readonly string[]
  /** The parent's. They get all events of this world. */
  readonly listeners: Listeners
}

export type MakeChildRunner = (ties: ChildTies) => ChildRunner

/** The conversation of a session. */
export interface Transcript {
  readonly systemPrompt: string
  readonly messages: readonly Message[]
}

interface ChildRunOptions {
  /** Given back while the child only waits. */
  readonly slot?: Slot
  readonly mayCall?: (run: ChildRun) => Promise<Failure | undefined>
}

/** A child's World while it is driven, from its first tick or from where it was left, until its end. */
export class ChildRun {
  readonly agent: Entity
  readonly world: World
  readonly #runner: ChildRunner
  readonly #slot: Slot | undefined
  readonly #usedBefore: SessionUsage
  readonly #ended: Promise<SessionEndData>
  #settle: ((end: SessionEndData) => void) | undefined
  #isAwaited = false
  #isLeaving = false
  #isStopped = false
  #failure: Error | undefined
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
        this.#failure = error
        this.#settle?.({ ok: false, error: error.message, kind: 'internal' })
        this.#quiet.resolve(undefined)
      },
    })
    this.world = this.#runner.runner.world
    this.agent = agentOf(this.world)
    this.#usedBefore = this.usage
  }

  async prepare(): Promise<void> {
    await this.#runner.prepare()
  }

  /** Drives the World. @param granted the agent's budget, in all or for one question; entered once */
  async start(granted?: Grant): Promise<void> {
    try {
      await this.#runner.start(
        granted === undefined || this.#hasEntered(granted) ? [] : [{ kind: 'granted', ...granted }],
      )
    } finally {
      this.#started.resolve()
    }
  }

  /** Takes what its own sessions tell, now that it is over. Nothing of its World goes on. */
  async settle(): Promise<void> {
    await this.#runner.settle()
    this.#started.resolve()
  }

  #hasEntered({ question }: Grant): boolean {
    if (question === undefined) return this.isGranted
    return this.world.get(this.agent, LastQuestion)?.id === question
  }

  usedOn(question: string): SessionUsage | undefined {
    const asked = this.world.get(this.agent, LastQuestion)
    return asked?.id === question ? growthOf(asked.usedBefore, this.usage) : undefined
  }

  /** Puts a further question to the agent, once under an id. */
  async ask(prompt: string, id: string): Promise<void> {
    const message = { role: 'user' as const, content: [{ type: 'text' as const, text: prompt }] }
    await this.#runner.runner.post({ kind: 'message', agent: this.agent, message }, { id })
  }

  async abandon(): Promise<void> {
    await this.#runner.runner.post({ kind: 'cancel', agent: this.agent })
  }

  /** Passes a user's answer to the World that asked: this one or one below. False: none did. */
  async answer(input: AnswerInput): Promise<boolean> {
    await this.#started.promise
    return !this.#isStopped && this.#failure === undefined && (await this.#runner.answer(input))
  }

  /** What its World and those below ask a person for. */
  approvals(path: readonly string[]): readonly OpenApproval[] {
    return [...openApprovals(this.world, path), ...this.#runner.approvals(path)]
  }

  /** What its Runner has failed with: its World is as its last commit left it. */
  get failure(): Error | undefined {
    return this.#failure
  }

  ended(): Promise<SessionEndData> {
    // An end from before the question does not count.
    this.#isAwaited = true
    this.#look()
    return this.#ended
  }

  get hasEnded(): boolean {
    return this.world.has(this.agent, SessionEnd)
  }

  /** It has ended, or was stopped. */
  get isOver(): boolean {
    return isOver(this.world)
  }

  /** It was stopped from above, and does not go on. */
  get wasStopped(): boolean {
    return this.world.has(this.agent, SessionStopped)
  }

  /** Sessions of its own have ended, and it does not know yet what they have spent. */
  get isUnsettled(): boolean {
    return hasUnsettledSessions(this.world)
  }

  /** It has what it may spend: it has begun. */
  get isGranted(): boolean {
    return this.world.has(this.agent, DelegationLimits)
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

  /** In all, once it has stopped: with own sessions of which its World does not know, as where its Runner has failed. */
  spent(): Promise<SessionUsage> {
    return this.#runner.spent()
  }

  get usedInRun(): SessionUsage {
    return growthOf(this.#usedBefore, this.usage)
  }

  textSoFar(agent: Entity, path: readonly string[]): TextSoFar | undefined {
    return this.#runner.runner.textSoFar(agent, path)
  }

  get transcript(): Transcript {
    return transcriptOf(this.world)
  }

  stop(options?: StopOptions): Promise<void> {
    return options === undefined ? this.#end() : this.#runner.runner.stop(options)
  }

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

export function agentOf(world: World): Entity {
  return world.entitiesWith(Ancestry)[0] as Entity
}

/** A session's World has ended, or was stopped: it does not go on by itself. */
export function isOver(world: World): boolean {
  return holds(world, SessionEnd) || holds(world, SessionStopped)
}

export function transcriptOf(world: World): Transcript {
  const agent = agentOf(world)
  return { systemPrompt: systemText(world, agent), messages: [...(world.get(agent, Conversation) ?? [])] }
}

function holds(world: World, token: Component): boolean {
  return world.entitiesWith(token).length > 0
}
