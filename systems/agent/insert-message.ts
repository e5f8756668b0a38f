import { Conversation } from '../../components/agent/conversation.ts'
import type { Message } from '../../src/protocol/message.ts'
import type { Entity } from '../../src/world/component.ts'
import type { World } from '../../src/world/world.ts'

/** Puts a message where it belongs in a conversation. */
export function insertMessage(world: World, agent: Entity, place: number, message: Message): void {
  if (place >= world.read(agent, Conversation).length) return world.append(agent, Conversation, message)
  world.splice(agent, Conversation, place, 0, [message])
}
