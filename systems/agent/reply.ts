import { Answered, Busy } from '../../components/agent/agent-tags.ts'
import { Overflowed } from '../../components/context/compaction-state.ts'
import { Conversation } from '../../components/agent/conversation.ts'
import { Context } from '../../components/context/context.ts'
import type { Failure } from '../../src/protocol/failure.ts'
import type { AssistantMessage, ToolCallBlock } from '../../src/protocol/message.ts'
import { LastCall } from '../../components/context/last-call.ts'
import { Llm } from '../../components/agent/llm.ts'
import { ModelCall } from '../../components/effects/model-call.ts'
import { Outcome, OwnedBy } from '../../components/effects/effect.ts'
import { Prefix } from '../../components/agent/prefix.ts'
import { Requested, ToolCall } from '../../components/agent/tool-call.ts'
import { ToolRegistry } from '../../components/agent/tool-registry.ts'
import { Turn } from '../../components/agent/turn.ts'
import type { TokenUsage } from '../../src/protocol/usage.ts'
import type { PricedReply } from '../../src/rules/money/call-cost.ts'
import { promptTokensOf } from '../../src/rules/tokens/token-counts.ts'
import { meantCall } from '../../src/rules/projection/deferred-tools.ts'
import { withDistinctCallIds } from '../../src/rules/projection/tool-calls.ts'
import type { Entity } from '../../src/world/component.ts'
import { made } from '../../src/world/made.ts'
import type { World } from '../../src/world/world.ts'
import { cutProblem, insertMessage, refuseCall } from './tool-results.ts'
import { endTurn } from './end-turn.ts'
import { countOwn } from '../money/charge-call.ts'
import { keepsOwnCalls, noteOwnCall } from '../money/count-calls.ts'
import { emit, refusalOf, settled } from '../kit.ts'
import { takeOverflow } from '../context/compaction.ts'

/** Replies in a row that the token limit may cut inside a tool call; the last of them ends the turn. */
const maxCutReplies = 2

/**
 * Inserts a model's reply behind the messages it answers, and turns its tool calls into entities. A call that failed
 * for good ends the turn.
 * Writes: Conversation, Usage, LastCall, Prefix, Busy, Answered, what ending a turn writes; ToolCall entities.
 */
export const reply = {
  name: 'reply',
  priority: -80,
  wakes: [[ModelCall, Outcome]],
  run(world: World): void {
    for (const call of settled(world, ModelCall)) {
      const { agent } = world.read(call, OwnedBy)
      const outcome = world.read(call, Outcome)
      const failure = outcome.ok ? take(world, agent, call, (outcome.value ?? {}) as PricedReply) : outcome.failure
      if (failure !== undefined) fail(world, agent, call, failure)
    }
  },
}

function fail(world: World, agent: Entity, call: Entity, { contextWindow, ...failure }: Failure): void {
  emit(world, 'model-failed', { agent, effect: call, failure })
  const isTooLong = failure.kind === 'context-overflow' && world.has(agent, Context)
  if (isTooLong) takeOverflow(world, agent, call, { contextWindow, failure })
  else endTurn(world, agent, { stop: 'failed', failure })
}

/** A step's model call that has its reply. */
interface OwnCall {
  readonly agent: Entity
  /** The projection was rewritten after the call started. */
  readonly isOutdated: true | undefined
  /** How many messages it answered. */
  readonly messages: number
  readonly model: string
  readonly priced: PricedReply
}

