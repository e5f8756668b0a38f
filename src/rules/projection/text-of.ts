import type { Message } from '../../protocol/message.ts'
import { Conversation } from '../../../components/agent/conversation.ts'
import { LastWords } from '../../../components/context/archive.ts'
import type { Entity } from '../../world/component.ts'
import type { World } from '../../world/world.ts'
import { seqAt } from './places.ts'

/** A message's text, without thinking, calls and files. */
export function textOf(message: Message | undefined): string {
  let text = ''
  for (const block of message?.content ?? []) if (block.type === 'text') text += block.text
  return text
}

/** What an agent said in a message, even if a summary has replaced it since the turn was archived. */
export function wordsAt(world: World, agent: Entity, index: number): string {
  const words = world.get(agent, LastWords)
  if (words !== undefined && words.seq === seqAt(world, agent, index)) return words.text
  return textOf(world.get(agent, Conversation)?.[index])
}

/** What an agent said last in its first `count` messages, or in all; empty if nothing. */
export function lastWords(world: World, agent: Entity, count?: number): string {
  const messages = world.get(agent, Conversation) ?? []
  for (let index = (count ?? messages.length) - 1; index >= 0; index--) {
    if (hasWords(messages[index])) return wordsAt(world, agent, index)
  }
  return ''
}

function hasWords(message: Message | undefined): boolean {
  return message?.role === 'assistant' && textOf(message) !== ''
}
