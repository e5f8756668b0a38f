import { shownTools } from '../projection/deferred-tools.ts'
import { Conversation } from '../../../components/agent/conversation.ts'
import { ModelCall, SideCall } from '../../../components/effects/model-call.ts'
import { OwnedBy } from '../../../components/effects/effect.ts'
import { type CountedCalls, TokenFactors, UncountedCalls } from '../../../components/money/token-factors.ts'
import type { ToolDeclaration } from '../../protocol/tool-declaration.ts'
import { ToolRegistry } from '../../../components/agent/tool-registry.ts'
import { sideRequest, systemText } from '../projection/project.ts'
import type { Entity } from '../../world/component.ts'
import type { World } from '../../world/world.ts'
import { projectionStart } from '../projection/boundaries.ts'
import { maxTokensOf, rawTokens, rawTokensOfText } from './estimate-tokens.ts'
import { liveTail } from '../projection/live-tail.ts'
import { type CountedRequest, mostTokensOfRequest, rawTokensOfRequest } from './running-count.ts'
import { parseModel } from '../../protocol/model-name.ts'

/** The tokens of a model call's request, before any factor. A step costs what is new in its conversation. */
export function rawTokensOfCall(world: World, effect: Entity): number {
  if (!world.has(effect, SideCall)) {
    return rawTokensOfStep(world, world.read(effect, OwnedBy).agent, world.read(effect, ModelCall).messages)
  }
  const { messages, system } = sideRequest(world, effect)
  let tokens = rawTokensOfText(system)
  for (const message of messages) tokens += rawTokens(message)
  return tokens
}

/** The same of an agent's step that answers so many messages. */
export function rawTokensOfStep(world: World, agent: Entity, messages: number): number {
  return rawTokensOfRequest(countedRequest(world, agent, messages))
}

/** An upper bound of that, without counting. */
export function mostTokensOfCall(world: World, effect: Entity): number {
  if (!world.has(effect, SideCall)) {
    return mostTokensOfStep(world, world.read(effect, OwnedBy).agent, world.read(effect, ModelCall).messages)
  }
  const { messages, system } = sideRequest(world, effect)
  return maxTokensOf(system) + maxTokensOf(messages)
}

/** The same of a step. */
export function mostTokensOfStep(world: World, agent: Entity, messages: number): number {
  return mostTokensOfRequest(countedRequest(world, agent, messages))
}

/** The likely tokens of a model for so many counted here. */
export function estimated(world: World, agent: Entity, model: string, raw: number): number {
  return Math.ceil(raw * factorOf(model, countedCalls(world, agent).get(model)))
}

/** What an agent's own calls say of its models, including those not counted yet. */
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
    tools: shownTools(world.get(agent, ToolRegistry)?.tools ?? noTools),
    messages: world.get(agent, Conversation) ?? [],
    from: start?.from,
    to: messages,
    others: start === undefined ? tail : [start.message, ...tail],
  }
}

const noTools: readonly ToolDeclaration[] = []

/** The factor is averaged over this many of a model's newest calls. */
export const maxCountedCalls = 20
/** Shorter requests are not counted: what a provider adds weighs too much in them. */
const minRawTokens = 500
const leastFactor = 0.5
export const greatestFactor = 3
/** Of a model with the o200k vocabulary, or a close one. */
const factorOfKin = 1
const factorOfOthers = 1.25

/**
 * Provider tokens per token counted here, over a model's newest calls together: from 0.5 to 3. Before the first call it
 * is 1 for OpenAI's models and 1.25 for others.
 * @param model `provider/model`, or the model alone
 */
export function factorOf(model: string, data: CountedCalls | undefined): number {
  let provided = 0
  let counted = 0
  for (const [promptTokens = 0, raw = 0] of data?.calls ?? []) {
    provided += promptTokens
    counted += raw
  }
  if (counted === 0) return isKin(model) ? factorOfKin : factorOfOthers
  return Math.min(greatestFactor, Math.max(leastFactor, provided / counted))
}

/**
 * Adds a call to a model's counted calls.
 * @param promptTokens as the provider reported
 * @param raw the raw count of the same request, system prompt and tools included
 * @returns `undefined` if the call cannot be counted
 */
export function noteCall(
  data: CountedCalls | undefined,
  promptTokens: number | undefined,
  raw: number,
): CountedCalls | undefined {
  if (promptTokens === undefined || raw < minRawTokens) return undefined
  return { calls: [...(data?.calls ?? []), [promptTokens, raw]].slice(-maxCountedCalls) }
}

function isKin(name: string): boolean {
  const model = parseModel(name).model.toLowerCase()
  return model.includes('gpt') || /^o[134]/.test(model)
}
