import { Archival } from '../../components/context/archival.ts'
import { Effect, Outcome, Pending } from '../../components/effects/effect.ts'
import { ModelRates, Rates, RatesCall } from '../../components/money/model-rates.ts'
import { RatesAwaited } from '../../components/agent/agent-tags.ts'
import { summaryModel } from '../../src/rules/context/archival-summary.ts'
import { ratesOf } from '../../src/rules/money/reservation.ts'
import { parsedAs, type Entity } from '../../src/world/component.ts'
import type { World } from '../../src/world/world.ts'
import { settled } from '../kit.ts'

/** Fetches a model's price, once a world. */
export function askRates(world: World, model: string): void {
  if (ratesOf(world, model) !== undefined) return
  const isAsked = world.entitiesWith(RatesCall).some((asked) => world.read(asked, RatesCall).model === model)
  if (isAsked) return
  world.spawn(RatesCall({ model }), Effect({ attempt: 1, kind: 'rates', restart: 'pure' }), Pending)
}

/** The price of the model of an agent with `Ceilings`; `undefined`: the agent is held until it is known. */
export function awaitRates(world: World, agent: Entity, model: string): Rates | undefined {
  // Summaries of archived turns may be another model's.
  const ofSummaries = summaryModel(world.get(agent, Archival)?.summary.model ?? null, model)
  if (ofSummaries !== model) askRates(world, ofSummaries)
  const rates = ratesOf(world, model)
  if (rates !== undefined) return rates
  askRates(world, model)
  world.add(agent, RatesAwaited)
  return undefined
}

/** Stores fetched prices and releases the waiting agents; those of another model ask again. */
export function takeRates(world: World): void {
  const calls = settled(world, RatesCall)
  if (calls.length === 0) return
  for (const call of calls) {
    const outcome = world.read(call, Outcome)
    const rates = outcome.ok ? parsedAs(Rates(), outcome.value) : undefined
    note(world, world.read(call, RatesCall).model, rates ?? { isPriced: false })
    world.despawn(call)
  }
  for (const agent of world.entitiesWith(RatesAwaited)) world.remove(agent, RatesAwaited)
}

function note(world: World, model: string, rates: Rates): void {
  const [holder = world.spawn(ModelRates({ models: {} }))] = world.entitiesWith(ModelRates)
  const { models } = world.read(holder, ModelRates)
  world.set(holder, ModelRates, { models: { ...models, [model]: rates } })
}
