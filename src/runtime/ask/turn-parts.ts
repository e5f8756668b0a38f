import { Approval, ToolCall } from '../../../components/agent/tool-call.ts'

import { Conversation } from '../../../components/agent/conversation.ts'
import { OwnedBy } from '../../../components/effects/effect.ts'
import { SubagentSession } from '../../../components/sessions/subagent-session.ts'
import type { EventsByType } from '../../engine/loop/events.ts'
import type { WorldDriver } from '../../engine/loop/world-driver.ts'
import type { AssistantMessage, Message } from '../../protocol/message.ts'
import { type Judged, judgedFieldsOf } from '../../protocol/policy.ts'
import type { Entity } from '../../world/component.ts'
import { reportedCalls } from '../../rules/projection/call-result.ts'
import { isAtWork } from './turn-watch.ts'
import type { AskPart } from './part.ts'

/** Turns what a Runner emits into the parts of an agent's turn. Gives a function that ends it. */
export function followTurn(runner: WorldDriver, agent: Entity, write: (part: AskPart) => void): () => void {
  const follower = new TurnFollower(runner, agent, write)
  return () => follower.end()
}

class TurnFollower {
  readonly #agent: Entity
  readonly #runner: WorldDriver
  readonly #write: (part: AskPart) => void
  readonly #ends: (() => void)[] = []
  /** The try of a model call whose text was written as it was streamed. */
  #streamed: { readonly effect: Entity; readonly attempt: number } | undefined
  /** The newest reply whose calls were written. */
  #reply: AssistantMessage | undefined

  constructor(runner: WorldDriver, agent: Entity, write: (part: AskPart) => void) {
    this.#agent = agent
    this.#runner = runner
    this.#write = write
    this.#reply = this.#newestReply()
    this.#followModel()
    this.#followTools()
    this.#followSessions()
  }

  end(): void {
    for (const end of this.#ends.splice(0)) end()
  }

  #followModel(): void {
    this.#on('model-called', ({ step }) => this.#write({ type: 'step', step }))
    this.#on('step-stopped', () => this.#write({ type: 'step-stopped' }))
    this.#on('model-delta', (event) => this.#delta(event))
    this.#on('model-discarded', ({ effect }) => {
      if (this.#streamed?.effect === effect) this.#streamed = undefined
      this.#write({ type: 'discarded' })
    })
    this.#on('retry-scheduled', ({ attempt, failure }) => this.#write({ type: 'retry', attempt, failure }))
    this.#on('model-replied', ({ effect }) => this.#replied(effect))
  }

  #delta({ attempt, delta, effect, index }: EventsByType['model-delta']): void {
    if (delta.type !== 'text' && delta.type !== 'thinking') return
    const isKnown = this.#streamed?.effect === effect && this.#streamed.attempt === attempt
    this.#streamed = { effect, attempt }
    // Who begins to listen in the midst of a text gets what was written before, and this piece with it.
    const text = isKnown || index === 0 ? undefined : this.#runner.textSoFar(this.#agent)?.text
    if (delta.type === 'text') this.#write({ type: 'text', text: text ?? delta.text })
    else this.#write(delta)
  }

  /** A reply stands in the conversation: its calls are made next. What was not streamed is written now. */
  #replied(effect: Entity): void {
    const reply = this.#newestReply()
    const isStreamed = this.#streamed?.effect === effect
    this.#streamed = undefined
    if (reply === undefined || reply === this.#reply) return
    this.#reply = reply
    if (!isStreamed) for (const part of draftsOf(reply)) this.#write(part)
    for (const part of callsOf(reply)) this.#write(part)
  }

  #newestReply(): AssistantMessage | undefined {
    const messages = this.#runner.world.read(this.#agent, Conversation)
    for (let index = messages.length - 1; index >= 0; index--) {
      const message = messages[index]
      if (message?.role === 'assistant') return message
    }
    return undefined
  }

  #followTools(): void {
    const { world } = this.#runner
    this.#on('tool-progressed', ({ effect, fraction, message }) => {
      const callId = world.get(effect, ToolCall)?.callId
      if (callId !== undefined) this.#write({ type: 'tool-progress', callId, message, fraction })
    })
    this.#on('tool-answered', ({ callId, isError, result, tool }) => {
      this.#write({ type: 'tool-result', callId, tool, isError, result })
    })
    this.#ends.push(
      this.#runner.on('approval-requested', (event) => {
        const { agent, approval, path, tool, arguments: input } = event
        if (!this.#isOwn(agent, path)) return
        const asked = { approval, tool, arguments: input, ...judgedOf(event), ...(path && { path }) }
        this.#write({ type: 'approval-requested', ...asked })
      }),
      this.#runner.on('approval-answered', ({ agent, approval, approved, path, reason, tool }) => {
        if (!this.#isOwn(agent, path)) return
        this.#write({ type: 'approval-answered', approval, tool, approved, reason, ...(path && { path }) })
      }),
    )
  }

  #followSessions(): void {
    const { world } = this.#runner
    const isOwn = (parent: Entity, path: readonly string[] | undefined): boolean =>
      path === undefined && parent === this.#agent && world.exists(parent)
    this.#ends.push(
      this.#runner.on('delegation-started', ({ category, mode, parent, path, sessionId, task }) => {
        if (isOwn(parent, path)) this.#write({ type: 'session-started', sessionId, category, task, mode })
      }),
      this.#runner.on('delegation-completed', ({ parent, path, ...end }) => {
        if (!isOwn(parent, path)) return
        const { error, lifecycleStatus: status, result, sessionId, success } = end
        this.#write({ type: 'session-ended', sessionId, status, success, result, error })
      }),
    )
  }

  /** Is this the agent, or one of a session of its? */
  #isOwn(agent: Entity, path: readonly string[] | undefined): boolean {
    if (path === undefined) return agent === this.#agent
    const { world } = this.#runner
    return world
      .referrers(SubagentSession, this.#agent)
      .some((session) => world.read(session, SubagentSession).sessionId === path[0])
  }

  /** Events of this agent itself. */
  #on<
    K extends
      | 'model-called'
      | 'step-stopped'
      | 'model-delta'
      | 'model-discarded'
      | 'retry-scheduled'
      | 'model-replied'
      | 'tool-progressed'
      | 'tool-answered',
  >(type: K, listener: (event: EventsByType[K]) => void): void {
    const { name } = this.#runner.world
    this.#ends.push(
      this.#runner.on(type, (event: EventsByType[K]) => {
        if (event.agent === this.#agent && event.world === name) listener(event)
      }),
    )
  }
}

