import { Boundary, type BoundaryEntry } from '../../components/boundary.ts'
import { Conversation } from '../../components/conversation.ts'
import type { Message } from '../../components/message.ts'
import type { Entity } from '../world/component.ts'
import type { World } from '../world/world.ts'
import { framed, recordFoot, recordHeads } from './frames.ts'
import { countUpTo } from './places.ts'

/** Where the projection of an agent begins. */
export interface ProjectionStart {
  /** Stands for what is left out. */
  readonly message: Message
  /** How many messages of the conversation are left out. */
  readonly from: number
}

/** The same entry is always the same message, so that wire forms and hashes of it are made once. */
const messages = new WeakMap<BoundaryEntry, Message>()

/** Where an agent's projection begins, if a boundary is in force. */
export function projectionStart(world: World, agent: Entity): ProjectionStart | undefined {
  const newest = world.get(agent, Boundary)?.at(-1)
  if (newest === undefined) return undefined
  return { message: boundaryMessage(newest), from: coveredBy(world, agent, newest) }
}

/**
 * How many messages a boundary covers. One that a program has placed between a call and its result covers neither: no provider
 * takes a result without its call.
 */
export function coveredBy(world: World, agent: Entity, { seq }: Pick<BoundaryEntry, 'seq'>): number {
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

/** The one message that an agent's model reads in place of those that a boundary covers. */
export function boundaryMessage(entry: BoundaryEntry): Message {
  let message = messages.get(entry)
  if (message === undefined) {
    const text = `${recordHeads[entry.kind]}\n\n${framed(entry.text, 'record')}\n\n${recordFoot}`
    // Frozen, as those of a World are: its tokens are counted once.
    message = Object.freeze({ role: 'user' as const, content: [{ type: 'text' as const, text }] })
    messages.set(entry, message)
  }
  return message
}
