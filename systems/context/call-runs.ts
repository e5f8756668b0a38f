import { Conversation } from '../../components/agent/conversation.ts'
import { ToolCall } from '../../components/agent/tool-call.ts'
import { WatchdogState } from '../../components/agent/watchdog-state.ts'
import { callBefore, newestCall } from '../../src/rules/projection/tool-calls.ts'
import { type CallRun, isSameCall, keyOfCall, repeatedToolCall } from '../../src/rules/context/watchdog-signal.ts'
import type { DataOf, Entity } from '../../src/world/component.ts'
import type { Json } from '../../src/base/json.ts'
import type { World } from '../../src/world/world.ts'

type State = DataOf<() => typeof WatchdogState.schema>

/**
 * Must a call be recorded? Only the first watched call, one that continues a run, or one that ends it: the call before
 * the next one is in the conversation.
 */
export function isNotable(world: World, agent: Entity, call: Entity, state: State | undefined): boolean {
  if (state === undefined || rememberedRun(state.signals) !== undefined) return true
  return isLikeTheOneBefore(world, agent, call, state)
}

/**
 * The run that a call continues; `undefined` if it is the first of its run.
 * @param before the recorded run
 * @param last the call before it, if it is in the same reply
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

/** The recorded run; `undefined`: the newest call is the first of its run. */
export function rememberedRun(signals: Readonly<Record<string, Json>>): CallRun | undefined {
  return signals[repeatedToolCall] as CallRun | undefined
}

/**
 * Records an agent's newest call before it leaves the conversation: it may begin a run.
 * @param from index of the first message that leaves
 * @param to index behind the last
 */
export function keepNewestCall(world: World, agent: Entity, from: number, to: number): void {
  const state = world.get(agent, WatchdogState)
  if (state === undefined || rememberedRun(state.signals) !== undefined) return
  const newest = newestCall(world.read(agent, Conversation))
  if (newest === undefined || newest.index < from || newest.index >= to) return
  const run = { key: keyOfCall(newest.call), run: 1 }
  world.set(agent, WatchdogState, { ...state, signals: { ...state.signals, [repeatedToolCall]: run } })
}

/** Calls from before the agent was watched do not count. */
function isLikeTheOneBefore(world: World, agent: Entity, call: Entity, state: State | undefined): boolean {
  if (state === undefined) return false
  const asked = world.read(call, ToolCall)
  const before = callBefore(world.get(agent, Conversation) ?? [], asked.callId)
  return before !== undefined && isSameCall(before, asked)
}