/** The parts up to now of the turn that is open, or of the last one, for a reader that begins late. */
export function* partsSoFar({ world }: WorldDriver, agent: Entity): Generator<AskPart> {
  const messages = world.read(agent, Conversation).slice()
  for (const message of messages.slice(turnBegin(messages, isAtWork(world, agent)))) yield* partsOf(message)
  for (const { callId, content: result, isError, name: tool } of reportedCalls(world, agent)) {
    yield { type: 'tool-result', callId, tool, isError, result }
  }
  for (const owned of world.referrers(OwnedBy, agent)) {
    const approval = world.get(owned, Approval)
    if (approval === undefined) continue
    const { id, tool, arguments: input } = approval
    yield { type: 'approval-requested', approval: id, tool, arguments: input, ...judgedOf(approval) }
  }
}

type AskedBy = Judged & { readonly callId?: string | undefined }

/** What a policy says of a call that it asks about. */
function judgedOf({ callId, ...asked }: AskedBy): AskedBy {
  return asked.decision === undefined ? {} : { callId, ...judgedFieldsOf(asked) }
}

function* partsOf(message: Message): Generator<AskPart> {
  if (message.role === 'tool') {
    const { callId, content: result, isError = false, name: tool } = message
    return yield { type: 'tool-result', callId, tool, isError, result }
  }
  if (message.role !== 'assistant') return
  yield* draftsOf(message)
  yield* callsOf(message)
}

/** The index of a turn's first message: a turn is over with a message of the assistant that calls nothing. */
function turnBegin(messages: readonly Message[], isOpen: boolean): number {
  for (let index = messages.length - (isOpen ? 1 : 2); index >= 0; index--) {
    const message = messages[index]
    if (message?.role === 'assistant' && message.content.every(({ type }) => type !== 'tool-call')) return index + 1
  }
  return 0
}

function* draftsOf({ content }: AssistantMessage): Generator<AskPart> {
  for (const block of content) {
    if ((block.type === 'text' || block.type === 'thinking') && block.text !== '')
      yield { type: block.type, text: block.text }
  }
}

function* callsOf({ content }: AssistantMessage): Generator<AskPart> {
  for (const block of content) {
    if (block.type !== 'tool-call') continue
    yield { type: 'tool-call', callId: block.id, tool: block.name, arguments: block.arguments }
  }
}
