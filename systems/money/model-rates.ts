import { Archival } from '../../components/archival.ts'
import { Effect } from '../../components/effect.ts'
import { ModelRates, Rates, RatesCall } from '../../components/model-rates.ts'
import { Outcome } from '../../components/outcome.ts'
import { Pending } from '../../components/pending.ts'
import { RatesAwaited } from '../../components/step-held.ts'
import { summaryModel } from '../../src/context/archival-summary.ts'
import { ratesOf } from '../../src/context/reservation.ts'
import type { Component, Entity } from '../../src/world/component.ts'
import { parsedAs } from '../../src/world/parsed-as.ts'
import type { World } from '../../src/world/world.ts'
import { holdStep } from '../hold-step.ts'
import { settled } from '../settled.ts'

/** Asks what a model costs, once a world. */
export function askRates(world: World, model: string): void {
  if (ratesOf(world, model) !== undefined) return
  const isAsked = holders(world, RatesCall).some((asked) => world.read(asked, RatesCall).model === model)
  if (isAsked) return
  world.spawn(RatesCall({ model }), Effect({ attempt: 1, kind: 'rates', restart: 'pure' }), Pending)
}

/** What the model of an agent costs that has `Ceilings`. `undefined`: it is held until that is known. */
export function awaitRates(world: World, agent: Entity, model: string): Rates | undefined {
  // Summaries of archived turns may be another model's.
  const ofSummaries = summaryModel(world.get(agent, Archival)?.summary.model ?? null, model)
  if (ofSummaries !== model) askRates(world, ofSummaries)
  const rates = ratesOf(world, model)
  if (rates !== undefined) return rates
  askRates(world, model)
  world.add(agent, RatesAwaited)
  holdStep(world, agent)
  return undefined
}

/** Takes what has come, and lets those go on that waited: whose model it was not asks again. */
export function takeRates(world: World): void {
  const calls = settled(world, RatesCall)
  if (calls.length === 0) return
  for (const call of calls) {
    const outcome = world.read(call, Outcome)
    const rates = outcome.ok ? parsedAs(Rates(), outcome.value) : undefined
    note(world, world.read(call, RatesCall).model, rates ?? { isPriced: false })
    world.despawn(call)
  }
  for (const agent of holders(world, RatesAwaited)) {
    world.remove(agent, RatesAwaited)
    holdStep(world, agent)
  }
}

function note(world: World, model: string, rates: Rates): void {
  const [holder = world.spawn(ModelRates({ models: {} }))] = holders(world, ModelRates)
  const { models } = world.read(holder, ModelRates)
  world.set(holder, ModelRates, { models: { ...models, [model]: rates } })
}

/**
 * Who has a component that is looked for once a model: straight from its column, since what bitECS follows costs time at
 * all that comes and goes.
 */
function holders(world: World, token: Component): readonly Entity[] {
  return world.core.state.holders(token)
}
