import type { z } from 'zod'
import { Boundary } from '../../../components/context/boundary.ts'
import { Conversation, Edited } from '../../../components/agent/conversation.ts'
import { Llm, type LlmData } from '../../../components/agent/llm.ts'
import type { Message } from '../../protocol/message.ts'
import type { Prefix } from '../../../components/agent/prefix.ts'
import { SystemPrompt } from '../../../components/agent/system-prompt.ts'
import type { ToolDeclaration } from '../../protocol/tool-declaration.ts'
import { ToolRegistry } from '../../../components/agent/tool-registry.ts'
import { shownTools } from './deferred-tools.ts'
import { projectionStart } from './boundaries.ts'
import { knownHost } from './host-facts.ts'
import { parseModel } from '../../protocol/model-name.ts'
import { systemText } from './project.ts'
import type { EditedPart, Entity } from '../../world/component.ts'
import { oncePerObject, oncePerValue } from '../once-per.ts'
import { fingerprint } from '../../world/random.ts'
import type { World } from '../../world/world.ts'

type PrefixData = z.infer<typeof Prefix.schema>

/**
 * Compares the next request, of `count` messages, with the last one.
 * @returns the new prefix, with known cached tokens; and the component that changed it, if any
 */
export function nextPrefix(world: World, agent: Entity, last: PrefixData | undefined, count: number) {
  const prefix = prefixAt(world, agent, count)
  const brokenBy = last === undefined ? undefined : difference(last, prefix, world.get(agent, Edited))
  const cached = brokenBy === undefined ? last?.cached : undefined
  if (cached === undefined) return { prefix, brokenBy }
  const { boundary, ...others } = prefix
  return { prefix: { ...(boundary !== undefined && { boundary }), cached, ...others }, brokenBy }
}

/** The prefix of a request with the first `count` messages. */
export function prefixAt(world: World, agent: Entity, count: number): PrefixData {
  const start = world.has(agent, Boundary) ? projectionStart(world, agent) : undefined
  const from = Math.min(start?.from ?? 0, count)
  return {
    ...(start !== undefined && { boundary: digestOf(start.message) }),
    count: count - from,
    ...(start !== undefined && { from }),
    llm: llmDigest(world, agent),
    system: textDigest(systemText(world, agent)),
    tools: digestOfTools(shownTools(world.get(agent, ToolRegistry)?.tools ?? noTools)),
  }
}

/** The part of an agent's `Llm` that requests contain: without timeout and retry policy. */
export function askedOf(llm: LlmData): Omit<LlmData, 'retry' | 'timeoutMs'> {
  const { retry: _, timeoutMs: __, ...rest } = llm
  return rest
}

/** A hash of the settings that the Host's provider adds to an agent's requests; `undefined`: none known. */
export function providerSettings(world: World, agent: Entity): number | undefined {
  return knownHost(world)?.settings?.[providerOf(world.read(agent, Llm))]
}

function llmDigest(world: World, agent: Entity): number {
  const options = optionsText(world.read(agent, Llm))
  const settings = providerSettings(world, agent)
  return textDigest(settings === undefined ? options : `${options} ${settings}`)
}

const providerOf = oncePerObject(({ model }: LlmData) => parseModel(model).provider)
const optionsText = oncePerObject((llm: LlmData) => JSON.stringify(askedOf(llm)))

/** The component that changed since the last request, if any. */
function difference(last: PrefixData, next: PrefixData, edited: EditedPart | undefined): string | undefined {
  if (last.boundary !== next.boundary) return Boundary.name
  if (last.llm !== next.llm) return Llm.name
  if (last.system !== next.system) return SystemPrompt.name
  if (last.tools !== next.tools) return ToolRegistry.name
  return hasSameMessages(last, next, edited) ? undefined : Conversation.name
}

/** An edit before the first message of the last request has moved all of them, one behind the last none. */
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

/** 31 bits: a number that needs no heap memory. */
function short(text: string): number {
  return fingerprint(text) % 2 ** 31
}

const digestOf = oncePerObject((value: Message | ToolDeclaration): number => short(JSON.stringify(value)))

const noTools: readonly ToolDeclaration[] = Object.freeze([])

/** 0 for none: an empty registry is sent like none. */
const digestOfTools = oncePerObject((tools: readonly ToolDeclaration[]): number => {
  return tools.reduce((hash, tool) => fingerprint(String(digestOf(tool)), hash), 0) % 2 ** 31
})

/** System prompts are long, and shared by many agents. */
const textDigest = oncePerValue(short)
