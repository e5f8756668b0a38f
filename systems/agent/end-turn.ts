import { Ancestry } from '../../components/sessions/ancestry.ts'
import { Answered, Busy, LastStep, StepStopped } from '../../components/agent/agent-tags.ts'
import { Overflowed, Unweighed } from '../../components/context/compaction-state.ts'
import { Context } from '../../components/context/context.ts'
import { Conversation, Unread } from '../../components/agent/conversation.ts'
import { CostCeiling } from '../../components/money/ceilings.ts'
import type { Failure, Stop } from '../../src/protocol/failure.ts'
import { EndedTurn } from '../../components/context/archive.ts'
import { LastTurn, Turn, type TurnData } from '../../components/agent/turn.ts'
import { TurnOutputSchema } from '../../components/agent/llm.ts'
import { Usage } from '../../components/money/usage.ts'
import { usageSince } from '../../src/rules/tokens/token-counts.ts'
import { ModelCall } from '../../components/effects/model-call.ts'
import { Effect, Outcome, OwnedBy, Pending, Running } from '../../components/effects/effect.ts'
import { SessionQuery } from '../../components/sessions/session-call.ts'
import { Subtask } from '../../components/sessions/subtask.ts'
import { ToolCall } from '../../components/agent/tool-call.ts'
import { seqAt } from '../../src/rules/projection/places.ts'
import type { DeepReadonly, Entity } from '../../src/world/component.ts'
import type { Json } from '../../src/base/json.ts'
import type { World } from '../../src/world/world.ts'
import { isWorthJudging } from '../context/archival.ts'
import { resultOf } from '../../src/rules/projection/call-result.ts'
import { answerCall } from './tool-results.ts'
import { endCall } from '../money/charge-call.ts'
import { cancelSessionsOf } from '../sessions/end-session.ts'
import { noteUnknown, tripIfReached } from '../money/charge.ts'
import { startNextQuery } from '../sessions/query-session.ts'
import { endWait } from '../sessions/wait.ts'
import { emit } from '../kit.ts'

export interface TurnEnd {
  readonly stop: Stop
  readonly failure?: Failure
  readonly output?: Json
}

/** Ends a turn and leaves a valid conversation: each call answered once, an assistant message last, nothing running. */
export function endTurn(world: World, agent: Entity, { stop, failure, output }: TurnEnd): void {
  stopWork(world, agent, stop)
  if (takesSessionsAlong(world, agent, stop)) cancelSessionsOf(world, agent)
  const closing = closingText(stop, failure)
  const last = world.get(agent, Conversation)?.at(-1)
  if (closing !== undefined && last !== undefined) {
    world.append(agent, Conversation, { role: 'assistant', content: [{ type: 'text', text: closing }] })
  }
  for (const token of [Answered, Busy, Overflowed, StepStopped, TurnOutputSchema, Unread]) world.remove(agent, token)
  // The steps of a session are counted over all its turns.
  if (!world.has(agent, Ancestry)) world.remove(agent, LastStep)
  const { fromSeq, steps, toolCalls, startedAtMs, truncated, usedBefore } =
    world.get(agent, Turn) ?? notBegun(world, agent)
  world.remove(agent, Turn)
  if (world.get(agent, CostCeiling)?.isReset === true) {
    // The ceiling was reset before the turn had ended: the agent goes on, unless work in flight reached another one.
    world.remove(agent, CostCeiling)
    tripIfReached(world, agent)
  }
  if (fromSeq !== undefined && isWorthJudging(world, agent, { fromSeq, stop })) {
    const toSeq = seqAt(world, agent, world.read(agent, Conversation).length - 1)
    world.spawn(EndedTurn({ agent, fromSeq, stop, toSeq }))
  }
  if (world.has(agent, Context)) world.add(agent, Unweighed)
  const times = { startedAtMs, endedAtMs: world.nowMs }
  world.add(
    agent,
    LastTurn({
      stop,
      steps,
      toolCalls,
      ...times,
      failure,
      output,
      usage: usageSince(world.get(agent, Usage), usedBefore),
      ...(stop === 'done' && { truncated }),
    }),
  )
  emit(world, 'turn-ended', { agent, stop, steps, toolCalls, failure })
}

/** Answers the open calls of an agent, and ends all that its step has under way but its sessions. */
export function stopWork(world: World, agent: Entity, stop: Stop): void {
  answerOpenCalls(world, agent, stop)
  endWait(world, agent)
  const asked = world.referrers(OwnedBy, agent).flatMap((owned) => world.get(owned, SessionQuery)?.session ?? [])
  for (const effect of world.referrers(OwnedBy, agent)) {
    if (world.has(effect, ModelCall)) {
      endCall(world, effect)
      continue
    }
    const isChild = world.has(effect, Subtask) || world.has(effect, SessionQuery)
    if (isChild && world.has(effect, Pending)) noteUnknown(world, agent, effect)
    world.despawn(effect)
  }
  for (const session of asked) startNextQuery(world, session)
}

/** Does the end of a turn cancel the agent's sessions? In a session, any end but `done` does. */
function takesSessionsAlong(world: World, agent: Entity, stop: Stop): boolean {
  // Under a ceiling that was reached sessions run on within their grants.
  if (world.has(agent, CostCeiling)) return stop === 'failed' || stop === 'cancelled'
  if (stop === 'failed' || stop === 'cancelled' || stop === 'budget-spent') return true
  return stop !== 'done' && world.has(agent, Ancestry)
}

function answerOpenCalls(world: World, agent: Entity, stop: Stop): void {
  for (const call of world.referrers(OwnedBy, agent)) {
    if (!world.has(call, ToolCall)) continue
    const outcome = world.get(call, Outcome)
    if (outcome !== undefined) answerCall(world, agent, call, resultOf(world, call, outcome))
    else answerCall(world, agent, call, { text: openCallText(world, call, stop), isError: true })
  }
}

function openCallText(world: World, call: Entity, stop: Stop): string {
  const restart = world.get(call, Effect)?.restart
  const mayHaveRun = world.has(call, Running) ? restart === 'once' : world.has(call, Pending) && restart === 'keyed'
  if (stop === 'cancelled')
    return mayHaveRun ? '[cancelled by the user; it may have taken effect]' : '[cancelled by the user]'
  return mayHaveRun ? '[the turn was stopped; it may have taken effect]' : '[not run: the turn was stopped]'
}

/** A turn whose first step may not start. */
function notBegun(world: World, agent: Entity): DeepReadonly<TurnData> {
  return {
    startedAtMs: world.nowMs,
    steps: world.get(agent, LastTurn)?.steps ?? 0,
    toolCalls: 0,
    usedBefore: world.get(agent, Usage),
  }
}

function closingText(stop: Stop, failure: Failure | undefined): string | undefined {
  switch (stop) {
    case 'done':
      return undefined
    case 'max-steps':
      return '[Max turns reached]'
    case 'cancelled':
      return '[turn cancelled]'
    case 'empty-reply':
      return '[turn ended: the model replied with nothing]'
    case 'declined':
      return '[turn stopped]'
    default:
      if (failure?.kind === 'watchdog') return '[turn stopped by the watchdog]'
      return `[turn failed: ${failure?.kind ?? stop}]`
  }
}
