import type { z } from 'zod'
import { Boundary } from '../../../components/context/boundary.ts'
import { Conversation } from '../../../components/agent/conversation.ts'
import type { HostFactsData } from '../../../components/agent/host-facts.ts'
import { Llm, type LlmData } from '../../../components/agent/llm.ts'
import type { Message } from '../../protocol/message.ts'
import { Prefix } from '../../../components/agent/prefix.ts'
import { SystemPrompt } from '../../../components/agent/system-prompt.ts'
import type { ToolDeclaration } from '../../protocol/tool-declaration.ts'
import { ToolRegistry } from '../../../components/agent/tool-registry.ts'
import { projectionStart } from './boundaries.ts'
import { knownHost } from './known-host.ts'
import { parseModel } from './model-name.ts'
import { systemText } from './project.ts'
import type { Entity } from '../../world/component.ts'
import { fingerprint } from '../../world/random.ts'
import { itemsOf } from '../../world/read-only-log.ts'
import type { World } from '../../world/world.ts'

type PrefixData = z.infer<typeof Prefix.schema>

/** The chain over messages of a log: from one index, 0 unless a boundary is in force, up to another. */
interface Link {
  readonly from: number
  readonly count: number
  readonly hash: number
  /** The last of these: a tick that is undone takes messages back, and others may come in their places. */
  readonly last: Message | undefined
}

/**
 * What is known of a log's messages: the newest first, one for the log's own agent and one for the forks of it. Only a
 * shortcut: a log's array only grows, and a rewrite makes another one.
 */
const links = new WeakMap<readonly Message[], readonly Link[]>()
const maxLinks = 2
/** From so many messages on there are links for the log's own agent: a shorter log is gone through as quickly. */
const minLinked = 64
/** How many messages of a log its own agent last asked with: a mere number, since there is one for each of many agents. */
const asked = new WeakMap<readonly Message[], number>()
const digests = new WeakMap<object, number>()
/** What is asked of a model is the same at all steps of many agents. */
const llmDigests = new WeakMap<object, { readonly facts: object | undefined; readonly digest: number }>()
const textDigests = new Map<string, number>()
/** So many system prompts are remembered before all are forgotten. */
const maxTextDigests = 1_000

/** What the agent's next request begins with, and the component that keeps it from beginning like the last one, if any. */
export interface NextPrefix {
  readonly prefix: PrefixData
  readonly brokenBy: string | undefined
}

/** Compares the request to come, of so many messages, with the last one. Costs what is new since then. */
export function nextPrefix(world: World, agent: Entity, last: PrefixData | undefined, count: number): NextPrefix {
  const part = partOf(world, agent, count)
  const isSame = last !== undefined && beginsAs(part, last)
  const prefix = prefixOf(world, agent, isSame ? last : undefined, part)
  asked.set(part.messages, count)
  if (count - part.from >= minLinked) remember(part, prefix.messages)
  return { prefix, brokenBy: last === undefined ? undefined : difference(last, prefix, isSame) }
}

/** What another agent's request has to begin with to share the first so many messages of this one's. */
export function prefixAt(world: World, agent: Entity, count: number): PrefixData {
  const part = partOf(world, agent, count)
  const last = world.get(agent, Prefix)
  const isSame = last !== undefined && beginsAs(part, last)
  const prefix = prefixOf(world, agent, isSame ? last : undefined, part)
  remember(part, prefix.messages)
  return prefix
}

/** The messages of a request: those of a log from one index up to another, behind the text of a boundary. */
interface Part {
  readonly messages: readonly Message[]
  readonly from: number
  readonly count: number
  readonly boundary: number | undefined
}

function partOf(world: World, agent: Entity, count: number): Part {
  const messages = itemsOf(world.get(agent, Conversation) ?? [])
  const start = world.has(agent, Boundary) ? projectionStart(world, agent) : undefined
  if (start === undefined) return { messages, from: 0, count, boundary: undefined }
  return { messages, from: Math.min(start.from, count), count, boundary: textDigest(JSON.stringify(start.message)) }
}

/** @param last what the first messages are known to be the chain of */
function prefixOf(world: World, agent: Entity, last: PrefixData | undefined, part: Part): PrefixData {
  const { messages, from, count, boundary } = part
  return {
    ...(boundary !== undefined && { boundary }),
    count: count - from,
    llm: llmDigest(world, agent),
    messages: last === undefined ? chainOver(part) : chain(messages, from + last.count, count, last.messages),
    system: textDigest(systemText(world, agent)),
    tools: toolsDigest(world, agent),
  }
}

