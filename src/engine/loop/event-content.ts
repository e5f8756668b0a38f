import { Conversation } from '../../../components/agent/conversation.ts'
import type { Message } from '../../protocol/message.ts'
import { ToolCall } from '../../../components/agent/tool-call.ts'
import type { Entity } from '../../world/component.ts'
import type { WorldEvent } from '../../world/input.ts'
import type { Json } from '../../world/json.ts'
import type { World } from '../../world/world.ts'

/** The field in which an event has content that its agent's conversation holds as well, by the event's type. */
const contentFields: Readonly<Record<string, string>> = { 'tool-answered': 'result', 'tool-called': 'arguments' }

/** Events as they are written down: content is found again in the world by the id of the call, so it is not there twice. */
export function withoutContent(events: readonly WorldEvent[]): readonly WorldEvent[] {
  return events.some(({ type }) => Object.hasOwn(contentFields, type)) ? events.map(withoutContentOf) : events
}

/** An event as it is written down. */
export function withoutContentOf(event: WorldEvent): WorldEvent {
  const field = Object.hasOwn(contentFields, event.type) ? contentFields[event.type] : undefined
  if (field === undefined || !Object.hasOwn(event, field)) return event
  const { [field]: _, ...brief } = event
  return brief as WorldEvent
}

/** Events of a world's newest tick, as they were told when it was committed. */
export function withContent(world: World, events: readonly WorldEvent[]): readonly WorldEvent[] {
  return events.map((event) => {
    if (event.type === 'tool-called') return { ...event, arguments: argumentsOf(world, event) }
    return event.type === 'tool-answered' ? { ...event, result: resultOf(world, event) } : event
  })
}

function argumentsOf(world: World, { agent, callId, effect }: WorldEvent): Json {
  const call = world.exists(effect as Entity) ? world.get(effect as Entity, ToolCall) : undefined
  if (call?.callId === callId) return call?.arguments as Json
  for (const message of newestFirst(world, agent as Entity)) {
    if (message.role !== 'assistant') continue
    for (const block of message.content) if (block.type === 'tool-call' && block.id === callId) return block.arguments
  }
  return {}
}

function resultOf(world: World, { agent, callId }: WorldEvent): Json {
  for (const message of newestFirst(world, agent as Entity)) {
    if (message.role === 'tool' && message.callId === callId) return message.content
  }
  return []
}

/** Ids of calls may come again in later turns. */
function* newestFirst(world: World, agent: Entity): Generator<Message> {
  const messages = (world.exists(agent) ? world.get(agent, Conversation) : undefined) ?? []
  for (let index = messages.length - 1; index >= 0; index--) yield messages[index] as Message
}
