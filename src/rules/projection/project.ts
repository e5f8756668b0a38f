import { Archival } from '../../../components/context/archival.ts'
import { Conversation } from '../../../components/agent/conversation.ts'
import { Llm, OutputSchema } from '../../../components/agent/llm.ts'
import { RenderedPrompt, SystemPrompt } from '../../../components/agent/system-prompt.ts'
import { Skills } from '../../../components/agent/skills.ts'
import { ToolRegistry } from '../../../components/agent/tool-registry.ts'
import { projectionStart } from './boundaries.ts'
import { liveTail } from './live-tail.ts'
import { seededMessages } from './seeded-messages.ts'
import type { Message } from '../../protocol/message.ts'
import type { Entity } from '../../world/component.ts'
import { LogView } from '../../world/log-view.ts'
import type { World } from '../../world/world.ts'
import { fullPrompt } from './full-prompt.ts'
import { parseModel } from './model-name.ts'
import type { ModelRequest } from '../../models/port.ts'

/**
 * What an agent's model is asked: a pure projection of its components, at the same cost for a short and a long
 * conversation.
 *
 * @param messages how many messages of the conversation to take. @default all
 */
export function project(world: World, agent: Entity, messages?: number): ModelRequest {
  const { model, maxOutputTokens, temperature, thinking, extra } = world.read(agent, Llm)
  return {
    model: parseModel(model).model,
    system: systemText(world, agent),
    tools: world.get(agent, ToolRegistry)?.tools ?? [],
    messages: projectedMessages(world, agent, messages),
    tail: liveTail(world, agent),
    options: { maxOutputTokens, temperature, thinking, extra },
    outputSchema: world.get(agent, OutputSchema)?.schema,
  }
}

/** The conversation as an agent's model sees it: behind the newest boundary, if there is one. */
function projectedMessages(world: World, agent: Entity, messages?: number): LogView<Message> {
  const seeded = seededMessages(world, agent, messages)
  if (seeded !== undefined) return LogView.of(seeded)
  const log = world.get(agent, Conversation) ?? []
  const start = projectionStart(world, agent)
  if (start === undefined) return LogView.of(log, 0, messages)
  return LogView.of([start.message]).concat(LogView.of(log, start.from, messages))
}

/** Ends an agent's system prompt in the list of its live subagents, or did so when it was rendered? */
function isListRendered(world: World, agent: Entity): boolean {
  const archival = world.get(agent, Archival)
  return archival !== undefined && (archival.placement === 'system' || world.has(agent, RenderedPrompt))
}

/** An agent's system prompt as its model sees it, rendered or not; empty when it has none. */
export function systemText(world: World, agent: Entity): string {
  const prompt = world.get(agent, SystemPrompt)
  if (prompt === undefined && !world.has(agent, Skills) && !isListRendered(world, agent)) return ''
  const rendered = world.get(agent, RenderedPrompt) ?? fullPrompt(world, agent)
  return rendered?.text ?? prompt?.template ?? ''
}
