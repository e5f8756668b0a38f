import { TranscriptWrite } from '../../components/agent-transcript.ts'
import { ArchiveJob } from '../../components/archive-job.ts'
import { HolderDraft, Seed } from '../../components/holder.ts'
import { Ancestry, SessionEnd, SlotReleased, SlotRequest } from '../../components/ancestry.ts'
import { Conversation } from '../../components/conversation.ts'
import { DelegationLimits } from '../../components/delegation-limits.ts'
import type { InputOf, StandardInput } from '../../components/input.ts'
import { LastQuestion } from '../../components/last-question.ts'
import type { Message } from '../../components/message.ts'
import { Turn } from '../../components/turn.ts'
import { usageSince } from '../subagents/grants.ts'
import { systemText } from '../models/project.ts'
import type { DeepReadonly, Entity } from '../world/component.ts'
import type { World } from '../world/world.ts'
import type { MayCall } from './allowance-effect.ts'
import type { Lineage } from './lineage.ts'
import type { SessionSlot } from './session-slot.ts'
import type { TextSoFar } from './texts-so-far.ts'
import type { SessionUsage } from '../../components/subagent-session.ts'
import type { Input } from '../world/input.ts'

/** How a session's World has ended. */
export type SessionEndData = DeepReadonly<(typeof SessionEnd)['schema']['_output']>

/** What a child run needs of a Runner. */
export interface ChildRunner {
  readonly world: World
  prepare(): Promise<void>
  start(first?: readonly Input[]): Promise<void>
  post(input: StandardInput, id?: string): Promise<void>
  answer(input: AnswerInput): Promise<boolean>
  end(last?: Input): Promise<void>
  usageOf(agent: Entity): SessionUsage
  textSoFar(agent: Entity, path: readonly string[]): TextSoFar | undefined
}

/** What a session's agent is told that it may spend. */
export type Grant = Omit<InputOf<'granted'>, 'id' | 'kind'>

/** A person's answer to an approval. */
export type AnswerInput = Extract<StandardInput, { readonly kind: 'answer' }>

/** A Runner for a World, made with ties to a parent. */
export type MakeChildRunner = (lineage: Pick<Lineage, 'committed' | 'failed' | 'mayCall' | 'slot'>) => ChildRunner

/** What a session's agent was last asked with. */
export interface Transcript {
  readonly systemPrompt: string
  readonly messages: readonly Message[]
}

/** A session's World while it is driven: from its first tick, or from where it was left, until it has ended. */
export class ChildRun {
  readonly #runner: ChildRunner
  readonly #slot: SessionSlot | undefined
  readonly #agent: Entity
  readonly #ended: Promise<SessionEndData>
  #settle: ((end: SessionEndData) => void) | undefined
  #isAwaited = false
  #isLeaving = false
  #isStopped = false
  #hasFailed = false
  /** Resolves once its World ticks, or will not. */
  readonly #started = Promise.withResolvers<void>()
  readonly #quiet = Promise.withResolvers<void>()

