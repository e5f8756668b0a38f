import { Boundary } from '../../components/boundary.ts'
import { Conversation } from '../../components/conversation.ts'
import { Seed } from '../../components/holder.ts'
import type { Message } from '../../components/message.ts'
import type { Entity } from '../world/component.ts'
import type { World } from '../world/world.ts'
import { coveredBy } from './boundary-message.ts'
import { countUpTo, seqAt } from './places.ts'

/** The part of a conversation that a boundary would cover anew if it were written now. */
export interface UncoveredPart {
  /** The text of the boundary before it. */
  readonly carried?: string
  /** It begins behind the message of this `seq`; 0: at the first. */
  readonly fromSeq: number
  /** It ends with the message of this `seq`. */
  readonly toSeq: number
  /** How many messages it has. */
  readonly count: number
}

/**
 * What stands behind the newest boundary of an agent that is at a quiet point, up to the messages that nobody has answered:
 * those stay as they are. `undefined`: nothing does; or the agent holds a turn that it is to remember as it was.
 */
export function uncoveredPart(world: World, agent: Entity): UncoveredPart | undefined {
  if (world.has(agent, Seed)) return undefined
  const messages = world.get(agent, Conversation) ?? []
  const newest = world.get(agent, Boundary)?.at(-1)
  const end = unansweredFrom(messages)
  const begin = newest === undefined ? 0 : coveredBy(world, agent, newest)
  if (end <= begin) return undefined
  return {
    ...(newest !== undefined && { carried: newest.text }),
    fromSeq: newest === undefined ? 0 : coveredSeq(world, agent, newest.seq, begin),
    toSeq: seqAt(world, agent, end - 1),
    count: end - begin,
  }
}

/** A boundary may cover less than it says. */
function coveredSeq(world: World, agent: Entity, seq: number, count: number): number {
  if (count === countUpTo(world, agent, seq)) return seq
  return count === 0 ? 0 : seqAt(world, agent, count - 1)
}

/** The index of the first message at the end that came from outside, and that no model has answered; their count if there is none. */
export function unansweredFrom(messages: readonly Message[]): number {
  let index = messages.length
  while (index > 0 && isFromOutside(messages[index - 1])) index--
  return index
}

function isFromOutside(message: Message | undefined): boolean {
  return message?.role === 'user' || message?.role === 'system'
}
