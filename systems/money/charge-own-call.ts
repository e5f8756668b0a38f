import { Archival } from '../../components/archival.ts'
import { Ceilings } from '../../components/ceilings.ts'
import { ModelCall } from '../../components/model-call.ts'
import { OwnedBy } from '../../components/owned-by.ts'
import { Reservation } from '../../components/reservation.ts'
import { TokenFactors } from '../../components/token-factors.ts'
import { modelCalledBy } from '../../src/models/model-request.ts'
import { promptTokensOf } from '../../src/context/prompt-tokens.ts'
import { rawTokensIfLong } from '../../src/context/request-tokens.ts'
import { noteCall } from '../../src/context/token-factor.ts'
import type { Entity } from '../../src/world/component.ts'
import type { World } from '../../src/world/world.ts'
import { chargeReply, type PricedReply } from './charge-call.ts'

/** Enters a step's call that has its reply, and notes how its provider counts tokens. */
export function chargeOwnCall(world: World, call: Entity, priced: PricedReply): void {
  chargeReply(world, call, priced)
  const promptTokens = promptTokensOf(priced.usage)
  if (promptTokens !== undefined) noteFactor(world, call, promptTokens)
}

/** Of agents whose tokens are estimated now and then: before a call under a ceiling, and of turns that are archived. */
function noteFactor(world: World, call: Entity, promptTokens: number): void {
  const { agent } = world.read(call, OwnedBy)
  if (!world.has(agent, Ceilings) && !world.has(agent, Archival)) return
  const { isOutdated, messages } = world.read(call, ModelCall)
  const known = world.get(call, Reservation)?.rawTokens
  // What was asked cannot be counted any more once the projection is another one.
  const raw = known ?? (isOutdated === true ? undefined : rawTokensIfLong(world, agent, messages))
  if (raw === undefined) return
  const model = modelCalledBy(world, call)
  const { models } = world.get(agent, TokenFactors) ?? { models: {} }
  const noted = noteCall(models[model], promptTokens, raw)
  if (noted !== undefined) world.set(agent, TokenFactors, { models: { ...models, [model]: noted } })
}
