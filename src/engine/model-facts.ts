import { Context } from '../../components/context.ts'
import type { Failure } from '../../components/failure.ts'
import type { CachePrice } from '../../components/last-call.ts'
import { SideCall } from '../../components/side-call.ts'
import type { TokenUsage } from '../../components/usage.ts'
import { promptTokensOf } from '../context/prompt-tokens.ts'
import { callerOf, modelCalledBy } from '../models/model-request.ts'
import type { PricedCall } from '../models/prices.ts'
import type { Entity } from '../world/component.ts'
import type { World } from '../world/world.ts'

/** What a call cost, and the context window of its model, as far as that is known. */
type Pricing = (model: string, usage: TokenUsage, dateMs: number) => Promise<PricedCall>

/** What a call's outcome brings along for whoever keeps its agent's context alive. Of other agents, and of side calls: nothing. */
export interface ModelFacts {
  /** Of a reply, where the agent weighs its cache and prices are known. */
  cachePrice(usage: TokenUsage): Promise<CachePrice | undefined>
  /** A failure with the context window that it passed, if it did and that is known. */
  failed(failure: Failure): Promise<Failure>
}

/** As the world is now. */
export function modelFacts(pricing: Pricing, world: World, effect: Entity): ModelFacts {
  const config = world.has(effect, SideCall) ? undefined : world.get(callerOf(world, effect), Context)
  const model = modelCalledBy(world, effect)
  return {
    async cachePrice(usage) {
      const tokens = promptTokensOf(usage)
      if (config?.compaction.cacheAware !== true || tokens === undefined) return undefined
      const [{ costNanoUsd: readNanoUsd }, { costNanoUsd: writeNanoUsd }] = await Promise.all([
        pricing(model, { input: 0, cacheRead: tokens }, world.dateMs),
        pricing(model, { input: 0, cacheWrite: tokens }, world.dateMs),
      ])
      return readNanoUsd === undefined || writeNanoUsd === undefined ? undefined : { readNanoUsd, writeNanoUsd }
    },
    async failed(failure) {
      if (config === undefined || failure.kind !== 'context-overflow') return failure
      const { contextWindow } = await pricing(model, {}, world.dateMs)
      return contextWindow === undefined ? failure : { ...failure, contextWindow }
    },
  }
}
