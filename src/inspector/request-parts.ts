import { Archival } from '../../components/context/archival.ts'
import { Boundary } from '../../components/context/boundary.ts'
import { Conversation } from '../../components/agent/conversation.ts'
import { Llm, OutputSchema, TurnOutputSchema } from '../../components/agent/llm.ts'
import { ModelCall, SideCall } from '../../components/effects/model-call.ts'
import { Skills } from '../../components/agent/skills.ts'
import { SystemPrompt } from '../../components/agent/system-prompt.ts'
import { ToolRegistry } from '../../components/agent/tool-registry.ts'
import type { ModelRequest } from '../models/port.ts'
import { projectionStart } from '../rules/projection/boundaries.ts'
import { liveSubagentsIn } from '../rules/projection/live-tail.ts'
import { callToModel } from '../rules/projection/project.ts'
import { rawTokens, rawTokensOfText } from '../rules/tokens/estimate-tokens.ts'
import { countedCalls, factorOf } from '../rules/tokens/request-tokens.ts'
import type { Entity } from '../world/component.ts'
import { EntiaError } from '../base/entia-error.ts'
import type { Json, JsonObject } from '../base/json.ts'
import type { World } from '../world/world.ts'
import type { RequestPart } from './reading/wire.ts'

/** A model call's request in parts, in the order in which providers read and cache it. */
export interface PartedRequest {
  readonly agent: Entity
  readonly model: string
  readonly request: ModelRequest
  readonly parts: readonly RequestPart[]
  readonly tokens: number
}

type Draft = Pick<RequestPart, 'kind' | 'component' | 'entity' | 'value'>

/** Rebuilds the request of a call that began in the tick that a world stands at. @throws `invalid-argument` */
export function partedRequest(world: World, effect: Entity): PartedRequest {
  if (!world.exists(effect) || !(world.has(effect, ModelCall) || world.has(effect, SideCall))) {
    const what = `Entity ${effect} is no model call of world '${world.name}' at tick ${world.tick}`
    throw new EntiaError('invalid-argument', `${what}. Choose a call of the list.`, { entity: effect })
  }
  const { agent, model, request } = callToModel(world, effect)
  const factor = factorOf(model, countedCalls(world, agent).get(model))
  let [bytes, tokens] = [0, 0]
  const parts = draftsOf(world, effect, agent, model, request).map((draft): RequestPart => {
    const part = {
      ...draft,
      tokens: Math.ceil(factor * rawTokensOf(draft)),
      fromByte: bytes,
      toByte: bytes + bytesOf(draft.value),
    }
    bytes = part.toByte
    tokens += part.tokens
    return part
  })
  return { agent, model, request, parts, tokens }
}

/** What providers read first comes first: tools stand before the system prompt, for the caches of all of them. */
function draftsOf(
  world: World,
  effect: Entity,
  agent: Entity,
  model: string,
  { messages, options, outputSchema, system, tail, tools }: ModelRequest,
): readonly Draft[] {
  const isBeside = world.has(effect, SideCall)
  const whose = (component: string) => ({
    component: isBeside ? SideCall.name : component,
    entity: isBeside ? effect : agent,
  })
  const start = isBeside ? undefined : projectionStart(world, agent)?.message
  const schema = world.has(agent, TurnOutputSchema) ? TurnOutputSchema.name : OutputSchema.name
  const tailOf = liveSubagentsIn(world, agent, 'tail') === undefined ? Boundary.name : Archival.name
  return [
    { kind: 'options', ...whose(Llm.name), value: withoutNothing({ model, ...options }) },
    ...(outputSchema === undefined ? [] : [{ kind: 'schema' as const, ...whose(schema), value: outputSchema }]),
    ...tools.map((tool) => ({ kind: 'tools' as const, ...whose(ToolRegistry.name), value: tool as Json })),
    ...(system === '' ? [] : [{ kind: 'system' as const, ...whose(promptOf(world, agent)), value: system }]),
    ...Array.from(messages, (message) => ({
      kind: 'message' as const,
      ...whose(message === start ? Boundary.name : Conversation.name),
      value: message as Json,
    })),
    ...tail.map((message) => ({ kind: 'tail' as const, ...whose(tailOf), value: message as Json })),
  ]
}

function promptOf(world: World, agent: Entity): string {
  if (world.has(agent, SystemPrompt)) return SystemPrompt.name
  return world.has(agent, Skills) ? Skills.name : Archival.name
}

function withoutNothing(fields: Readonly<Record<string, unknown>>): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as JsonObject
}

/** What the part costs to read; a model and its options are not read. */
function rawTokensOf({ kind, value }: Draft): number {
  if (kind === 'options') return 0
  if (kind === 'message' || kind === 'tail') return rawTokens(value as Parameters<typeof rawTokens>[0])
  if (typeof value === 'string') return rawTokensOfText(value)
  let tokens = counted.get(value as object)
  if (tokens === undefined) counted.set(value as object, (tokens = rawTokensOfText(textOf(value))))
  return tokens
}

/** Values of a World do not change. */
const counted = new WeakMap<object, number>()
const sizes = new WeakMap<object, number>()

export function textOf(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function bytesOf(value: Json): number {
  if (typeof value !== 'object' || value === null) return Buffer.byteLength(textOf(value))
  let bytes = sizes.get(value)
  if (bytes === undefined) sizes.set(value, (bytes = Buffer.byteLength(textOf(value))))
  return bytes
}
