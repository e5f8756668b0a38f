import type { AnswerInput } from '../../engine/children/child-run.ts'
import type { OpenApproval } from '../../engine/children/open-approvals.ts'
import type { SessionInfo } from '../../engine/children/session-info.ts'
import type { PostOptions } from '../../engine/loop/runner-options.ts'
import type { WorldDriver } from '../../engine/loop/world-driver.ts'
import type { UserMessage } from '../../protocol/message.ts'
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

/** One world, by its name. It is opened when it is used, and holds nothing meanwhile. `ask` and `message` make it. */
export interface NamedWorld {
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
export interface NamedWorldParts extends Pick<NamedWorld, 'approvals' | 'cancel' | 'message' | 'sessions'> {
  /** Calls a function with whoever drives the world, which stays so until what it returns has settled. */
  readonly use: <T>(work: (driver: WorldDriver, agent: Entity) => T | Promise<T>) => Promise<T>
  /** Is there such a world, or is it being made? */
  readonly exists: () => Promise<boolean>
  readonly listen: Listen
  readonly answer: (input: AnswerInput) => Promise<void>
  /** Resolves once the world has taken what was sent to it before the call. @default at once: it has, when that resolves */
  readonly received?: () => Promise<void>
}

export function namedWorld(name: string, parts: NamedWorldParts): NamedWorld {
  const { answer, approvals, cancel, exists, listen, message, received, sessions, use } = parts
  const known = async (): Promise<void> => {
    if (await exists()) return
    const advice = 'Make it with ask(…) or message(…); exists(name) says whether it is there.'
    throw new EntiaError('no-such-world', `There is no world '${name}'. ${advice}`, { world: name })
  }
  const useLater: NamedWorldParts['use'] = async (work) => {
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
    events: () => new EventStream(listen),
    sessions: async () => ((await exists()) ? sessions() : []),
  }
}

/** A turn in a world that has to be opened first. */
function laterTurn(
  use: NamedWorldParts['use'],
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
