import { Ceilings } from '../../components/money/ceilings.ts'
import { Context } from '../../components/context/context.ts'
import { Metered } from '../../components/money/metered.ts'
import { Ancestry } from '../../components/sessions/ancestry.ts'
import type { Failure, FailureKind } from '../../src/protocol/failure.ts'
import { Outcome, OwnedBy, Pending } from '../../components/effects/effect.ts'
import { Llm } from '../../components/agent/llm.ts'
import { SideCall } from '../../components/effects/model-call.ts'
import { Usage, UsageBeside } from '../../components/money/usage.ts'
import type { CallUsage, TokenUsage } from '../../src/protocol/usage.ts'
import { rawTokens } from '../../src/rules/tokens/estimate-tokens.ts'
import type { PricedReply } from '../../src/rules/money/call-cost.ts'
import { estimated, rawTokensOfCall } from '../../src/rules/tokens/request-tokens.ts'
import { dearestCost, ratesOf } from '../../src/rules/money/reservation.ts'
import { withAdded } from '../../src/rules/tokens/token-counts.ts'
import { callerOf } from '../../src/rules/projection/project.ts'
import type { Entity } from '../../src/world/component.ts'
import { adopt } from '../../src/world/made.ts'
import type { World } from '../../src/world/world.ts'
import { charge } from './charge.ts'
import { countCalls } from './count-calls.ts'
import { nextTry } from '../agent/retry.ts'
import { refusalOf } from '../kit.ts'

/** Failures of calls that the provider did not process: they cost nothing. */
const turnedAway: ReadonlySet<FailureKind> = new Set([
  'budget-spent',
  'context-overflow',
  'cost-unknown',
  'invalid-request',
  'overloaded',
  'rate-limited',
  'unauthorized',
])

/** Charges a settled model call. Without a valid reply, its prompt is estimated. */
export function chargeSettled(world: World, call: Entity): void {
  const outcome = world.read(call, Outcome)
  if (!outcome.ok) return chargeFailed(world, call, outcome.failure)
  const reply = (outcome.value ?? {}) as Partial<PricedReply>
  const isReply = reply.message?.role === 'assistant' && typeof reply.usage === 'object' && reply.usage !== null
  const problem = isReply ? refusalOf(() => chargeReply(world, call, reply as PricedReply)) : 'it is none'
  if (problem !== undefined) chargePrompt(world, call)
}

/** Ends a model call. A running one is charged for its estimated prompt: no later tick sees it. */
export function endCall(world: World, call: Entity): void {
  // A call that waits for its next try has been charged, and has begun nothing since.
  if (world.has(call, Pending)) chargePrompt(world, call)
  world.despawn(call)
}

/** Counts the cost of a model call as unknown that is in flight when its session is stopped. It stays, to be made again. */
export function chargeStopped(world: World, call: Entity): void {
  if (!world.has(call, Pending)) return
  const agent = callerOf(world, call)
  const cut = { calls: 0, costUnknown: 1 }
  noteBeside(world, agent, cut)
  charge(world, agent, { ...cut, call, model: modelOf(world, call), usage: {} })
}

function chargeReply(world: World, call: Entity, { costNanoUsd, message, usage }: PricedReply): void {
  const side = world.get(call, SideCall)
  const agent = side?.agent ?? world.read(call, OwnedBy).agent
  const model = side?.model ?? world.get(agent, Llm)?.model ?? ''
  const isSide = side !== undefined
  if (usage.input !== undefined || usage.output !== undefined) {
    if (isSide) noteBeside(world, agent, { calls: 1, costNanoUsd, ...usage })
    return charge(world, agent, { call, costNanoUsd, model, usage })
  }
  // The `Usage` of the agent counts a step that has its reply.
  const calls = isSide ? 1 : 0
  if (!isEstimated(world, agent)) return chargeEstimate(world, call, usage, calls)
  const output = estimated(world, agent, model, rawTokens(message))
  chargeEstimate(world, call, { ...usage, input: promptTokens(world, call), output }, calls)
}

/** A rejected call counts once it is not retried, unless the agent's ceilings prevented it. */
function chargeFailed(world: World, call: Entity, failure: Failure): void {
  const { kind } = failure
  if (!turnedAway.has(kind)) return chargePrompt(world, call)
  const isUnmade = kind === 'budget-spent' || kind === 'cost-unknown'
  if (isUnmade || nextTry(world, call, failure) !== undefined) return
  charge(world, callerOf(world, call), { call, costNanoUsd: 0, model: modelOf(world, call), usage: {} })
}

function chargePrompt(world: World, call: Entity): void {
  chargeEstimate(world, call, isEstimated(world, callerOf(world, call)) ? { input: promptTokens(world, call) } : {})
}

/** Are tokens that the provider did not report estimated? Only where something is decided by them. */
function isEstimated(world: World, agent: Entity): boolean {
  return world.has(agent, Context) || world.has(agent, Ceilings) || world.has(agent, Metered)
}

/** @param calls not counted by the agent's `Usage` */
function chargeEstimate(world: World, call: Entity, usage: TokenUsage, calls = 1): void {
  const agent = callerOf(world, call)
  const model = modelOf(world, call)
  const { input = 0, output = 0 } = usage
  const costNanoUsd = dearestCost(ratesOf(world, model), { input, output })
  const callsBeside = world.has(call, SideCall) ? calls : 0
  const isUnknown = callsBeside > 0 && { costUnknown: callsBeside }
  noteBeside(world, agent, { calls: callsBeside, costNanoUsd, ...isUnknown, ...usage })
  charge(world, agent, { call, costNanoUsd, isEstimated: true, model, usage })
  // Behind the charge: the ledger of an agent that was saved without one begins with what it had used before.
  if (calls > callsBeside) countOwn(world, agent, { calls })
}

/** Counts own calls of an agent, with what is known of them. */
export function countOwn(world: World, agent: Entity, used: CallUsage): void {
  adopt(world, agent, Usage, withAdded(world.get(agent, Usage) ?? { calls: 0 }, used), 1)
}

/** In a session: keeps the usage besides steps, for which the parent is charged. */
function noteBeside(world: World, agent: Entity, used: CallUsage): void {
  if (!world.has(agent, Ancestry)) return
  const before = world.get(agent, UsageBeside)
  world.set(agent, UsageBeside, before === undefined ? used : withAdded(before, used))
}

/** Empty for an agent that has lost its `Llm` meanwhile: it pays for its last call all the same. */
function modelOf(world: World, call: Entity): string {
  return world.get(call, SideCall)?.model ?? world.get(callerOf(world, call), Llm)?.model ?? ''
}

function promptTokens(world: World, call: Entity): number {
  const agent = callerOf(world, call)
  countCalls(world, agent)
  return estimated(world, agent, modelOf(world, call), rawTokensOfCall(world, call))
}
