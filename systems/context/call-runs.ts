import { Conversation } from '../../components/agent/conversation.ts'
import { ToolCall } from '../../components/agent/tool-call.ts'
import { WatchdogState } from '../../components/agent/watchdog-state.ts'
import { callBefore, newestCall } from '../../src/rules/projection/tool-calls.ts'
import { type CallRun, isSameCall, keyOfCall, repeatedToolCall } from '../../src/rules/context/watchdog-signal.ts'
import type { DataOf, Entity } from '../../src/world/component.ts'
import type { Json } from '../../src/world/json.ts'
import type { World } from '../../src/world/world.ts'

type State = DataOf<() => typeof WatchdogState.schema>

/**
 * Is there something to remember of a call? Of the first one that is seen of an agent, of those that go on with a run, and of
 * those that end one; of others there is not: what came before the next one stands in the conversation.
 */
export function isNotable(world: World, agent: Entity, call: Entity, state: State | undefined): boolean {
  if (state === undefined || rememberedRun(state.signals) !== undefined) return true
  return isLikeTheOneBefore(world, agent, call, state)
}

/**
 * The run that a call is the newest of; `undefined`: it is the first of its run.
 *
 * @param before the run that is remembered
 * @param last the call before it, where that is at hand
 */
export function runWith(
  world: World,
  agent: Entity,
  call: Entity,
  { before, last }: { readonly before: CallRun | undefined; readonly last: Entity | undefined },
): CallRun | undefined {
  const asked = world.read(call, ToolCall)
  if (before !== undefined) {
    const key = keyOfCall(asked)
    return before.key === key ? { key, run: before.run + 1 } : undefined
  }
  const isRepeated =
    last === undefined
      ? isLikeTheOneBefore(world, agent, call, world.get(agent, WatchdogState))
      : isSameCall(world.read(last, ToolCall), asked)
  return isRepeated ? { key: keyOfCall(asked), run: 2 } : undefined
}

/** The run that signals' states have; `undefined`: the newest call is the first of its run. */
export function rememberedRun(signals: Readonly<Record<string, Json>>): CallRun | undefined {
  return signals[repeatedToolCall] as CallRun | undefined
}

/**
 * Remembers the newest call of an agent if it is about to leave the conversation: a run may have begun with it.
 *
 * @param from the index of the first message that leaves
 * @param to that of the first one behind them
 */
export function keepNewestCall(world: World, agent: Entity, from: number, to: number): void {
  const state = world.get(agent, WatchdogState)
  if (state === undefined || rememberedRun(state.signals) !== undefined) return
  const newest = newestCall(world.read(agent, Conversation))
  if (newest === undefined || newest.index < from || newest.index >= to) return
  const run = { key: keyOfCall(newest.call), run: 1 }
  world.set(agent, WatchdogState, { ...state, signals: { ...state.signals, [repeatedToolCall]: run } })
}

/** What an agent did before anything was seen of it does not count. */
function isLikeTheOneBefore(world: World, agent: Entity, call: Entity, state: State | undefined): boolean {
  if (state === undefined) return false
  const asked = world.read(call, ToolCall)
  const before = callBefore(world.get(agent, Conversation) ?? [], asked.callId)
  return before !== undefined && isSameCall(before, asked)
}
