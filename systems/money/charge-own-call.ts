import { ModelCall } from '../../components/model-call.ts'
import { OwnedBy } from '../../components/owned-by.ts'
import { promptTokensOf } from '../../src/context/prompt-tokens.ts'
import { modelCalledBy } from '../../src/models/model-request.ts'
import type { Entity } from '../../src/world/component.ts'
import type { World } from '../../src/world/world.ts'
import { chargeReply, type PricedReply } from './charge-call.ts'
import { noteOwnCall } from './count-calls.ts'

/** Enters a step's call that has its reply, and notes how its provider counts tokens. */
export function chargeOwnCall(world: World, call: Entity, priced: PricedReply): void {
  chargeReply(world, call, priced)
  const promptTokens = promptTokensOf(priced.usage)
  const { isOutdated, messages } = world.read(call, ModelCall)
  // What was asked cannot be counted any more once the projection is another one.
  if (promptTokens === undefined || isOutdated === true) return
  noteOwnCall(world, world.read(call, OwnedBy).agent, { messages, model: modelCalledBy(world, call), promptTokens })
}
