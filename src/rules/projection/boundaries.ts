import { Boundary } from '../../../components/context/boundary.ts'
import type { BoundaryEntry } from '../../protocol/context.ts'
import { Conversation } from '../../../components/agent/conversation.ts'
import { Seed } from '../../../components/context/holder.ts'
import type { Message } from '../../protocol/message.ts'
import { framed, recordFoot, recordHeads } from '../text/frames.ts'
import { oncePerObject } from '../once-per.ts'
import { countUpTo, seqAt } from './places.ts'
import type { Entity } from '../../world/component.ts'
import type { World } from '../../world/world.ts'

export interface ProjectionStart {
  /** Stands for what is left out. */
  readonly message: Message
  /** How many messages are left out. */
  readonly from: number
}

/** Where an agent's projection begins, if it has a boundary. */
export function projectionStart(world: World, agent: Entity): ProjectionStart | undefined {
  const newest = world.get(agent, Boundary)?.at(-1)
  if (newest === undefined) return undefined
  return { message: boundaryMessage(newest), from: coveredBy(world, agent, newest) }
}

/**
 * How many messages a boundary covers. One placed between a call and its result covers neither: no provider accepts a
 * result without its call.
 */
function coveredBy(world: World, agent: Entity, { seq }: Pick<BoundaryEntry, 'seq'>): number {
  const count = countUpTo(world, agent, seq)
  const conversation = world.get(agent, Conversation)
  if (conversation?.[count]?.role !== 'tool') return count
  let index = count - 1
  while (index > 0 && !hasCalls(conversation[index])) index--
  return Math.max(0, index)
}

function hasCalls(message: Message | undefined): boolean {
  return message?.role === 'assistant' && message.content.some(({ type }) => type === 'tool-call')
}

/**
 * The message that replaces what a boundary covers. Frozen, and the same object for the same entry, so that its wire
 * form, hash and tokens are computed once.
 */
export const boundaryMessage = oncePerObject((entry: BoundaryEntry): Message => {
  const text = `${recordHeads[entry.kind]}\n\n${framed(entry.text, 'record')}\n\n${recordFoot}`
  return Object.freeze({ role: 'user' as const, content: [{ type: 'text' as const, text }] })
})

/** The part of a conversation that a new boundary would cover. */
export interface UncoveredPart {
  /** The text of the boundary before it. */
  readonly carried?: string
  /** It begins behind the message of this `seq`; 0: at the first. */
  readonly fromSeq: number
  readonly toSeq: number
  /** Its number of messages. */
  readonly count: number
}

/**
 * What stands behind an agent's newest boundary, without its last, unanswered messages. `undefined` if nothing does, or
 * if the agent holds a turn, which it must remember unchanged.
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

/** A boundary may cover less than its `seq` says. */
function coveredSeq(world: World, agent: Entity, seq: number, count: number): number {
  if (count === countUpTo(world, agent, seq)) return seq
  return count === 0 ? 0 : seqAt(world, agent, count - 1)
}

/** Index of the first of the last, unanswered messages; the number of messages if all are answered. */
export function unansweredFrom(messages: readonly Message[]): number {
  let index = messages.length
  while (index > 0 && isFromOutside(messages[index - 1])) index--
  return index
}

function isFromOutside(message: Message | undefined): boolean {
  return message?.role === 'user' || message?.role === 'system'
}
