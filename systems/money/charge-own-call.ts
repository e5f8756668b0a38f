import { Ledger } from '../../components/ledger.ts'
import { ModelCall } from '../../components/model-call.ts'
import { type CallUsage, Usage } from '../../components/usage.ts'
import { closed, isOpenTo } from '../../src/context/ledger-entry.ts'
import type { PricedReply } from '../../src/context/priced-reply.ts'
import { promptTokensOf } from '../../src/context/prompt-tokens.ts'
import type { Entity } from '../../src/world/component.ts'
import type { World } from '../../src/world/world.ts'
import { chargeReply } from './charge-call.ts'
import { noteOwnCall } from './count-calls.ts'
import { tripIfReached } from './trip-if-reached.ts'

/** A step's call that has its reply. */
export interface OwnCall {
  readonly agent: Entity
  readonly call: Entity
  readonly model: string
  readonly priced: PricedReply
}

/**
 * Makes an agent's ledger ready for a call of which its `Usage` does not know yet. True: the call is entered together with
 * others, by what `Usage` grows by. False: all that was open is entered.
 */
export function openLedger(world: World, { agent, model, priced }: OwnCall): boolean {
  const ledger = world.get(agent, Ledger)
  if (ledger?.open === undefined) return false
  const { costNanoUsd, usage } = priced
  if (isOpenTo(ledger, world.get(agent, Usage), { costNanoUsd, model, usage })) return true
  closeLedger(world, agent)
  return false
}

/**
 * Enters the own calls that were to be entered together.
 *
 * @param usage of the agent, with those calls and no other. @default as it is
 */
export function closeLedger(world: World, agent: Entity, usage?: CallUsage): void {
  const ledger = world.get(agent, Ledger)
  if (ledger?.open !== undefined) world.set(agent, Ledger, closed(ledger, usage ?? world.get(agent, Usage)))
}

/** Enters a step's call, and notes how its provider counts tokens. */
export function chargeOwnCall(world: World, { agent, call, model, priced }: OwnCall, isOpen: boolean): void {
  if (isOpen) tripIfReached(world, agent)
  else chargeReply(world, call, priced, true)
  const promptTokens = promptTokensOf(priced.usage)
  const { isOutdated, messages } = world.read(call, ModelCall)
  // What was asked cannot be counted any more once the projection is another one.
  if (promptTokens === undefined || isOutdated === true) return
  noteOwnCall(world, agent, { messages, model, promptTokens })
}
