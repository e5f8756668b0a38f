import type { AnswerInput } from '../../engine/children/child-run.ts'
import type { OpenApproval } from '../../engine/children/open-approvals.ts'
import type { SessionInfo } from '../../engine/children/session-info.ts'
import type { PostOptions } from '../../engine/loop/runner-options.ts'
import type { WorldDriver } from '../../engine/loop/world-driver.ts'
import { Conversation } from '../../../components/agent/conversation.ts'
import type { EventsByType, RunnerEvent } from '../../engine/loop/events.ts'
import type { Message, UserMessage } from '../../protocol/message.ts'
import { takeBack } from '../ask/take-back.ts'
import { type AgentState, stateOf } from './agent-state.ts'
import type { Store } from '../../stores/port.ts'
import type { Entity } from '../../world/component.ts'
import { EntiaError } from '../../base/entia-error.ts'
import {
  type Asking,
  type AskingFor,
  type AskOptions,
  asAsking,
  askedTurn,
  attachedTurn,
  type TurnUnderWay,
  type AnswerSchema,
} from '../ask/ask.ts'
import type { PartStream } from '../ask/part-stream.ts'
import { EventStream, type Listen } from './event-stream.ts'

/**
 * An agent, and how to speak to it: the same from `createAgent`, from `worlds(store, …).agent(name)` and from a fleet. By its name, it
 * is the agent of the world of that name, which is opened when it is used; `ask` and `message` make it.
 */
export interface Agent {
  /** Of its world. */
  readonly name: string
  /** As `ask(runner, agent, …)`. */
  ask<Schema extends AnswerSchema = never>(
    message: string | UserMessage,
    options?: AskOptions<Schema>,
  ): AskingFor<Schema>
  /** As `ask.attach(runner, agent)`. @throws by its promise and its parts: `no-such-world` */
  attach(): Asking
  /** Sends a message. Resolves once it is committed; the turn goes on by itself. */
  message(message: string | UserMessage, options?: PostOptions): Promise<void>
  /** What its agents and their sessions ask a person for now, however deep they lie. None, of a world that there is not. */
  approvals(): Promise<readonly OpenApproval[]>
  /** Answers an approval, of a session too. @throws `no-such-world` */
  answer(approval: string, answer: boolean | { readonly approved: boolean; readonly reason?: string }): Promise<void>
  /** Ends the agent's turn. @throws `no-such-world` */
  cancel(reason?: string): Promise<void>
  /** Stops the step under way; the next message goes on with the turn. @throws `no-such-world` */
  stopStep(reason?: string): Promise<void>
  /**
   * Takes back the last messages of the user, and all that came behind the first of them.
   * @param messages how many. @default 1
   * @throws `no-such-world`; `invalid-argument` for more than there are
   */
  rewind(messages?: number): Promise<void>
  /** The conversation so far, as the world has it: of an archived turn the message that opened it. Empty, of a world that there is not. */
  history(): Promise<readonly Message[]>
  /** What it does now, and what its last turn came to: to look at a job from time to time. Idle, of a world that there is not. */
  state(): Promise<AgentState>
  /** Calls a listener for the events of this world and its sessions, as `events` gives them. Returns a function that ends it. */
  on<K extends keyof EventsByType>(
    type: K,
    listener: (event: { readonly type: K } & EventsByType[K]) => unknown,
  ): () => void
  on(type: '*', listener: (event: RunnerEvent) => unknown): () => void
  /**
   * Events of this world and its sessions: here, while it is open; of a fleet, a moment later. Of a world that there is not,
   * from its first one on, once another call or process makes it. It ends when the worlds, or the fleet, are closed. A slow reader
   * loses the oldest: it gets an `events-skipped` in their place.
   */
  events(): EventStream
  /** The agent's sessions. None, of a world that there is not. */
  sessions(): Promise<readonly SessionInfo[]>
}

/** What a named world is made of: where it is driven makes the difference. */
export interface AgentHandleParts extends Pick<Agent, 'approvals' | 'cancel' | 'message' | 'sessions'> {
  /** Calls a function with whoever drives the world, which stays so until what it returns has settled. */
  readonly use: <T>(work: (driver: WorldDriver, agent: Entity) => T | Promise<T>) => Promise<T>
  /** Is there such a world, or is it being made? */
  readonly exists: () => Promise<boolean>
  readonly listen: Listen
  readonly answer: (input: AnswerInput) => Promise<void>
  /** Resolves once the world has taken what was sent to it before the call. @default at once: it has, when that resolves */
  readonly received?: () => Promise<void>
}

export function agentHandle(name: string, parts: AgentHandleParts): Agent {
  const { answer, approvals, cancel, exists, listen, message, received, sessions, use } = parts
  const known = async (): Promise<void> => {
    if (await exists()) return
    const advice = 'Make it with ask(…) or message(…); exists(name) says whether it is there.'
    throw new EntiaError('no-such-world', `There is no world '${name}'. ${advice}`, { world: name })
  }
  const useLater: AgentHandleParts['use'] = async (work) => {
    await known()
    await received?.()
    return use(work)
  }
  return {
    name,
    ask: (said, options = {}) => asAsking(laterTurn(use, (driver, agent) => askedTurn(driver, agent, said, options))),
    attach: () => asAsking(laterTurn(useLater, attachedTurn)),
    message,
    approvals: async () => ((await exists()) ? approvals() : []),
    answer: async (approval, given) => {
      const { approved, reason } = typeof given === 'boolean' ? { approved: given } : given
      await known()
      return answer({ kind: 'answer', approval, approved, ...(reason !== undefined && { reason }) })
    },
    cancel: async (reason) => {
      await known()
      return cancel(reason)
    },
    stopStep: (reason) =>
      useLater(async (driver, agent) => {
        await driver.post({ kind: 'cancel', agent, step: true, ...(reason !== undefined && { reason }) })
      }),
    rewind: (messages = 1) => useLater((driver, agent) => takeBack(driver, agent, messages)),
    history: async () => ((await exists()) ? useLater(({ world }, agent) => [...world.read(agent, Conversation)]) : []),
    state: async () => {
      if (!(await exists())) return { isBusy: false, waitsFor: [] }
      return useLater(({ world }, agent) => stateOf(world, agent))
    },
    events: () => new EventStream(listen),
    on: (type: string, listener: (event: never) => unknown) =>
      listen(
        (event) => void ((type === '*' || event.type === type) && listener(event as never)),
        () => undefined,
      ),
    sessions: async () => ((await exists()) ? sessions() : []),
  }
}

/** A turn in a world that has to be opened first. */
function laterTurn(
  use: AgentHandleParts['use'],
  begin: (driver: WorldDriver, agent: Entity) => TurnUnderWay,
): TurnUnderWay {
  const streams: PartStream[] = []
  let turn: TurnUnderWay | undefined
  const ended = use((driver, agent) => {
    turn = begin(driver, agent)
    for (const stream of streams) turn.follow(stream)
    return turn.ended
  })
  return { ended, follow: (stream) => void (turn === undefined ? streams.push(stream) : turn.follow(stream)) }
}

/** Has a store a root world of that name, or letters for it? */
export async function isInStore(store: Pick<Store, 'list'>, name: string): Promise<boolean> {
  const known = await store.list({ root: name })
  return known.some((world) => world.name === name && (world.root === undefined || world.root === name))
}
