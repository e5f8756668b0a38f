import { Conversation } from '../../../components/agent/conversation.ts'
import { ModelCall, SideCall } from '../../../components/effects/model-call.ts'
import { OwnedBy } from '../../../components/effects/effect.ts'
import { type CountedCalls, TokenFactors, UncountedCalls } from '../../../components/money/token-factors.ts'
import type { ToolDeclaration } from '../../protocol/tool-declaration.ts'
import { ToolRegistry } from '../../../components/agent/tool-registry.ts'
import { systemText } from '../projection/project.ts'
import type { Entity } from '../../world/component.ts'
import type { World } from '../../world/world.ts'
import { projectionStart } from '../projection/boundaries.ts'
import { maxTokensOf, rawTokens, rawTokensOfText } from './estimate-tokens.ts'
import { liveTail } from '../projection/live-tail.ts'
import { type CountedRequest, mostTokensOfRequest, rawTokensOfRequest } from './running-count.ts'
import { sideRequest } from '../projection/side-request.ts'
import { factorOf, noteCall } from './token-factor.ts'

/** The tokens of what a model call asks, before any factor. A step costs what is new in its conversation. */
export function rawTokensOfCall(world: World, effect: Entity): number {
  if (!world.has(effect, SideCall)) {
    return rawTokensOfStep(world, world.read(effect, OwnedBy).agent, world.read(effect, ModelCall).messages)
  }
  const { messages, system } = sideRequest(world, effect)
  let tokens = rawTokensOfText(system)
  for (const message of messages) tokens += rawTokens(message)
  return tokens
}

/** The same of a step of an agent that answers so many messages. */
export function rawTokensOfStep(world: World, agent: Entity, messages: number): number {
  return rawTokensOfRequest(countedRequest(world, agent, messages))
}

/** No fewer tokens than a model call asks with, before any factor: known without counting any. */
export function mostTokensOfCall(world: World, effect: Entity): number {
  if (!world.has(effect, SideCall)) {
    return mostTokensOfStep(world, world.read(effect, OwnedBy).agent, world.read(effect, ModelCall).messages)
  }
  const { messages, system } = sideRequest(world, effect)
  return maxTokensOf(system) + maxTokensOf(messages)
}

/** The same of a step of an agent that answers so many messages. */
export function mostTokensOfStep(world: World, agent: Entity, messages: number): number {
  return mostTokensOfRequest(countedRequest(world, agent, messages))
}

/** How many tokens a model of an agent is likely to find where so many are counted here. */
export function estimated(world: World, agent: Entity, model: string, raw: number): number {
  return Math.ceil(raw * factorOf(model, countedCalls(world, agent).get(model)))
}

/** What an agent's own calls say of its models, those included that were not counted yet. */
export function countedCalls(world: World, agent: Entity): ReadonlyMap<string, CountedCalls> {
  const models = new Map(Object.entries(world.get(agent, TokenFactors)?.models ?? {}))
  for (const { messages, model, promptTokens } of world.get(agent, UncountedCalls) ?? []) {
    const noted = noteCall(models.get(model), promptTokens, rawTokensOfStep(world, agent, messages))
    if (noted !== undefined) models.set(model, noted)
  }
  return models
}

function countedRequest(world: World, agent: Entity, messages: number): CountedRequest {
  const start = projectionStart(world, agent)
  const tail = liveTail(world, agent)
  return {
    system: systemText(world, agent),
    tools: world.get(agent, ToolRegistry)?.tools ?? noTools,
    messages: world.get(agent, Conversation) ?? [],
    from: start?.from,
    to: messages,
    others: start === undefined ? tail : [start.message, ...tail],
  }
}

const noTools: readonly ToolDeclaration[] = []