/** Lets a log that was made of another, and begins with the same so many messages, know of them what is known already. */
export function keepPrefix(before: readonly Message[], after: readonly Message[], count: number): void {
  const [from, to] = [itemsOf(before), itemsOf(after)]
  const own = asked.get(from)
  if (own !== undefined && own <= count) asked.set(to, own)
  const known = links.get(from)?.filter((link) => link.count <= count) ?? []
  if (known.length > 0) links.set(to, known)
}

/**
 * Lets a log that begins with the very same messages as another know of the first so many what is known of the other, so
 * that its agent's first request is not walked through. Of the other it is found out once, for all that come after it.
 *
 * @param start how many of them a boundary covers
 */
export function adoptPrefix(other: readonly Message[], own: readonly Message[], count: number, start = 0): void {
  const [from, to] = [itemsOf(other), itemsOf(own)]
  if (from.length < count) return
  for (let index = 0; index < count; index++) if (from[index] !== to[index]) return
  const hash = chainOver({ messages: from, from: start, count })
  remember({ messages: from, from: start, count }, hash)
  remember({ messages: to, from: start, count }, hash)
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

function beginsAs({ messages, from, count, boundary }: Part, last: PrefixData): boolean {
  const before = from + last.count
  if (boundary !== last.boundary || before > count) return false
  return asked.get(messages) === before || chainOver({ messages, from, count: before }) === last.messages
}

type Stretch = Pick<Part, 'messages' | 'from' | 'count'>

function remember({ messages, from, count }: Stretch, hash: number): void {
  const others = links.get(messages)?.filter((link) => link.count !== count || link.from !== from) ?? []
  links.set(messages, [{ from, count, hash, last: messages[count - 1] }, ...others.slice(0, maxLinks - 1)])
}

/** The chain over messages of a log, from the last place where it is known. */
function chainOver({ messages, from, count }: Stretch): number {
  let known = { count: from, hash: 0 }
  for (const link of links.get(messages) ?? []) {
    const isThere = link.from === from && link.count <= count && messages[link.count - 1] === link.last
    if (isThere && link.count > known.count) known = link
  }
  return chain(messages, known.count, count, known.hash)
}

function difference(last: PrefixData, next: PrefixData, isSame: boolean): string | undefined {
  if (last.boundary !== next.boundary) return Boundary.name
  if (last.llm !== next.llm) return Llm.name
  if (last.system !== next.system) return SystemPrompt.name
  if (last.tools !== next.tools) return ToolRegistry.name
  return isSame ? undefined : Conversation.name
}

/** A hash that each message from one index to another adds to: equal chains, equal messages. */
function chain(messages: readonly Message[], from: number, to: number, earlier: number): number {
  let hash = earlier
  for (let index = from; index < Math.min(to, messages.length); index++) {
    hash = fingerprint(JSON.stringify(messages[index]), hash)
  }
  return hash
}

/** Registries are frozen, and shared by many steps: each is hashed once. An empty one is sent like none. */
function toolsDigest(world: World, agent: Entity): number {
  const registry = world.get(agent, ToolRegistry)
  if (registry === undefined || registry.tools.length === 0) return 0
  let known = digests.get(registry)
  if (known === undefined) {
    const chained = registry.tools.reduce((hash, tool) => fingerprint(String(toolDigest(tool)), hash), 0)
    digests.set(registry, (known = chained % 2 ** 31))
  }
  return known
}

/** Tools are frozen, mostly long, and shared by the registries of many agents. */
function toolDigest(tool: ToolDeclaration): number {
  let known = digests.get(tool)
  if (known === undefined) digests.set(tool, (known = short(JSON.stringify(tool))))
  return known
}

/** System prompts are long, and shared by many agents. */
function textDigest(text: string): number {
  let known = textDigests.get(text)
  if (known !== undefined) return known
  if (textDigests.size >= maxTextDigests) textDigests.clear()
  textDigests.set(text, (known = short(text)))
  return known
}

/** 31 bits: a number that takes no memory of its own. */
function short(text: string): number {
  return fingerprint(text) % 2 ** 31
}
