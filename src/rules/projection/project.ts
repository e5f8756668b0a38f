import { Archival } from '../../../components/context/archival.ts'
import { Conversation } from '../../../components/agent/conversation.ts'
import { Llm, OutputSchema, TurnOutputSchema } from '../../../components/agent/llm.ts'
import { RenderedPrompt, SystemPrompt } from '../../../components/agent/system-prompt.ts'
import { Skills } from '../../../components/agent/skills.ts'
import { ToolRegistry } from '../../../components/agent/tool-registry.ts'
import { projectionStart } from './boundaries.ts'
import { liveTail } from './live-tail.ts'
import type { Message, TextBlock } from '../../protocol/message.ts'
import type { Entity } from '../../world/component.ts'
import { LogView } from '../../world/log-view.ts'
import type { World } from '../../world/world.ts'
import { fullPrompt } from './system-prompt.ts'
import { oncePerObject } from '../once-per.ts'
import { parseModel } from '../../protocol/model-name.ts'
import type { ModelRequest } from '../../models/port.ts'
import { ModelCall, SideCall } from '../../../components/effects/model-call.ts'
import { countUpTo } from './places.ts'
import { callText, providerText, renderTranscript, resultText } from '../context/render-transcript.ts'
import { shownTools } from './deferred-tools.ts'
import { cutMiddle } from '../../base/cut-text.ts'
import { OwnedBy } from '../../../components/effects/effect.ts'
import { Seed } from '../../../components/context/holder.ts'

/**
 * The request to an agent's model: a pure projection of its components, at the same cost for short and long
 * conversations.
 * @param messages how many messages of the conversation to take. @default all
 */
export function project(world: World, agent: Entity, messages?: number): ModelRequest {
  const { model, maxOutputTokens, temperature, thinking, extra } = world.read(agent, Llm)
  return {
    ...parseModel(model),
    system: systemText(world, agent),
    tools: shownTools(world.get(agent, ToolRegistry)?.tools ?? []),
    messages: projectedMessages(world, agent, messages),
    tail: liveTail(world, agent),
    options: { maxOutputTokens, temperature, thinking, extra },
    outputSchema: (world.get(agent, TurnOutputSchema) ?? world.get(agent, OutputSchema))?.schema,
  }
}

/** The conversation behind the newest boundary, if there is one. */
function projectedMessages(world: World, agent: Entity, messages?: number): LogView<Message> {
  const seeded = seededMessages(world, agent, messages)
  if (seeded !== undefined) return LogView.of(seeded)
  const log = world.get(agent, Conversation) ?? []
  const start = projectionStart(world, agent)
  if (start === undefined) return LogView.of(log, 0, messages)
  return LogView.of([start.message]).concat(LogView.of(log, start.from, messages))
}

/** Does the system prompt end with the list of live subagents, or did it when it was rendered? */
function isListRendered(world: World, agent: Entity): boolean {
  const archival = world.get(agent, Archival)
  return archival !== undefined && (archival.placement === 'system' || world.has(agent, RenderedPrompt))
}

/** An agent's system prompt as its model sees it; empty if it has none. */
export function systemText(world: World, agent: Entity): string {
  const prompt = world.get(agent, SystemPrompt)
  if (prompt === undefined && !world.has(agent, Skills) && !isListRendered(world, agent)) return ''
  const rendered = world.get(agent, RenderedPrompt) ?? fullPrompt(world, agent)
  return rendered?.text ?? prompt?.template ?? ''
}

/** A side call's request: a pure projection of its part of the conversation. */
export function sideRequest(world: World, effect: Entity): ModelRequest {
  const { ask, carried, close, maxChars = Infinity, repair, ...call } = world.read(effect, SideCall)
  const transcript = cutMiddle(transcriptOf(world, effect), maxChars)
  const sections = [ask, carried, transcript, close].filter((text) => text !== undefined && text !== '')
  const asked: Message[] = [said('user', sections.join('\n\n'))]
  if (repair !== undefined) asked.push(said('assistant', repair.reply), said('user', repair.problem))
  return {
    ...parseModel(call.model),
    system: call.system,
    tools: [],
    messages: LogView.of(asked),
    tail: [],
    options: { maxOutputTokens: call.maxOutputTokens },
    isOneShot: true,
  }
}

/** A side call's part of the conversation as text, in full length. */
export function transcriptOf(world: World, effect: Entity): string {
  const { agent, fromSeq, toSeq } = world.read(effect, SideCall)
  const messages = world.get(agent, Conversation) ?? []
  return renderTranscript(messages.slice(countUpTo(world, agent, fromSeq), countUpTo(world, agent, toSeq)))
}

function said(role: 'user' | 'assistant', text: string): Message {
  return { role, content: [{ type: 'text', text }] }
}

/** The agent of a model call. */
export function callerOf(world: World, effect: Entity): Entity {
  return world.get(effect, SideCall)?.agent ?? world.read(effect, OwnedBy).agent
}

/** The model of a call, `provider/model`. */
export function modelCalledBy(world: World, effect: Entity): string {
  return world.get(effect, SideCall)?.model ?? world.read(world.read(effect, OwnedBy).agent, Llm).model
}

export interface CallToModel {
  /** Whose call it is. */
  readonly agent: Entity
  /** `provider/model` */
  readonly model: string
  readonly request: ModelRequest
}

/** What a model call asks, from the current world. */
export function callToModel(world: World, effect: Entity): CallToModel {
  const side = world.get(effect, SideCall)
  if (side !== undefined) return { agent: side.agent, model: side.model, request: sideRequest(world, effect) }
  const { agent } = world.read(effect, OwnedBy)
  const request = project(world, agent, world.read(effect, ModelCall).messages)
  return { agent, model: world.read(agent, Llm).model, request }
}

/**
 * A holder's messages: calls and results become text, since providers reject them in requests without tools; thinking
 * in the held turn is left out. `undefined` for other agents.
 * @param count how many messages of the conversation to take. @default all
 */
function seededMessages(world: World, agent: Entity, count?: number): readonly Message[] | undefined {
  const seed = world.get(agent, Seed)
  if (seed === undefined) return undefined
  const messages = (world.get(agent, Conversation) ?? []).slice(0, count)
  return messages.flatMap((message, index) => (index < seed.count ? seededText(message) : laterText(message)) ?? [])
}

/** The same object for the same message, so that its wire form is made once. */
const seededText = oncePerObject((message: Message) => asText(message, true))
const laterText = oncePerObject((message: Message) => asText(message, false))

/** `null` if nothing is left. */
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
