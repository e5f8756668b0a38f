import { Ceilings } from '../../components/ceilings.ts'
import { Llm } from '../../components/llm.ts'
import { ModelCall } from '../../components/model-call.ts'
import { ModelRates, type Rates } from '../../components/model-rates.ts'
import { Outcome } from '../../components/outcome.ts'
import { OwnedBy } from '../../components/owned-by.ts'
import { SideCall } from '../../components/side-call.ts'
import { callerOf, modelCalledBy } from '../models/model-request.ts'
import type { DataOf, Entity } from '../world/component.ts'
import type { World } from '../world/world.ts'
import { assumedOutputTokens, dearestCost } from './dearest-cost.ts'
import { estimated, mostTokensOfCall, rawTokensOfCall } from './request-tokens.ts'
import { greatestFactor } from './token-factor.ts'

/** Who has what models cost, in each World: there is one at most. Only a shortcut. */
const holders = new WeakMap<World, Entity>()

/** What a model costs, as far as this world has asked. */
export function ratesOf(world: World, model: string): Rates | undefined {
  const holder = holders.get(world)
  const models = (holder === undefined ? undefined : world.get(holder, ModelRates)?.models) ?? lookedUp(world)
  return models !== undefined && Object.hasOwn(models, model) ? models[model] : undefined
}

function lookedUp(world: World): DataOf<() => typeof ModelRates.schema>['models'] | undefined {
  const [holder] = world.query(ModelRates)
  if (holder === undefined) return undefined
  holders.set(world, holder)
  return world.read(holder, ModelRates).models
}

/**
 * What the calls in flight of an agent that has `Ceilings` may cost at most, in billionths of a US dollar: the prompt at the
 * dearest rate, and as much output as the model may write. A model without a price adds nothing.
 */
export function reservedForCalls(world: World, agent: Entity): number {
  return sumOfCalls(world, agent, (call, model) => estimated(world, agent, model, rawTokensOfCall(world, call)))
}

/** No less than that, at the price of a look at what is new: no tokens are counted. */
export function mostReservedForCalls(world: World, agent: Entity): number {
  return sumOfCalls(world, agent, (call) => greatestFactor * mostTokensOfCall(world, call))
}

function sumOfCalls(world: World, agent: Entity, inputOf: (call: Entity, model: string) => number): number {
  if (!world.has(agent, Ceilings)) return 0
  let sum = 0
  for (const owned of world.referrers(OwnedBy, agent)) {
    if (world.has(owned, ModelCall)) sum += mostCostOf(world, owned, inputOf)
  }
  for (const call of world.referrers(SideCall, agent)) sum += mostCostOf(world, call, inputOf)
  return sum
}

/** Of a call that is settled: nothing is set aside for it any more. */
function mostCostOf(world: World, call: Entity, inputOf: (call: Entity, model: string) => number): number {
  if (world.has(call, Outcome)) return 0
  const model = modelCalledBy(world, call)
  const rates = ratesOf(world, model)
  if (rates?.isPriced !== true) return 0
  return dearestCost(rates, { input: inputOf(call, model), output: outputLimit(world, call) }) ?? 0
}

function outputLimit(world: World, call: Entity): number {
  const side = world.get(call, SideCall)
  if (side !== undefined) return side.maxOutputTokens
  const { maxOutputTokens, thinking } = world.read(callerOf(world, call), Llm)
  return maxOutputTokens ?? assumedOutputTokens + (typeof thinking === 'number' ? thinking : 0)
}
