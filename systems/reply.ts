import { Answered } from '../components/answered.ts'
import { Busy } from '../components/busy.ts'
import type { Failure } from '../components/failure.ts'
import type { ToolCallBlock } from '../components/message.ts'
import { ModelCall } from '../components/model-call.ts'
import { Outcome } from '../components/outcome.ts'
import { OwnedBy } from '../components/owned-by.ts'
import { Prefix } from '../components/prefix.ts'
import { Requested, ToolCall } from '../components/tool-call.ts'
import { Turn } from '../components/turn.ts'
import { type TokenUsage, Usage } from '../components/usage.ts'
import type { ModelReply } from '../src/models/port.ts'
import type { Entity } from '../src/world/component.ts'
import type { World } from '../src/world/world.ts'
import { insertMessage } from './insert-message.ts'
import { endTurn } from './end-turn.ts'
import { refusalOf } from './refusal-of.ts'
import { settled } from './settled.ts'
import { tell } from './tell.ts'

/**
 * Takes what a model has answered into the conversation, right behind what it answered, and turns its tool calls into
 * entities. A call that failed for good ends the turn.
 *
 * Query: Outcome. Writes: Conversation, Usage, Prefix, Busy, Answered; ToolCall entities.
 */
export const reply = {
  name: 'reply',
  priority: -80,
  run(world: World): void {
    for (const call of settled(world, ModelCall)) {
      const { agent } = world.read(call, OwnedBy)
      const outcome = world.read(call, Outcome)
      const failure = outcome.ok ? take(world, agent, call, (outcome.value ?? {}) as PricedReply) : outcome.failure
      if (failure === undefined) continue
      tell(world, 'model-failed', { agent, effect: call, failure })
      endTurn(world, agent, { stop: 'failed', failure })
    }
  },
}

/** A reply, with what it cost if its model has a price. */
type PricedReply = ModelReply & { readonly costNanoUsd?: number }

/** Gives a failure if the reply is none. */
function take(world: World, agent: Entity, call: Entity, priced: PricedReply): Failure | undefined {
  const { message, stop, usage } = priced
  const place = world.read(call, ModelCall).messages
  const isReply = message?.role === 'assistant' && typeof usage === 'object' && usage !== null
  const write = (): void => {
    count(world, agent, priced)
    // Messages that came during the call stand behind its reply: the model has not seen them.
    insertMessage(world, agent, place, message)
  }
  const problem = isReply ? refusalOf(write) : 'expected an assistant message and its usage'
  if (problem !== undefined) return { kind: 'internal', message: `The provider's reply is malformed: ${problem}` }
  world.despawn(call)
  tell(world, 'model-replied', { agent, effect: call, stop, usage })
  checkCache(world, agent, usage)
  const calls = message.content.filter((block): block is ToolCallBlock => block.type === 'tool-call')
  if (calls.length === 0) {
    const truncated = stop === 'max-tokens' ? true : undefined
    if (world.read(agent, Turn).truncated !== truncated) world.patch(agent, Turn, { truncated })
    world.remove(agent, Busy)
    world.add(agent, Answered)
    return undefined
  }
  for (const { id, name, arguments: input, malformed } of calls) {
    const asked = { arguments: input, callId: id, ...(malformed !== undefined && { malformed }), name }
    world.spawn(ToolCall(asked), OwnedBy({ agent }), Requested)
  }
  return undefined
}

/** A provider that reads less from its cache than it had there, although the request began as before, has lost it. */
function checkCache(world: World, agent: Entity, { cacheRead, cacheWrite = 0 }: TokenUsage): void {
  const prefix = world.get(agent, Prefix)
  if (prefix === undefined || cacheRead === undefined) return
  const { cached = 0 } = prefix
  if (cacheRead < cached) tell(world, 'cache-missed', { agent, cached, read: cacheRead })
  if (cacheRead + cacheWrite !== cached) world.patch(agent, Prefix, { cached: cacheRead + cacheWrite })
}

function count(world: World, agent: Entity, { usage, costNanoUsd }: PricedReply): void {
  const before = world.get(agent, Usage) ?? { calls: 0 }
  world.set(agent, Usage, {
    cacheRead: sum(before.cacheRead, usage.cacheRead),
    cacheWrite: sum(before.cacheWrite, usage.cacheWrite),
    calls: before.calls + 1,
    costNanoUsd: sum(before.costNanoUsd, costNanoUsd),
    input: sum(before.input, usage.input),
    output: sum(before.output, usage.output),
  })
}

/** What is not known adds nothing, and is not known if nothing is. */
function sum(before: number | undefined, more: number | undefined): number | undefined {
  return more === undefined ? before : (before ?? 0) + more
}
