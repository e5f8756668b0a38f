import { Ceilings } from '../../../components/money/ceilings.ts'
import { Llm, type LlmData } from '../../../components/agent/llm.ts'
import { ModelCall, SideCall } from '../../../components/effects/model-call.ts'
import { ModelRates, type Rates } from '../../../components/money/model-rates.ts'
import { Outcome, OwnedBy } from '../../../components/effects/effect.ts'
import {
  estimated,
  greatestFactor,
  mostTokensOfCall,
  mostTokensOfStep,
  rawTokensOfCall,
  rawTokensOfStep,
} from '../tokens/request-tokens.ts'
import type { Entity } from '../../world/component.ts'
import type { World } from '../../world/world.ts'

/** A model's price, if this world has fetched it. At most one entity holds the prices. */
export function ratesOf(world: World, model: string): Rates | undefined {
  // Not by a query: bitECS would keep it up to date for one entity.
  const [holder] = world.entitiesWith(ModelRates)
  const models = holder === undefined ? undefined : world.read(holder, ModelRates).models
  return models !== undefined && Object.hasOwn(models, model) ? models[model] : undefined
}

/**
 * The most that running calls of an agent with `Ceilings` may cost, in billionths of a US dollar: the prompt at the
 * highest rate, and the longest output. A model without a price adds nothing.
 */
export function reservedForCalls(world: World, agent: Entity): number {
  return sumOfCalls(world, agent, false)
}

/** An upper bound of that, without counting tokens. */
export function mostReservedForCalls(world: World, agent: Entity): number {
  return sumOfCalls(world, agent, true)
}

/** An upper bound of a step's cost; `undefined` if its model has no price. */
export function mostReservedForStep(world: World, agent: Entity, messages: number, rates: Rates): number | undefined {
  if (!rates.isPriced) return undefined
  const input = greatestFactor * mostTokensOfStep(world, agent, messages)
  return dearestCost(rates, { input, output: outputLimit(world.read(agent, Llm)) })
}

/** @param isBound use an upper bound instead of counting tokens */
function sumOfCalls(world: World, agent: Entity, isBound: boolean): number {
  if (!world.has(agent, Ceilings)) return 0
  let sum = 0
  for (const owned of world.referrers(OwnedBy, agent)) {
    if (world.has(owned, ModelCall)) sum += mostCostOfStep(world, agent, owned, isBound)
  }
  if (!world.isReferred(SideCall, agent)) return sum
  for (const call of world.referrers(SideCall, agent)) sum += mostCostOfSideCall(world, agent, call, isBound)
  return sum
}

/** Settled calls reserve nothing. */
function mostCostOfStep(world: World, agent: Entity, call: Entity, isBound: boolean): number {
  if (world.has(call, Outcome)) return 0
  const { messages } = world.read(call, ModelCall)
  const llm = world.read(agent, Llm)
  const rates = ratesOf(world, llm.model)
  if (rates?.isPriced !== true) return 0
  if (isBound) return mostReservedForStep(world, agent, messages, rates) ?? 0
  const input = estimated(world, agent, llm.model, rawTokensOfStep(world, agent, messages))
  return dearestCost(rates, { input, output: outputLimit(llm) }) ?? 0
}

function mostCostOfSideCall(world: World, agent: Entity, call: Entity, isBound: boolean): number {
  if (world.has(call, Outcome)) return 0
  const { maxOutputTokens, model } = world.read(call, SideCall)
  const rates = ratesOf(world, model)
  if (rates?.isPriced !== true) return 0
  const input = isBound
    ? greatestFactor * mostTokensOfCall(world, call)
    : estimated(world, agent, model, rawTokensOfCall(world, call))
  return dearestCost(rates, { input, output: maxOutputTokens }) ?? 0
}

function outputLimit({ maxOutputTokens, thinking }: LlmData): number {
  return maxOutputTokens ?? assumedOutputTokens + (typeof thinking === 'number' ? thinking : 0)
}

/** Assumed longest output of a call without a limit, in tokens. */
export const assumedOutputTokens = 32_000

const million = 1_000_000

/** The most that a call of these tokens costs, in whole billionths of a US dollar; `undefined` without a price. */
export function dearestCost(
  rates: Rates | undefined,
  { input, output }: { readonly input: number; readonly output: number },
): number | undefined {
  if (rates?.isPriced !== true) return undefined
  const { inputNanoUsdPerMillion, outputNanoUsdPerMillion } = rates
  const cost = Math.ceil((input * inputNanoUsdPerMillion + output * outputNanoUsdPerMillion) / million)
  return Math.min(cost, Number.MAX_SAFE_INTEGER)
}
