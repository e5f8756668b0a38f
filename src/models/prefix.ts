import type { z } from 'zod'
import { Conversation } from '../../components/conversation.ts'
import { Llm } from '../../components/llm.ts'
import type { Message } from '../../components/message.ts'
import type { Prefix } from '../../components/prefix.ts'
import { RenderedPrompt } from '../../components/rendered-prompt.ts'
import { SystemPrompt } from '../../components/system-prompt.ts'
import { ToolRegistry } from '../../components/tool-registry.ts'
import type { Entity } from '../world/component.ts'
import { fingerprint } from '../world/random.ts'
import type { World } from '../world/world.ts'

type PrefixData = z.infer<typeof Prefix.schema>

/** How far the chain over a conversation has been computed. Only a shortcut: it follows from the messages. */
interface Chain {
  readonly count: number
  readonly hash: number
}
const chains = new WeakMap<readonly Message[], Chain>()
const digests = new WeakMap<object, number>()

/** What the agent's next request begins with, and the component that keeps it from beginning like the last one, if any. */
export interface NextPrefix {
  readonly prefix: PrefixData
  readonly brokenBy: string | undefined
}

/** Compares the request to come, of so many messages, with the last one. Costs what is new since then. */
export function nextPrefix(world: World, agent: Entity, last: PrefixData | undefined, count: number): NextPrefix {
  const messages = world.get(agent, Conversation) ?? []
  // The last chain first: it is where the computation of the next one goes on.
  const again = last === undefined ? undefined : chainOf(messages, last.count)
  const prefix = {
    count,
    llm: digest(world.read(agent, Llm)),
    messages: chainOf(messages, count),
    system: digest(world.get(agent, RenderedPrompt) ?? world.get(agent, SystemPrompt)),
    tools: digest(world.get(agent, ToolRegistry)),
  }
  return { prefix, brokenBy: last === undefined ? undefined : difference(last, prefix, again) }
}

function difference(last: PrefixData, next: PrefixData, again: number | undefined): string | undefined {
  if (last.llm !== next.llm) return Llm.name
  if (last.system !== next.system) return SystemPrompt.name
  if (last.tools !== next.tools) return ToolRegistry.name
  return again === last.messages ? undefined : Conversation.name
}

/** A hash that each message adds to: equal chains, equal beginnings. */
function chainOf(messages: readonly Message[], count: number): number {
  // A conversation that is shorter now has no such chain; no fingerprint is negative.
  if (count > messages.length) return -1
  const known = chains.get(messages)
  if (known?.count === count) return known.hash
  let chain = known !== undefined && known.count < count ? known : { count: 0, hash: 0 }
  for (let index = chain.count; index < count; index++) {
    chain = { count: index + 1, hash: fingerprint(JSON.stringify(messages[index]), chain.hash) }
  }
  if (known === undefined || known.count < count) chains.set(messages, chain)
  return chain.hash
}

/** Values are frozen and shared, so each is hashed once. */
function digest(value: object | undefined): number {
  if (value === undefined) return 0
  let known = digests.get(value)
  if (known === undefined) digests.set(value, (known = fingerprint(JSON.stringify(value))))
  return known
}
