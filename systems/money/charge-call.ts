import { Due } from '../../components/due.ts'
import type { Failure, FailureKind } from '../../components/failure.ts'
import { Outcome } from '../../components/outcome.ts'
import { Reservation } from '../../components/reservation.ts'
import type { TokenUsage } from '../../components/usage.ts'
import { dearestCost } from '../../src/context/dearest-cost.ts'
import { rawTokens } from '../../src/context/estimate-tokens.ts'
import { estimated, rawTokensOfCall } from '../../src/context/request-tokens.ts'
import { callerOf, modelCalledBy } from '../../src/models/model-request.ts'
import type { ModelReply } from '../../src/models/port.ts'
import type { Entity } from '../../src/world/component.ts'
import type { World } from '../../src/world/world.ts'
import { charge, keepsLedger } from '../charge.ts'
import { refusalOf } from '../refusal-of.ts'
import { ratesOf } from './model-rates.ts'

/** A reply, with what it cost and what its model's window holds, as far as that is known. */
export type PricedReply = ModelReply & { readonly costNanoUsd?: number; readonly contextWindow?: number }

/** Failures of calls that a provider has turned away: nothing was read, and nothing is paid. */
const turnedAway: ReadonlySet<FailureKind> = new Set([
  'budget-spent',
  'context-overflow',
  'cost-unknown',
  'invalid-request',
  'overloaded',
  'rate-limited',
  'unauthorized',
])

/**
 * Enters a model call that is settled with its reply in the ledger of the agent that asked, once: a step, or a side call.
 * Where the provider said nothing of tokens they are estimated.
 */
export function chargeReply(world: World, call: Entity, { costNanoUsd, message, usage }: PricedReply): void {
  const agent = callerOf(world, call)
  if (!keepsLedger(world, agent)) return
  const model = modelCalledBy(world, call)
  if (usage.input !== undefined || usage.output !== undefined) {
    return charge(world, agent, { call, costNanoUsd, model, usage })
  }
  const output = estimated(world, agent, model, rawTokens(message))
  chargeEstimate(world, call, { ...usage, input: promptTokens(world, call), output })
}

/**
 * Enters a try of a model call that has failed: what it has read is estimated. One that was turned away counts when it was
 * the last, and for nothing.
 */
export function chargeFailure(world: World, call: Entity, { kind }: Failure): void {
  const agent = callerOf(world, call)
  if (!keepsLedger(world, agent)) return
  if (!turnedAway.has(kind)) return chargeEstimate(world, call, { input: promptTokens(world, call) })
  const isLast = !world.has(call, Due)
  const wasMade = kind !== 'budget-spent' && kind !== 'cost-unknown'
  if (isLast && wasMade) charge(world, agent, { call, costNanoUsd: 0, model: modelCalledBy(world, call), usage: {} })
}

/** Enters a model call that ends before its reply was taken, however far it had come, or whose reply is malformed. */
export function chargeCall(world: World, call: Entity): void {
  const outcome = world.get(call, Outcome)
  if (outcome?.ok === false) return chargeFailure(world, call, outcome.failure)
  if (outcome === undefined && world.has(call, Due)) return undefined
  const reply = (outcome?.value ?? {}) as Partial<PricedReply>
  if (!keepsLedger(world, callerOf(world, call))) return undefined
  const isWhole = reply.message?.role === 'assistant' && typeof reply.usage === 'object' && reply.usage !== null
  const problem = isWhole ? refusalOf(() => chargeReply(world, call, reply as PricedReply)) : 'it has none'
  if (problem !== undefined) chargeEstimate(world, call, { input: promptTokens(world, call) })
}

function chargeEstimate(world: World, call: Entity, usage: TokenUsage): void {
  const agent = callerOf(world, call)
  const model = modelCalledBy(world, call)
  const { input = 0, output = 0 } = usage
  const costNanoUsd = dearestCost(ratesOf(world, model), { input, output })
  charge(world, agent, { call, costNanoUsd, isEstimated: true, model, usage })
}

function promptTokens(world: World, call: Entity): number {
  const raw = world.get(call, Reservation)?.rawTokens ?? rawTokensOfCall(world, call)
  return estimated(world, callerOf(world, call), modelCalledBy(world, call), raw)
}
