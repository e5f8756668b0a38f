import { Conversation } from '../../../components/agent/conversation.ts'
import type { Message } from '../../protocol/message.ts'
import { SideCall } from '../../../components/effects/model-call.ts'
import { parseModel } from './model-name.ts'
import type { ModelRequest } from '../../models/port.ts'
import type { Entity } from '../../world/component.ts'
import { LogView } from '../../world/log-view.ts'
import type { World } from '../../world/world.ts'
import { countUpTo } from './places.ts'
import { renderTranscript } from '../context/render-transcript.ts'
import { cutMiddle } from '../text/cut-text.ts'

/** What a side call asks its model: a pure projection of the part of the conversation that it is about. */
export function sideRequest(world: World, effect: Entity): ModelRequest {
  const { ask, carried, close, maxChars = Infinity, repair, ...call } = world.read(effect, SideCall)
  const transcript = cutMiddle(transcriptOf(world, effect), maxChars)
  const sections = [ask, carried, transcript, close].filter((text) => text !== undefined && text !== '')
  const asked: Message[] = [said('user', sections.join('\n\n'))]
  if (repair !== undefined) asked.push(said('assistant', repair.reply), said('user', repair.problem))
  return {
    model: parseModel(call.model).model,
    system: call.system,
    tools: [],
    messages: LogView.of(asked),
    tail: [],
    options: { maxOutputTokens: call.maxOutputTokens },
    isOneShot: true,
  }
}

/** The part of the conversation that a side call is about, as a text, however long it is. */
export function transcriptOf(world: World, effect: Entity): string {
  const { agent, fromSeq, toSeq } = world.read(effect, SideCall)
  const messages = world.get(agent, Conversation) ?? []
  return renderTranscript(messages.slice(countUpTo(world, agent, fromSeq), countUpTo(world, agent, toSeq)))
}

function said(role: 'user' | 'assistant', text: string): Message {
  return { role, content: [{ type: 'text', text }] }
}