  /**
   * @param slot given back while the session only waits. Absent: it needs none
   * @param mayCall of a subtask: asked before each call of its model, if somebody is to be
   */
  constructor(makeRunner: MakeChildRunner, slot: SessionSlot | undefined, mayCall?: MayCall) {
    this.#slot = slot
    this.#ended = new Promise((resolve) => (this.#settle = resolve))
    this.#runner = makeRunner({
      slot,
      mayCall,
      committed: () => this.#look(),
      failed: (error) => {
        this.#hasFailed = true
        this.#settle?.({ ok: false, error: error.message, kind: 'internal' })
        this.#quiet.resolve()
      },
    })
    this.#agent = agentOf(this.#runner.world)
  }

  get agent(): Entity {
    return this.#agent
  }

  get world(): World {
    return this.#runner.world
  }

  /** Writes the World down, so that it is there before anything of it has happened. */
  async prepare(): Promise<void> {
    await this.#runner.prepare()
  }

  /**
   * Drives the World.
   *
   * @param granted what the agent may spend, in all or on a question. If it was told before, it is not told again
   */
  async start(granted?: Grant): Promise<void> {
    try {
      await this.#runner.start(granted === undefined || this.#isTold(granted) ? [] : [{ kind: 'granted', ...granted }])
    } finally {
      this.#started.resolve()
    }
  }

  #isTold({ question }: Grant): boolean {
    const { world } = this.#runner
    if (question === undefined) return world.has(this.#agent, DelegationLimits)
    return world.get(this.#agent, LastQuestion)?.id === question
  }

  /** What the agent has used on a question since it was told of it. */
  usedOn(question: string): SessionUsage | undefined {
    const asked = this.#runner.world.get(this.#agent, LastQuestion)
    return asked?.id === question ? usageSince(asked.usedBefore, this.usage) : undefined
  }

  /** Puts a further question to the agent, once under an id. */
  async ask(prompt: string, id: string): Promise<void> {
    const message = { role: 'user' as const, content: [{ type: 'text' as const, text: prompt }] }
    await this.#runner.post({ kind: 'message', agent: this.#agent, message }, id)
  }

  /** Ends what the agent is at. */
  async abandon(): Promise<void> {
    await this.#runner.post({ kind: 'cancel', agent: this.#agent })
  }

  /** Passes a person's answer on to the World that has asked: this one, or one below. False: neither has. */
  async answer(input: AnswerInput): Promise<boolean> {
    await this.#started.promise
    return !this.#isStopped && !this.#hasFailed && (await this.#runner.answer(input))
  }

  /** Resolves once the session has ended, or its Runner has failed. */
  ended(): Promise<SessionEndData> {
    // An end from before a question that was put is none.
    this.#isAwaited = true
    this.#look()
    return this.#ended
  }

  /** Is its agent in the midst of a turn? */
  get isAtWork(): boolean {
    return this.#runner.world.has(this.#agent, Turn)
  }

  /** Has it ended, while turns of it are still on their way to holders? */
  get isArchiving(): boolean {
    const { world } = this.#runner
    if (!world.has(this.#agent, SessionEnd) && !world.has(this.#agent, Seed)) return false
    return [ArchiveJob, HolderDraft, TranscriptWrite].some((token) => world.core.state.holders(token).length > 0)
  }

  /** Resolves once nothing of that is under way, or it is not driven any more. */
  quiet(): Promise<void> {
    this.#isLeaving = true
    this.#look()
    return this.#quiet.promise
  }

  get usage(): SessionUsage {
    return this.#runner.usageOf(this.#agent)
  }

  /** What the model of an agent has written so far, in this World or in that of a session below. */
  textSoFar(agent: Entity, path: readonly string[]): TextSoFar | undefined {
    return this.#runner.textSoFar(agent, path)
  }

  get transcript(): Transcript {
    const { world } = this.#runner
    return transcriptOf(world)
  }

  /** Stops all work and lets go of the World, which can go on from there. */
  async stop(): Promise<void> {
    this.#isStopped = true
    this.#started.resolve()
    await this.#runner.end()
  }

  /** Stops all work; sessions below end as cancelled, and tell so. */
  async cancel(reason: string): Promise<void> {
    this.#isStopped = true
    this.#started.resolve()
    await this.#runner.end({ kind: 'session-stopped', reason })
  }

  #look(): void {
    if (this.#isStopped) return
    const { world } = this.#runner
    if (this.#isLeaving && !this.isAtWork && !this.isArchiving) this.#quiet.resolve()
    const end = world.get(this.#agent, SessionEnd)
    if (end !== undefined) {
      if (this.#isAwaited) this.#settle?.(end)
    } else if (world.has(this.#agent, SlotReleased) && !isAskingForSlot(world)) this.#slot?.leave()
  }
}

/** The agent of a session's World. */
export function agentOf(world: World): Entity {
  return world.core.state.holders(Ancestry)[0] as Entity
}

/** What the agent of a session's World was last asked with. */
export function transcriptOf(world: World): Transcript {
  const agent = agentOf(world)
  return { systemPrompt: systemText(world, agent), messages: [...(world.get(agent, Conversation) ?? [])] }
}

function isAskingForSlot(world: World): boolean {
  return world.core.state.holders(SlotRequest).length > 0
}
