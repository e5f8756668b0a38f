import { ApprovalOf, AwaitingApproval, Requested, ToolCall } from '../../components/agent/tool-call.ts'
import { RatesCall } from '../../components/money/model-rates.ts'
import { Ceilings, CostCeiling } from '../../components/money/ceilings.ts'
import { Effect, Outcome, OwnedBy, Pending } from '../../components/effects/effect.ts'
import type { Failure } from '../../src/protocol/failure.ts'
import { ModelCall } from '../../components/effects/model-call.ts'
import { AwaitingReply, SessionQuery } from '../../components/sessions/session-call.ts'
import { Turn } from '../../components/agent/turn.ts'
import { Unread } from '../../components/agent/conversation.ts'
import { ceilingMessage, ceilingReached } from '../../src/rules/money/ceiling-decision.ts'
import type { Entity } from '../../src/world/component.ts'
import type { World } from '../../src/world/world.ts'
import { endTurn } from '../agent/end-turn.ts'
import { takeRates } from './model-rates.ts'
import { openTurn } from '../agent/open-turn.ts'
import { collectResults, textOutcome } from '../agent/tool-results.ts'
import type { InputOf } from '../../src/protocol/input.ts'
import { Llm } from '../../components/agent/llm.ts'
import { spendingOf } from '../../src/rules/money/spending.ts'
import { toNanoUsd, toUsd } from '../../src/rules/money/usd.ts'
import { noteRefused, type RefusedRequest } from '../../src/rules/delegation/refused-requests.ts'

/**
 * Stops agents that have reached a cost ceiling; `tripIfReached` latches them. Takes the prices that agents under a
 * ceiling wait for.
 * Writes: ModelRates, RatesAwaited, CostCeiling, Outcome, and what ending a turn writes.
 */
export const costCeiling = {
  name: 'cost-ceiling',
  priority: -10,
  wakes: [CostCeiling, [RatesCall, Outcome]],
  run(world: World): void {
    takeRates(world)
    // Stopped agents are not looked at again, however many there are.
    const moving = [...world.query(CostCeiling, Turn), ...world.query(CostCeiling, Unread)]
    for (const agent of new Set(moving)) stopLatched(world, agent)
  },
}

/** Starts nothing more, lets calls in flight end, then ends the turn. Sessions run on within their grants. */
function stopLatched(world: World, agent: Entity): void {
  const failure: Failure = { kind: 'budget-spent', message: ceilingMessage(world.read(agent, CostCeiling)) }
  answerUnbegun(world, agent)
  // A message from before the ceiling was reached opens a turn that ends at once.
  if (!world.has(agent, Turn) && world.has(agent, Unread)) openTurn(world, agent, 0)
  if (world.has(agent, Turn) && !isAtWork(world, agent)) endTurn(world, agent, { stop: 'budget-spent', failure })
}

function answerUnbegun(world: World, agent: Entity): void {
  for (const owned of world.referrers(OwnedBy, agent)) {
    const query = world.get(owned, SessionQuery)
    if (query?.call !== undefined && !world.has(owned, Effect)) {
      world.despawn(owned)
      answer(world, query.call)
    } else if (world.has(owned, ToolCall) && isUnbegun(world, owned)) answer(world, owned)
  }
  collectResults(world, agent)
}

/** Only a `once` effect marks its start. Any other pending one may have started, and counts as started. */
function isUnbegun(world: World, call: Entity): boolean {
  if (world.has(call, Requested) || world.has(call, AwaitingApproval)) return true
  return world.has(call, Pending) && world.get(call, Effect)?.restart === 'once'
}

function answer(world: World, call: Entity): void {
  for (const token of [AwaitingReply, Requested, AwaitingApproval, Pending]) world.remove(call, token)
  for (const approval of world.referrers(ApprovalOf, call)) world.despawn(approval)
  world.add(call, textOutcome('[not run: cost ceiling reached]', true))
}

function isAtWork(world: World, agent: Entity): boolean {
  return world
    .referrers(OwnedBy, agent)
    .some((owned) => world.has(owned, ToolCall) || (world.has(owned, ModelCall) && world.has(owned, Pending)))
}

type Reset = InputOf<'cost-ceiling-reset'>

/** Lets an agent stopped by a ceiling go on, raising the session ceiling if asked; or records why not. */
export function resetCeiling(world: World, input: Reset): void {
  const { agent, addSessionUsd = 0, request } = input
  const problem = problemOf(world, input)
  if (problem !== undefined) return noteRefused(world, request, problem)
  const { maxSessionCostUsd } = world.get(agent, Ceilings) ?? {}
  if (addSessionUsd > 0) world.patch(agent, Ceilings, { maxSessionCostUsd: raised(maxSessionCostUsd, addSessionUsd) })
  if (!world.has(agent, CostCeiling)) return
  const ceilings = world.get(agent, Ceilings)
  // The open turn has reached its ceiling and still has to end: the next one starts at zero.
  if (ceilings !== undefined && ceilingReached(ceilings, spendingOf(world, agent)) !== undefined) {
    return world.patch(agent, CostCeiling, { isReset: true })
  }
  world.remove(agent, CostCeiling)
}

function problemOf(world: World, { agent, addSessionUsd }: Reset): RefusedRequest | undefined {
  if (!world.has(agent, Llm)) return { code: 'invalid-argument', reason: `Entity ${agent} is no agent.` }
  const { maxSessionCostUsd } = world.get(agent, Ceilings) ?? {}
  if (maxSessionCostUsd === undefined) {
    if (addSessionUsd === undefined) return undefined
    return { code: 'invalid-argument', reason: `Agent ${agent} has no ceiling maxSessionCostUsd that could be raised.` }
  }
  const limitUsd = raised(maxSessionCostUsd, addSessionUsd ?? 0)
  const { sessionNanoUsd } = spendingOf(world, agent)
  const still = ceilingReached({ maxSessionCostUsd: limitUsd, onUnpriced: 'warn' }, { sessionNanoUsd })
  if (still === undefined) return undefined
  const advice = 'Pass addSessionUsd, so that the ceiling lies above what was spent.'
  return { code: 'limit-reached', reason: `${ceilingMessage(still)} ${advice}` }
}

function raised(limitUsd = 0, addUsd: number): number {
  return toUsd(toNanoUsd(limitUsd) + toNanoUsd(addUsd))
}
