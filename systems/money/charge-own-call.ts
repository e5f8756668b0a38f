import { ModelCall } from '../../components/model-call.ts'
import type { PricedReply } from '../../src/context/priced-reply.ts'
import { promptTokensOf } from '../../src/context/prompt-tokens.ts'
import type { Entity } from '../../src/world/component.ts'
import type { World } from '../../src/world/world.ts'
import { chargeReply } from './charge-call.ts'
import { noteOwnCall } from './count-calls.ts'

/** A step's call that has its reply. */
export interface OwnCall {
  readonly agent: Entity
  readonly call: Entity
  readonly model: string
  readonly priced: PricedReply
}

/** Enters a step's call, and notes how its provider counts tokens. */
export function chargeOwnCall(world: World, { agent, call, model, priced }: OwnCall): void {
  chargeReply(world, call, priced)
  const promptTokens = promptTokensOf(priced.usage)
  const { isOutdated, messages } = world.read(call, ModelCall)
  // What was asked cannot be counted any more once the projection is another one.
  if (promptTokens === undefined || isOutdated === true) return
  noteOwnCall(world, agent, { messages, model, promptTokens })
}
