import { Context } from '../../components/context.ts'
import { Conversation } from '../../components/conversation.ts'
import { LastTurn } from '../../components/last-turn.ts'
import { ToolCall } from '../../components/tool-call.ts'
import { Turn } from '../../components/turn.ts'
import { WatchdogState } from '../../components/watchdog-state.ts'
import { callBefore, newestCall, type PlacedCall } from '../../src/context/call-before.ts'
import { type CallRun, isSameCall, keyOfCall, repeatedToolCall } from '../../src/context/call-run.ts'
import { seqAt } from '../../src/context/places.ts'
import type { Entity } from '../../src/world/component.ts'
import type { Json } from '../../src/world/json.ts'
import type { World } from '../../src/world/world.ts'

/** What is known of an agent before anything has to be remembered of its calls. */
export const unwatched = { alerts: 0, notes: [], seen: 0, signals: {} } as const

/**
 * The run that a call is the newest of. `undefined`: it is the first of its run, as most are, and nothing has to be
 * remembered of it: what came before the next one stands in the conversation.
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
    last === undefined ? isLikeTheOneBefore(world, agent, call) : isSameCall(world.read(last, ToolCall), asked)
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
  if ((world.get(agent, Context)?.watchdog.mode ?? 'off') === 'off') return
  const state = world.get(agent, WatchdogState) ?? unwatched
  if (rememberedRun(state.signals) !== undefined) return
  const newest = newestCall(world.read(agent, Conversation))
  if (newest === undefined || newest.index < from || newest.index >= to) return
  const run = { key: keyOfCall(newest.call), run: 1 }
  world.set(agent, WatchdogState, { ...state, signals: { ...state.signals, [repeatedToolCall]: run } })
}

function isLikeTheOneBefore(world: World, agent: Entity, call: Entity): boolean {
  const asked = world.read(call, ToolCall)
  const before = callBefore(world.get(agent, Conversation) ?? [], asked.callId)
  return before !== undefined && isSameCall(before.call, asked) && isOwn(world, agent, before)
}

/** In its first turn, what stands before that is a history that the agent began with. */
function isOwn(world: World, agent: Entity, { index }: PlacedCall): boolean {
  return world.has(agent, LastTurn) || seqAt(world, agent, index) >= (world.get(agent, Turn)?.fromSeq ?? 0)
}
