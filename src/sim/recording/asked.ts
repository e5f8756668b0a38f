import { Approval, ToolCall } from '../../../components/agent/tool-call.ts'
import { Boundary } from '../../../components/context/boundary.ts'
import { Conversation } from '../../../components/agent/conversation.ts'
import { Due, Effect, Outcome, OwnedBy, Pending, Running } from '../../../components/effects/effect.ts'
import type { Message } from '../../protocol/message.ts'
import { ModelCall } from '../../../components/effects/model-call.ts'
import { Skills } from '../../../components/agent/skills.ts'
import { SystemPrompt } from '../../../components/agent/system-prompt.ts'
import { isChildEffect } from '../../engine/children/kinds.ts'
import type { ModelRequest } from '../../models/port.ts'
import { callToModel } from '../../rules/projection/project.ts'
import type { Entity } from '../../world/component.ts'
import type { Json } from '../../base/json.ts'
import { fingerprint } from '../../world/random.ts'
import { valueOf } from '../../world/inspection.ts'
import type { World } from '../../world/world.ts'

/** What an effect requests. Equal requests get equal answers. */
export interface Asked {
  readonly kind: string
  /** `provider/model`, the tool, or the kind of the effect. */
  readonly name: string
  readonly fingerprint: number
  /** A tool's arguments; for a custom kind, the effect's other components. */
  readonly data: Json
  readonly request?: AskedModel
}

/** A model request, with the components its system prompt was made from. */
export interface AskedModel extends ModelRequest {
  readonly prompt: unknown
  readonly skills: unknown
}

/** Whether a recording answers effects of this kind. Sessions run again, and timers belong to the world. */
export function isAnswered(kind: string): boolean {
  return kind !== 'timer' && !isChildEffect(kind)
}

export function askedBy(world: World, effect: Entity): Asked {
  const { kind } = world.read(effect, Effect)
  switch (kind) {
    case 'model':
      return modelAsked(world, effect)
    case 'tool': {
      const { name, arguments: data } = world.read(effect, ToolCall)
      return { kind, name, data, fingerprint: fingerprint(JSON.stringify([kind, name, data])) }
    }
    case 'approval': {
      const { tool: name, arguments: data } = world.read(effect, Approval)
      return { kind, name, data, fingerprint: fingerprint(JSON.stringify([kind, name, data])) }
    }
    default: {
      const data = besides(world, effect)
      return { kind, name: kind, data, fingerprint: fingerprint(JSON.stringify([kind, data])) }
    }
  }
}

function modelAsked(world: World, effect: Entity): Asked {
  const { agent, model: name, request: projected } = callToModel(world, effect)
  const prompt = world.get(agent, SystemPrompt)
  const request = { ...projected, prompt, skills: world.get(agent, Skills) }
  const isWhole = world.has(effect, ModelCall) && !world.has(agent, Boundary)
  const log = isWhole ? (world.get(agent, Conversation) ?? []) : [...projected.messages]
  const messages = chainOver(log, projected.messages.length)
  return { kind: 'model', name, data: null, request, fingerprint: requestFingerprint(name, projected, messages) }
}

function requestFingerprint(
  name: string,
  { options, outputSchema, system, tail, tools }: ModelRequest,
  messages: number,
): number {
  const rest = JSON.stringify([name, system, options, outputSchema ?? null, tail, digestOf(tools)])
  return fingerprint(rest, messages)
}

/** Per log: its messages, and the hash over each prefix. */
const chains = new WeakMap<readonly Message[], { readonly hashes: number[]; readonly messages: Message[] }>()

/** A hash over the first `count` messages of a log. Costs what is new since the last call. */
function chainOver(log: readonly Message[], count: number): number {
  let known = chains.get(log)
  if (known === undefined) chains.set(log, (known = { hashes: [0], messages: [] }))
  const { hashes, messages } = known
  // Undoing a tick removes messages from the end of a log.
  while (messages.length > 0 && messages.at(-1) !== log[messages.length - 1]) {
    messages.pop()
    hashes.pop()
  }
  for (let index = messages.length; index < count; index++) {
    const message = log[index] as Message
    messages.push(message)
    hashes.push(fingerprint(digestOf(message).toString(36), hashes[index]))
  }
  return hashes[count] as number
}

const digests = new WeakMap<object, number>()

function digestOf(part: object): number {
  let known = digests.get(part)
  if (known === undefined) digests.set(part, (known = fingerprint(JSON.stringify(part))))
  return known
}

/** The length of the common prefix of two requests, in messages. */
export function sharedMessages({ messages: a }: ModelRequest, { messages: b }: ModelRequest): number {
  const length = Math.min(a.length, b.length)
  for (let index = 0; index < length; index++) {
    if (digestOf(a.at(index) as Message) !== digestOf(b.at(index) as Message)) return index
  }
  return length
}

/** Components of every effect, which do not describe its work. */
const common: ReadonlySet<string> = new Set([Due, Effect, Outcome, OwnedBy, Pending, Running].map(({ name }) => name))

function besides(world: World, effect: Entity): Json {
  const own = world.componentsOf(effect).filter(({ name }) => !common.has(name))
  return Object.fromEntries(own.map((token) => [token.name, valueOf(world, effect, token.name)]))
}
