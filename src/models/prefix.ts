import type { z } from 'zod'
import { Conversation } from '../../components/conversation.ts'
import { Llm } from '../../components/llm.ts'
import type { Message } from '../../components/message.ts'
import type { Prefix } from '../../components/prefix.ts'
import { SystemPrompt } from '../../components/system-prompt.ts'
import { ToolRegistry } from '../../components/tool-registry.ts'
import type { Entity } from '../world/component.ts'
import { fingerprint } from '../world/random.ts'
import type { World } from '../world/world.ts'
import { systemText } from './project.ts'

type PrefixData = z.infer<typeof Prefix.schema>

/**
 * Up to where a conversation's messages are known to be those of its agent's `Prefix`. Only a shortcut: a log's array only
 * grows, and a rewrite makes another one.
 */
const chained = new WeakMap<readonly Message[], number>()
const digests = new WeakMap<object, number>()
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
  const messages = world.get(agent, Conversation) ?? []
  const isSame = last !== undefined && last.count <= count && beginsAs(messages, last)
  const prefix = {
    count,
    llm: short(JSON.stringify(world.read(agent, Llm))),
    messages: isSame ? chain(messages, last.count, count, last.messages) : chain(messages, 0, count, 0),
    system: textDigest(systemText(world, agent)),
    tools: digest(world.get(agent, ToolRegistry)),
  }
  chained.set(messages, count)
  return { prefix, brokenBy: last === undefined ? undefined : difference(last, prefix, isSame) }
}

function beginsAs(messages: readonly Message[], last: PrefixData): boolean {
  return chained.get(messages) === last.count || chain(messages, 0, last.count, 0) === last.messages
}

function difference(last: PrefixData, next: PrefixData, isSame: boolean): string | undefined {
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

/** Registries are frozen, mostly long, and shared by many steps: each is hashed once. */
function digest(value: object | undefined): number {
  if (value === undefined) return 0
  let known = digests.get(value)
  if (known === undefined) digests.set(value, (known = short(JSON.stringify(value))))
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
