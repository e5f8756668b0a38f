import { Boundary } from '../../../components/context/boundary.ts'
import type { BoundaryEntry } from '../../protocol/context.ts'
import { Conversation } from '../../../components/agent/conversation.ts'
import { Llm, type LlmData } from '../../../components/agent/llm.ts'
import type { Message } from '../../protocol/message.ts'
import { RenderedPrompt, SystemPrompt } from '../../../components/agent/system-prompt.ts'
import { ToolRegistry } from '../../../components/agent/tool-registry.ts'
import type { ModelRequest } from '../../models/port.ts'
import type { Entity } from '../../world/component.ts'
import type { WorldEvent } from '../../world/input.ts'
import type { World } from '../../world/world.ts'
import type { Finding, Law, WatchedTick } from '../law.ts'
import { coveredBy } from './message-places.ts'
import { sameJson } from './same-json.ts'

/** Providers cache prefixes. Checks the edits themselves, not what the engine records of them. */
export const prefixHolds: Law = {
  concern: { set: [Conversation], spliced: [Conversation], events: ['model-called'] },
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

interface Asked {
  /** The text in place of the messages before `from`. */
  readonly boundary: BoundaryEntry | undefined
  /** The request has the messages from `from` up to `count`. */
  readonly from: number
  readonly count: number
  /** The conversation then: it only grows, and a rewrite makes a new array. */
  readonly messages: readonly Message[]
  readonly llm: LlmData
  readonly system: string
  readonly tools: ModelRequest['tools']
  /** Index of the first message that may have been edited since. */
  editedFrom: number
}

function noteEdits({ changes }: WatchedTick, asked: ReadonlyMap<Entity, Asked>): void {
  const { set, spliced } = changes.of(Conversation)
  for (const [agent] of set) {
    const last = asked.get(agent)
    if (last !== undefined) last.editedFrom = 0
  }
  for (const [agent, edits] of spliced) {
    const last = asked.get(agent)
    if (last === undefined) continue
    for (const [from] of edits) last.editedFrom = Math.min(last.editedFrom, from)
  }
}

function checkCalls({ world, step }: WatchedTick, asked: Map<Entity, Asked>): Finding {
  const broken = brokenIn(step.events)
  for (const event of step.events) {
    if (event.type !== 'model-called') continue
    const agent = event['agent'] as Entity
    const last = asked.get(agent)
    const next = askedNow(world, agent, event['messages'] as number)
    if (next === undefined) continue
    asked.set(agent, next)
    const told = broken?.get(agent)
    if (told?.['component'] === Boundary.name && last !== undefined && sameBoundary(last, next)) {
      return `the request of agent ${agent} is said to be broken by a boundary, and it begins with the same`
    }
    const changed = last && changeOf(last, next)
    if (changed === undefined || told !== undefined) continue
    const what = `does not begin with the last one: ${changed}`
    return `the request of agent ${agent} ${what}, and no event has said so`
  }
  return undefined
}

function brokenIn(events: readonly WorldEvent[]): ReadonlyMap<Entity, WorldEvent> | undefined {
  let broken: Map<Entity, WorldEvent> | undefined
  for (const event of events) {
    if (event.type !== 'prefix-broken') continue
    broken ??= new Map()
    const agent = event['agent'] as Entity
    if (!broken.has(agent)) broken.set(agent, event)
  }
  return broken
}

const none: ModelRequest['tools'] = []

function askedNow(world: World, agent: Entity, count: number): Asked | undefined {
  const llm = world.get(agent, Llm)
  const messages = world.get(agent, Conversation)
  if (llm === undefined || messages === undefined) return undefined
  const known = world.get(agent, ToolRegistry)?.tools ?? none
  // What a search finds is not in the request.
  const tools = known.some(({ deferred }) => deferred) ? known.filter(({ deferred }) => deferred !== true) : known
  const boundary = world.get(agent, Boundary)?.at(-1)
  const from = boundary === undefined ? 0 : coveredBy(world, agent, boundary)
  const system = world.get(agent, RenderedPrompt)?.text ?? world.get(agent, SystemPrompt)?.template ?? ''
  return { boundary, count, editedFrom: count, from, llm, messages, system, tools }
}

function changeOf(last: Asked, next: Asked): string | undefined {
  if (!sameModel(last.llm, next.llm)) return `its ${Llm.name} is another one`
  if (last.system !== next.system) return `its ${SystemPrompt.name} reads otherwise`
  if (last.tools !== next.tools && !sameJson(last.tools, next.tools)) return `its ${ToolRegistry.name} is another one`
  if (!sameBoundary(last, next)) return `its ${Boundary.name} is another one`
  const [before, now] = [last.count - last.from, next.count - next.from]
  if (now < before) return `${Conversation.name} has ${now} messages, and had ${before}`
  // An edit before the first message shifts them all.
  const edited = last.editedFrom < last.from ? 0 : last.editedFrom - last.from
  for (let index = edited; index < before; index++) {
    const [message, other] = [last.messages[last.from + index], next.messages[next.from + index]]
    if (!sameJson(message, other)) return `message ${index} of its ${Conversation.name}`
  }
  return undefined
}

function sameBoundary({ boundary: last }: Asked, { boundary: next }: Asked): boolean {
  return last === next || (last?.kind === next?.kind && last?.text === next?.text)
}

/** Timeout and retries are not part of the request. */
function sameModel(last: LlmData, next: LlmData): boolean {
  if (last === next) return true
  const { retry: _, timeoutMs: __, ...before } = last
  const { retry: ___, timeoutMs: ____, ...now } = next
  return sameJson(before, now)
}
