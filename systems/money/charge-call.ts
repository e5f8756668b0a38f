import { Ancestry } from '../../components/ancestry.ts'
import { Due } from '../../components/due.ts'
import type { Failure, FailureKind } from '../../components/failure.ts'
import { Outcome } from '../../components/outcome.ts'
import { SideCall } from '../../components/side-call.ts'
import { UsageBeside } from '../../components/usage-beside.ts'
import type { CallUsage, TokenUsage } from '../../components/usage.ts'
import { dearestCost } from '../../src/context/dearest-cost.ts'
import { rawTokens } from '../../src/context/estimate-tokens.ts'
import type { PricedReply } from '../../src/context/priced-reply.ts'
import { ratesOf } from '../../src/context/reservation.ts'
import { estimated, rawTokensOfCall } from '../../src/context/request-tokens.ts'
import { withAdded } from '../../src/context/with-added.ts'
import { callerOf, modelCalledBy } from '../../src/models/model-request.ts'
import type { Entity } from '../../src/world/component.ts'
import type { World } from '../../src/world/world.ts'
import { charge, keepsLedger } from './charge.ts'
import { refusalOf } from '../refusal-of.ts'
import { countCalls } from './count-calls.ts'

/** Failures of calls that were turned away: nothing was read, and nothing is paid. */
const turnedAway: ReadonlySet<FailureKind> = new Set([
  'budget-spent',
  'context-overflow',
  'cost-unknown',
  'invalid-request',
  'overloaded',
  'rate-limited',
  'unauthorized',
])

/** Enters a model call of an agent that keeps a ledger, once it has its reply. */
function chargeReply(world: World, call: Entity, priced: PricedReply): void {
  const { costNanoUsd, usage } = priced
  if (!isToldBy(usage)) return chargeUntold(world, call, priced)
  const agent = callerOf(world, call)
  if (world.has(call, SideCall)) noteBeside(world, agent, { calls: 1, costNanoUsd, ...usage })
  charge(world, agent, { call, costNanoUsd, model: modelCalledBy(world, call), usage })
}

/** Has a provider said how many tokens a call has used? */
export function isToldBy({ input, output }: TokenUsage): boolean {
  return input !== undefined || output !== undefined
}

/** Enters a call of whose tokens the provider said nothing: they are estimated. */
export function chargeUntold(world: World, call: Entity, { message, usage }: PricedReply): void {
  const agent = callerOf(world, call)
  const model = modelCalledBy(world, call)
  const output = estimated(world, agent, model, rawTokens(message))
  // A step that has its reply is counted as a call already.
  const calls = world.has(call, SideCall) ? 1 : 0
  chargeEstimate(world, call, { ...usage, input: promptTokens(world, call), output }, calls)
}

/**
 * Enters a model call that is settled, or that ends however far it had come, in the ledger of the agent that asked: a step
 * or a side call, once, before it goes. Without a reply that is one, what it has read is estimated.
 */
export function chargeCall(world: World, call: Entity): void {
  const outcome = world.get(call, Outcome)
  if (!keepsLedger(world, callerOf(world, call))) return
  // What it was at when it failed has been entered, and nothing was begun since then.
  if (outcome === undefined && world.has(call, Due)) return
  if (outcome?.ok === false && turnedAway.has(outcome.failure.kind)) return chargeRefused(world, call, outcome.failure)
  const reply = (outcome?.ok === true ? (outcome.value ?? {}) : {}) as Partial<PricedReply>
  const isWhole = reply.message?.role === 'assistant' && typeof reply.usage === 'object' && reply.usage !== null
  const problem = isWhole ? refusalOf(() => chargeReply(world, call, reply as PricedReply)) : 'it has none'
  if (problem !== undefined) chargeEstimate(world, call, { input: promptTokens(world, call) })
}

/** Enters a try of a model call that has failed and is made again: what it has read is estimated. */
export function chargeTry(world: World, call: Entity, { kind }: Failure): void {
  if (turnedAway.has(kind) || !keepsLedger(world, callerOf(world, call))) return
  chargeEstimate(world, call, { input: promptTokens(world, call) })
}

/** It was made, unless its agent's ceilings kept it from that, and cost nothing. */
function chargeRefused(world: World, call: Entity, { kind }: Failure): void {
  if (kind === 'budget-spent' || kind === 'cost-unknown') return
  charge(world, callerOf(world, call), { call, costNanoUsd: 0, model: modelCalledBy(world, call), usage: {} })
}

/** @param calls of which the agent's `Usage` does not know */
function chargeEstimate(world: World, call: Entity, usage: TokenUsage, calls = 1): void {
  const agent = callerOf(world, call)
  const model = modelCalledBy(world, call)
  const { input = 0, output = 0 } = usage
  const costNanoUsd = dearestCost(ratesOf(world, model), { input, output })
  noteBeside(world, agent, { calls, costNanoUsd, ...usage })
  charge(world, agent, { call, costNanoUsd, isEstimated: true, model, usage })
}

function noteBeside(world: World, agent: Entity, used: CallUsage): void {
  if (!world.has(agent, Ancestry)) return
  const before = world.get(agent, UsageBeside)
  world.set(agent, UsageBeside, before === undefined ? used : withAdded(before, used))
}

function promptTokens(world: World, call: Entity): number {
  const agent = callerOf(world, call)
  countCalls(world, agent)
  return estimated(world, agent, modelCalledBy(world, call), rawTokensOfCall(world, call))
}
