import type { PricedReply } from '../../src/context/priced-reply.ts'
import { promptTokensOf } from '../../src/context/prompt-tokens.ts'
import type { Entity } from '../../src/world/component.ts'
import type { World } from '../../src/world/world.ts'
import { enter, keepsLedger } from './charge.ts'
import { chargeUntold, isToldBy } from './charge-call.ts'
import { noteOwnCall } from './count-calls.ts'

/** A step's call that has its reply. */
export interface OwnCall {
  readonly agent: Entity
  readonly call: Entity
  /** The projection was rewritten after it began. */
  readonly isOutdated: true | undefined
  /** How many messages it answered. */
  readonly messages: number
  readonly model: string
  readonly priced: PricedReply
}

/** Enters a step's call, and notes how its provider counts tokens. */
export function chargeOwnCall(world: World, own: OwnCall): void {
  const { agent, call, isOutdated, messages, model, priced } = own
  const { costNanoUsd, usage } = priced
  if (keepsLedger(world, agent)) {
    if (isToldBy(usage)) enter(world, agent, { call, costNanoUsd, model, usage })
    else chargeUntold(world, call, priced)
  }
  const promptTokens = promptTokensOf(usage)
  // What was asked cannot be counted any more once the projection is another one.
  if (promptTokens === undefined || isOutdated === true) return
  noteOwnCall(world, agent, { messages, model, promptTokens })
}
