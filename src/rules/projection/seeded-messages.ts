import { Conversation } from '../../../components/agent/conversation.ts'
import { Seed } from '../../../components/context/holder.ts'
import type { Message, TextBlock } from '../../protocol/message.ts'
import type { Entity } from '../../world/component.ts'
import type { World } from '../../world/world.ts'
import { callText, providerText, resultText } from '../context/render-transcript.ts'

/** The same message is always the same text, so that wire forms of it are made once. */
const rendered = new WeakMap<Message, Message | null>()
const renderedLater = new WeakMap<Message, Message | null>()

/**
 * The messages of a holder as its model reads them: calls and results are text, since providers refuse them from a request
 * that declares no tools; thinking in the turn that it holds is left out. `undefined` for all other agents.
 *
 * @param count how many messages of the conversation to take. @default all
 */
export function seededMessages(world: World, agent: Entity, count?: number): readonly Message[] | undefined {
  const seed = world.get(agent, Seed)
  if (seed === undefined) return undefined
  const messages = (world.get(agent, Conversation) ?? []).slice(0, count)
  return messages.flatMap((message, index) => known(message, index < seed.count) ?? [])
}

function known(message: Message, isSeeded: boolean): Message | null {
  const memory = isSeeded ? rendered : renderedLater
  let text = memory.get(message)
  if (text === undefined) memory.set(message, (text = asText(message, isSeeded)))
  return text
}

/** `null`: nothing of it is left. */
function asText(message: Message, isSeeded: boolean): Message | null {
  if (message.role === 'tool') return { role: 'user', content: [textBlock(resultText(message))] }
  if (message.role !== 'assistant') return message
  const content = message.content.flatMap((block) => {
    if (block.type === 'tool-call') return [textBlock(callText(block))]
    if (block.type === 'provider') return [textBlock(providerText(block))]
    return block.type === 'thinking' && isSeeded ? [] : [block]
  })
  return content.length === 0 ? null : { ...message, content }
}

function textBlock(text: string): TextBlock {
  return { type: 'text', text }
}
