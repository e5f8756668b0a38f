import { Conversation } from '../../components/agent/conversation.ts'
import type { Message } from '../../src/protocol/message.ts'
import { keepPrefix } from '../../src/rules/projection/prefix.ts'
import type { Entity } from '../../src/world/component.ts'
import type { World } from '../../src/world/world.ts'

/** Puts a message where it belongs in a conversation. What stands before it is known still, and not gone through again. */
export function insertMessage(world: World, agent: Entity, place: number, message: Message): void {
  const before = world.read(agent, Conversation)
  if (place >= before.length) return world.append(agent, Conversation, message)
  world.splice(agent, Conversation, place, 0, [message])
  keepPrefix(before, world.read(agent, Conversation), place)
}
