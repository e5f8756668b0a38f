import { hash } from 'node:crypto'
import type { z } from 'zod'
import { Conversation } from '../../components/conversation.ts'
import { Llm } from '../../components/llm.ts'
import type { Message } from '../../components/message.ts'
import type { Prefix } from '../../components/prefix.ts'
import { RenderedPrompt } from '../../components/rendered-prompt.ts'
import { ToolRegistry } from '../../components/tool-registry.ts'
import type { Entity } from '../world/component.ts'
import type { World } from '../world/world.ts'

type PrefixData = z.infer<typeof Prefix.schema>

/** How far the chain over a conversation has been computed. Only a shortcut: it follows from the messages. */
interface Chain {
  readonly count: number
  readonly hash: string
}
const chains = new WeakMap<readonly Message[], Chain>()
const digests = new WeakMap<object, string>()

/** What the agent's next request begins with, as hashes. Costs what is new since the last one. */
export function prefixOf(world: World, agent: Entity, count: number): PrefixData {
  return {
    llm: digest(world.read(agent, Llm)),
    system: digest(world.get(agent, RenderedPrompt)),
    tools: digest(world.get(agent, ToolRegistry)),
    messages: chainOf(world.get(agent, Conversation) ?? [], count),
    count,
  }
}

/** The component that keeps the next request from beginning with the last one; `undefined` when nothing does. */
export function prefixBreak(world: World, agent: Entity, last: PrefixData, next: PrefixData): string | undefined {
  if (last.llm !== next.llm) return Llm.name
  if (last.system !== next.system) return RenderedPrompt.name
  if (last.tools !== next.tools) return ToolRegistry.name
  return chainOf(world.get(agent, Conversation) ?? [], last.count) === last.messages ? undefined : Conversation.name
}

/** A hash that each message adds to: equal chains, equal beginnings. */
function chainOf(messages: readonly Message[], count: number): string {
  if (count > messages.length) return 'shorter'
  const known = chains.get(messages)
  if (known?.count === count) return known.hash
  let chain = known !== undefined && known.count < count ? known : { count: 0, hash: '' }
  for (let index = chain.count; index < count; index++) {
    chain = { count: index + 1, hash: short(chain.hash + JSON.stringify(messages[index])) }
  }
  if (known === undefined || known.count < count) chains.set(messages, chain)
  return chain.hash
}

/** Values are frozen and shared, so each is hashed once. */
function digest(value: object | undefined): string {
  if (value === undefined) return ''
  let known = digests.get(value)
  if (known === undefined) digests.set(value, (known = short(JSON.stringify(value))))
  return known
}

function short(text: string): string {
  return hash('sha256', text).slice(0, 16)
}
