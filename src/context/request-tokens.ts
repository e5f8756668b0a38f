import { Conversation } from '../../components/conversation.ts'
import { ModelCall } from '../../components/model-call.ts'
import { OwnedBy } from '../../components/owned-by.ts'
import { SideCall } from '../../components/side-call.ts'
import { TokenFactors } from '../../components/token-factors.ts'
import type { ToolDeclaration } from '../../components/tool-declaration.ts'
import { ToolRegistry } from '../../components/tool-registry.ts'
import { systemText } from '../models/project.ts'
import type { Entity } from '../world/component.ts'
import type { World } from '../world/world.ts'
import { projectionStart } from './boundary-message.ts'
import { maxTokensOf, rawTokens, rawTokensOfText } from './estimate-tokens.ts'
import { liveTail } from './live-tail.ts'
import { type CountedRequest, rawTokensOfRequest } from './running-count.ts'
import { sideRequest } from './side-request.ts'
import { factorOf, minRawTokens } from './token-factor.ts'

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
function rawTokensOfStep(world: World, agent: Entity, messages: number): number {
  return rawTokensOfRequest(countedRequest(world, agent, messages))
}

/** The same, but `undefined` where it is short enough to say nothing of its model's factor: that is found out by its size. */
export function rawTokensIfLong(world: World, agent: Entity, messages: number): number | undefined {
  const request = countedRequest(world, agent, messages)
  return isLong(request) ? rawTokensOfRequest(request) : undefined
}

/** How many tokens a model of an agent is likely to find where so many are counted here. */
export function estimated(world: World, agent: Entity, model: string, raw: number): number {
  return Math.ceil(raw * factorOf(model, world.get(agent, TokenFactors)?.models[model]))
}

function countedRequest(world: World, agent: Entity, messages: number): CountedRequest {
  const start = projectionStart(world, agent)
  return {
    system: systemText(world, agent),
    tools: world.get(agent, ToolRegistry)?.tools ?? noTools,
    messages: world.get(agent, Conversation) ?? [],
    from: start?.from,
    to: messages,
    others: start === undefined ? liveTail(world, agent) : [start.message, ...liveTail(world, agent)],
  }
}

const noTools: readonly ToolDeclaration[] = []
/** What a message takes at least, whatever it says. */
const minTokensOfMessage = 4

/** Can a request have as many tokens as say something? No token is shorter than a byte. */
function isLong({ system, tools, messages, others = [], from = 0, to = messages.length }: CountedRequest): boolean {
  if ((to - from) * minTokensOfMessage >= minRawTokens) return true
  let most = maxTokensOf(system) + bytesOfTools(tools) + maxTokensOf(others)
  for (let index = from; index < to && most < minRawTokens; index++) most += maxTokensOf(messages[index] ?? [])
  return most >= minRawTokens
}

const measured = new WeakMap<readonly ToolDeclaration[], number>()

/** Lists of a World are frozen, and sent at each step. */
function bytesOfTools(tools: readonly ToolDeclaration[]): number {
  let bytes = measured.get(tools)
  if (bytes === undefined) measured.set(tools, (bytes = Buffer.byteLength(JSON.stringify(tools))))
  return bytes
}
