import { ApprovalOf } from '../../components/agent/approval.ts'
import { RatesCall } from '../../components/money/model-rates.ts'
import { CostCeiling } from '../../components/money/cost-ceiling.ts'
import { Effect } from '../../components/effects/effect.ts'
import type { Failure } from '../../src/protocol/failure.ts'
import { ModelCall } from '../../components/effects/model-call.ts'
import { Outcome } from '../../components/effects/outcome.ts'
import { OwnedBy } from '../../components/effects/owned-by.ts'
import { Pending } from '../../components/effects/pending.ts'
import { AwaitingReply, SessionQuery } from '../../components/sessions/session-call.ts'
import { AwaitingApproval, Requested, ToolCall } from '../../components/agent/tool-call.ts'
import { Turn } from '../../components/agent/turn.ts'
import { Unread } from '../../components/agent/unread.ts'
import { ceilingMessage } from '../../src/rules/money/ceiling-message.ts'
import type { Entity } from '../../src/world/component.ts'
import type { World } from '../../src/world/world.ts'
import { endTurn } from '../agent/end-turn.ts'
import { takeRates } from './model-rates.ts'
import { openTurn } from '../agent/open-turn.ts'
import { collectResults } from '../agent/tool-results.ts'

/**
 * Lets agents that have spent as much as they may come to rest. That they have is seen where a call is charged and where
 * one begins; a latch remembers it. Takes what models cost, which agents under a ceiling wait for before their first step.
 *
 * Query: CostCeiling; Outcome. Writes: ModelRates, RatesAwaited, CostCeiling, Outcome, and what ending a turn writes.
 */
export const costCeiling = {
  name: 'cost-ceiling',
  priority: -10,
  wakes: [CostCeiling, [RatesCall, Outcome]],
  run(world: World): void {
    takeRates(world)
    // Who has come to rest is not looked at any more, however many have.
    const moving = [...world.query(CostCeiling, Turn), ...world.query(CostCeiling, Unread)]
    for (const agent of new Set(moving)) stopLatched(world, agent)
  },
}

const notRun = '[not run: cost ceiling reached]'

/**
 * Lets an agent that has reached a ceiling come to rest: nothing of it begins any more, what is in flight ends, and then
 * its turn. Its sessions run on within their grants.
 */
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

/** Only a `once` effect marks its beginning. Any other that is pending may have begun, and counts as if it had. */
function isUnbegun(world: World, call: Entity): boolean {
  if (world.has(call, Requested) || world.has(call, AwaitingApproval)) return true
  return world.has(call, Pending) && world.get(call, Effect)?.restart === 'once'
}

function answer(world: World, call: Entity): void {
  for (const token of [AwaitingReply, Requested, AwaitingApproval, Pending]) world.remove(call, token)
  for (const approval of world.referrers(ApprovalOf, call)) world.despawn(approval)
  const content = [{ type: 'text' as const, text: notRun }]
  world.add(call, Outcome({ ok: true, value: { content, isError: true } }))
}

function isAtWork(world: World, agent: Entity): boolean {
  return world
    .referrers(OwnedBy, agent)
    .some((owned) => world.has(owned, ToolCall) || (world.has(owned, ModelCall) && world.has(owned, Pending)))
}
