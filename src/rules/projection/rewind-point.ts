import { Conversation } from '../../../components/agent/conversation.ts'
import type { Message, UserMessage } from '../../protocol/message.ts'
import type { Entity } from '../../world/component.ts'
import type { World } from '../../world/world.ts'
import { seqAt } from './places.ts'

/** Said to a model in its user's name when it has replied with nothing. */
export const emptyReplyNote = 'Your last reply was empty. Continue with the task, or say what its result is.'

/** Where a conversation goes back to. */
export interface RewindPoint {
  /** Index of the message that its user takes back, with all behind it. */
  readonly index: number
  readonly seq: number
  readonly message: UserMessage
}

/**
 * Before the `count`th of the user's messages, counted from the end. `undefined` if the conversation has fewer: of an archived
 * turn only the message that opened it is left.
 */
export function rewindPoint(world: World, agent: Entity, count: number): RewindPoint | undefined {
  const messages = world.get(agent, Conversation) ?? []
  let left = count
  for (let index = messages.length - 1; index >= 0; index--) {
    const message = messages[index]
    if (!isSaid(message) || --left > 0) continue
    return { index, seq: seqAt(world, agent, index), message }
  }
  return undefined
}

/** How many messages of its user a conversation has. */
export function saidCount(world: World, agent: Entity): number {
  return (world.get(agent, Conversation) ?? []).filter(isSaid).length
}

function isSaid(message: Message | undefined): message is UserMessage {
  if (message?.role !== 'user') return false
  const [first] = message.content
  return first?.type !== 'text' || first.text !== emptyReplyNote
}
