import type { z } from 'zod'
import { Boundary } from '../../../components/context/boundary.ts'
import { Conversation, Edited } from '../../../components/agent/conversation.ts'
import type { HostFactsData } from '../../protocol/host.ts'
import { Llm, type LlmData } from '../../../components/agent/llm.ts'
import type { Message } from '../../protocol/message.ts'
import type { Prefix } from '../../../components/agent/prefix.ts'
import { SystemPrompt } from '../../../components/agent/system-prompt.ts'
import type { ToolDeclaration } from '../../protocol/tool-declaration.ts'
import { ToolRegistry } from '../../../components/agent/tool-registry.ts'
import { projectionStart } from './boundaries.ts'
import { knownHost } from './host-facts.ts'
import { parseModel } from './model-name.ts'
import { systemText } from './project.ts'
import type { EditedPart, Entity } from '../../world/component.ts'
import { oncePerObject, oncePerValue } from '../once-per.ts'
import { fingerprint } from '../../world/random.ts'
import type { World } from '../../world/world.ts'

type PrefixData = z.infer<typeof Prefix.schema>

/** What is asked of a model is the same at all steps of many agents. */
const llmDigests = new WeakMap<object, { readonly facts: object | undefined; readonly digest: number }>()

/** What the agent's next request begins with, what of it is cached as far as that is known, and the component that keeps it from beginning like the last one, if any. */
export interface NextPrefix {
  readonly prefix: PrefixData
  readonly brokenBy: string | undefined
}

/** Compares the request to come, of so many messages, with the last one. */
export function nextPrefix(world: World, agent: Entity, last: PrefixData | undefined, count: number): NextPrefix {
  const prefix = prefixAt(world, agent, count)
  const brokenBy = last === undefined ? undefined : difference(last, prefix, world.get(agent, Edited))
  const cached = brokenBy === undefined ? last?.cached : undefined
  if (cached === undefined) return { prefix, brokenBy }
  const { boundary, ...others } = prefix
  return { prefix: { ...(boundary !== undefined && { boundary }), cached, ...others }, brokenBy }
}

/** What a request with the first so many messages of an agent's conversation begins with. */
export function prefixAt(world: World, agent: Entity, count: number): PrefixData {
  const start = world.has(agent, Boundary) ? projectionStart(world, agent) : undefined
  const from = Math.min(start?.from ?? 0, count)
  return {
    ...(start !== undefined && { boundary: digestOf(start.message) }),
    count: count - from,
    ...(start !== undefined && { from }),
    llm: llmDigest(world, agent),
    system: textDigest(systemText(world, agent)),
    tools: toolsDigest(world, agent),
  }
}

/** What of an agent's `Llm` is part of its requests: how long one may take, and how often, is not. */
export function askedOf(llm: LlmData): Omit<LlmData, 'retry' | 'timeoutMs'> {
  const { retry: _, timeoutMs: __, ...rest } = llm
  return rest
}

/** What the Host's provider adds to an agent's requests of its own accord, as a hash; `undefined`: nothing that is known. */
export function providerSettings(world: World, agent: Entity): number | undefined {
  return settingsIn(knownHost(world), world.read(agent, Llm))
}

function settingsIn(facts: HostFactsData | undefined, { model }: LlmData): number | undefined {
  return facts?.settings?.[parseModel(model).provider]
}

function llmDigest(world: World, agent: Entity): number {
  const llm = world.read(agent, Llm)
  const facts = knownHost(world)
  const known = llmDigests.get(llm)
  if (known !== undefined && known.facts === facts) return known.digest
  const options = JSON.stringify(askedOf(llm))
  const settings = settingsIn(facts, llm)
  const digest = short(settings === undefined ? options : `${options} ${settings}`)
  llmDigests.set(llm, { facts, digest })
  return digest
}

/** The component that keeps a request from beginning like the one before it, if any. */
function difference(last: PrefixData, next: PrefixData, edited: EditedPart | undefined): string | undefined {
  if (last.boundary !== next.boundary) return Boundary.name
  if (last.llm !== next.llm) return Llm.name
  if (last.system !== next.system) return SystemPrompt.name
  if (last.tools !== next.tools) return ToolRegistry.name
  return hasSameMessages(last, next, edited) ? undefined : Conversation.name
}

/** Edits before the first of the last request's messages have moved them all, those behind the last have moved none. */
function hasSameMessages(last: PrefixData, next: PrefixData, edited: EditedPart | undefined): boolean {
  if (last.count > next.count) return false
  const { from = 0 } = next
  let before = from
  if (edited !== undefined && edited.from < from + last.count) {
    if (edited.from + edited.inserted > from) return false
    before += edited.removed - edited.inserted
  }
  const isUnknown = last.boundary !== undefined && last.from === undefined
  return isUnknown || before === (last.from ?? 0)
}

/** An empty registry is sent like none. */
function toolsDigest(world: World, agent: Entity): number {
  const tools = world.get(agent, ToolRegistry)?.tools ?? []
  return tools.length === 0 ? 0 : digestOfTools(tools)
}

/** 31 bits: a number that takes no memory of its own. */
function short(text: string): number {
  return fingerprint(text) % 2 ** 31
}

const digestOf = oncePerObject((value: Message | ToolDeclaration): number => short(JSON.stringify(value)))

const digestOfTools = oncePerObject((tools: readonly ToolDeclaration[]): number => {
  return tools.reduce((hash, tool) => fingerprint(String(digestOf(tool)), hash), 0) % 2 ** 31
})

/** System prompts are long, and shared by many agents. */
const textDigest = oncePerValue(short)