/** Returns a failure if the reply is malformed. */
function take(world: World, agent: Entity, call: Entity, priced: PricedReply): Failure | undefined {
  const { stop, usage } = priced
  const { isOutdated, messages: place } = world.read(call, ModelCall)
  const isReply = priced.message?.role === 'assistant' && typeof usage === 'object' && usage !== null
  const message = isReply ? withDistinctCallIds(priced.message, world.get(agent, Conversation) ?? []) : priced.message
  const own: OwnCall = { agent, messages: place, model: world.get(agent, Llm)?.model ?? '', priced, isOutdated }
  const isSilent = isReply && isEmpty(message)
  const write = (): void => {
    count(world, agent, priced)
    noteLastCall(world, own)
    // Messages that arrived during the call stand behind its reply: the model has not seen them. An empty reply is left
    // out: providers refuse a message without content, or with thinking alone.
    if (!isSilent) insertMessage(world, agent, place, message)
  }
  const problem = isReply ? refusalOf(write) : 'expected an assistant message and its usage'
  if (problem !== undefined) return { kind: 'internal', message: `The provider's reply is malformed: ${problem}` }
  emit(world, 'model-replied', { agent, effect: call, stop, usage })
  checkCache(world, agent, usage)
  const promptTokens = promptTokensOf(usage)
  // After a rewrite the request cannot be counted any more.
  if (promptTokens !== undefined && isOutdated !== true) {
    noteOwnCall(world, agent, { messages: place, model: own.model, promptTokens })
  }
  world.despawn(call)
  countInARow(world, agent, 'emptyReplies', isSilent)
  const calls = message.content.filter((block): block is ToolCallBlock => block.type === 'tool-call')
  const isCut = stop === 'max-tokens' && calls.some(({ malformed }) => malformed !== undefined)
  countInARow(world, agent, 'cutReplies', isCut)
  if (calls.length === 0) {
    const truncated = stop === 'max-tokens' ? true : undefined
    if (world.read(agent, Turn).truncated !== truncated) world.patch(agent, Turn, { truncated })
    world.remove(agent, Busy)
    world.add(agent, Answered)
    return undefined
  }
  const tools = world.get(agent, ToolRegistry)?.tools ?? []
  for (const { id, name, arguments: input, malformed } of calls.map((block) => meantCall(tools, block))) {
    const written = malformed === undefined ? {} : { ...(isCut && { isCut }), malformed }
    world.spawn(ToolCall({ arguments: input, callId: id, ...written, name }), made(OwnedBy, { agent }), Requested)
  }
  const { cutReplies = 0 } = world.read(agent, Turn)
  if (cutReplies >= maxCutReplies) endCut(world, agent)
  return undefined
}

/** Counts replies in a row that are empty, or that the token limit cut inside a call. */
function countInARow(world: World, agent: Entity, name: 'cutReplies' | 'emptyReplies', isAnother: boolean): void {
  const before = world.read(agent, Turn)[name]
  if (isAnother) world.patch(agent, Turn, { [name]: (before ?? 0) + 1 })
  else if (before !== undefined) world.patch(agent, Turn, { [name]: undefined })
}

/** The model was told that its call was cut, and wrote as much again: it would until its last step. */
function endCut(world: World, agent: Entity): void {
  for (const call of world.referrers(OwnedBy, agent)) {
    if (world.get(call, ToolCall)?.isCut !== true) continue
    refuseCall(world, call, cutProblem(world, agent, world.read(call, ToolCall).name))
  }
  const message =
    `${maxCutReplies} replies in a row were cut at the token limit in the midst of a tool call. ` +
    'Raise maxOutputTokens, or ask for less at once.'
  endTurn(world, agent, { stop: 'failed', failure: { kind: 'truncated', message } })
}

/** Does a reply have nothing but blank text and thinking? The conversation refuses malformed content. */
function isEmpty({ content }: AssistantMessage): boolean {
  if (!Array.isArray(content)) return false
  return content.every((block: AssistantMessage['content'][number] | null) => {
    return block?.type === 'thinking' || (block?.type === 'text' && /^\s*$/.test(block.text))
  })
}

/** Emits if the provider lost its cache: it read less than it had, although the request began as before. */
function checkCache(world: World, agent: Entity, { cacheRead, cacheWrite = 0 }: TokenUsage): void {
  const prefix = world.get(agent, Prefix)
  if (prefix === undefined || cacheRead === undefined) return
  const { cached = 0 } = prefix
  if (cacheRead < cached) emit(world, 'cache-missed', { agent, cached, read: cacheRead })
  if (cacheRead + cacheWrite !== cached) world.patch(agent, Prefix, { cached: cacheRead + cacheWrite })
}

function count(world: World, agent: Entity, { usage, costNanoUsd }: PricedReply): void {
  const { cacheRead, cacheWrite, cacheWrite1h, input, output } = usage
  countOwn(world, agent, { cacheRead, cacheWrite, cacheWrite1h, calls: 1, costNanoUsd, input, output })
}

/** Records how full the model's window was. Where own calls are kept, the newest of them has the tokens. */
function noteLastCall(world: World, { agent, isOutdated, model, priced }: OwnCall): void {
  const { cachePrice, contextWindow, usage } = priced
  if (isOutdated === true || !world.has(agent, Context)) return
  world.remove(agent, Overflowed)
  const promptTokens = promptTokensOf(usage)
  const isBehind = promptTokens !== undefined && cachePrice === undefined && keepsOwnCalls(world, agent)
  const last = isBehind ? world.get(agent, LastCall) : undefined
  if (last?.isBehind === true && last.model === model && last.contextWindow === contextWindow) return
  world.set(agent, LastCall, {
    cachePrice,
    contextWindow,
    ...(isBehind ? { isBehind } : { promptTokens }),
    model,
  })
}
