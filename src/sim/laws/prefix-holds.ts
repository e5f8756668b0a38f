import { Conversation } from '../../../components/conversation.ts'
import { Llm, type LlmData } from '../../../components/llm.ts'
import type { Message } from '../../../components/message.ts'
import { SystemPrompt } from '../../../components/system-prompt.ts'
import { ToolRegistry } from '../../../components/tool-registry.ts'
import type { ModelRequest } from '../../models/port.ts'
import { systemText } from '../../models/project.ts'
import type { Entity } from '../../world/component.ts'
import type { World } from '../../world/world.ts'
import type { Finding, Law, WatchedTick } from '../law.ts'
import { sameJson } from './same-json.ts'

/**
 * A request begins with the one before it, so that what a provider has cached of that is of use: unless a `prefix-broken`
 * event says in the same tick that it does not. Looks at what was edited, not at what the engine remembers of it.
 */
export const prefixHolds: Law = {
  name: 'prefix-holds',
  meaning: 'A request begins with all of the one before it, unless an event says what has broken that.',
  watch() {
    const byWorld = new Map<string, Map<Entity, Asked>>()
    return {
      ticked(tick) {
        let asked = byWorld.get(tick.world.name)
        if (asked === undefined) byWorld.set(tick.world.name, (asked = new Map()))
        noteEdits(tick, asked)
        return checkCalls(tick, asked)
      },
    }
  },
}

/** What an agent last asked. */
interface Asked {
  /** How many messages. */
  readonly count: number
  /** The array that they stood in: it only grows, and a rewrite makes another one. */
  readonly messages: readonly Message[]
  readonly llm: LlmData
  readonly system: string
  readonly tools: ModelRequest['tools']
  /** The first of these messages that may have been edited since. */
  editedFrom: number
}

function noteEdits({ step }: WatchedTick, asked: ReadonlyMap<Entity, Asked>): void {
  const { set, spliced } = step.delta
  for (const [agent] of set?.[Conversation.name] ?? []) {
    const last = asked.get(agent)
    if (last !== undefined) last.editedFrom = 0
  }
  for (const [agent, edits] of spliced?.[Conversation.name] ?? []) {
    const last = asked.get(agent)
    if (last === undefined) continue
    for (const [from] of edits) last.editedFrom = Math.min(last.editedFrom, from)
  }
}

function checkCalls({ world, step }: WatchedTick, asked: Map<Entity, Asked>): Finding {
  for (const event of step.events) {
    if (event.type !== 'model-called') continue
    const agent = event['agent'] as Entity
    const last = asked.get(agent)
    const next = askedNow(world, agent, event['messages'] as number)
    if (next === undefined) continue
    asked.set(agent, next)
    const changed = last && changeOf(last, next)
    if (changed === undefined) continue
    const isTold = step.events.some(({ type, agent: whose }) => type === 'prefix-broken' && whose === agent)
    if (isTold) continue
    const what = `does not begin with the last one: ${changed}`
    return `the request of agent ${agent} ${what}, and no event has said so`
  }
  return undefined
}

const none: ModelRequest['tools'] = []

function askedNow(world: World, agent: Entity, count: number): Asked | undefined {
  const llm = world.get(agent, Llm)
  const messages = world.get(agent, Conversation)
  if (llm === undefined || messages === undefined) return undefined
  const tools = world.get(agent, ToolRegistry)?.tools ?? none
  return { count, editedFrom: count, llm, messages, system: systemText(world, agent), tools }
}

/** What has changed, by the component that it is of. */
function changeOf(last: Asked, next: Asked): string | undefined {
  if (!sameModel(last.llm, next.llm)) return `its ${Llm.name} is another one`
  if (last.system !== next.system) return `its ${SystemPrompt.name} reads otherwise`
  if (last.tools !== next.tools && !sameJson(last.tools, next.tools)) return `its ${ToolRegistry.name} is another one`
  if (next.count < last.count) return `${Conversation.name} has ${next.count} messages, and had ${last.count}`
  for (let index = last.editedFrom; index < last.count; index++) {
    if (!sameJson(last.messages[index], next.messages[index])) return `message ${index} of its ${Conversation.name}`
  }
  return undefined
}

/** How long a call may take, and how often it is tried, is not part of the request. */
function sameModel(last: LlmData, next: LlmData): boolean {
  if (last === next) return true
  const { retry: _, timeoutMs: __, ...before } = last
  const { retry: ___, timeoutMs: ____, ...now } = next
  return sameJson(before, now)
}
