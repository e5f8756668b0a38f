import { Context, type ContextData } from '../../../components/context/context.ts'
import type { Failure } from '../../protocol/failure.ts'
import type { CachePrice } from '../../../components/context/last-call.ts'
import { SideCall } from '../../../components/effects/model-call.ts'
import type { TokenUsage } from '../../protocol/usage.ts'
import { promptTokensOf } from '../../rules/tokens/prompt-tokens.ts'
import { callerOf, modelCalledBy } from '../../rules/projection/model-request.ts'
import type { Prices } from '../../models/prices.ts'
import type { Entity } from '../../world/component.ts'
import type { World } from '../../world/world.ts'

/** Where prices are known: what a call cost, and the context window of its model. */
type Pricing = Pick<Prices, 'priced'>

/**
 * What a call's outcome brings along for whoever keeps its agent's context alive, as the world was when it began. Of other
 * agents, and of side calls: nothing.
 */
export class ModelFacts {
  readonly #world: World
  readonly #model: string
  readonly #context: ContextData | undefined

  constructor(world: World, effect: Entity) {
    this.#world = world
    this.#model = modelCalledBy(world, effect)
    this.#context = world.has(effect, SideCall) ? undefined : world.get(callerOf(world, effect), Context)
  }

  /** Of a reply, where the agent weighs its cache and prices are known. */
  cachePrice(usage: TokenUsage, host: Pricing): Promise<CachePrice | undefined> | undefined {
    const tokens = promptTokensOf(usage)
    if (this.#context?.compaction.cacheAware !== true || tokens === undefined) return undefined
    return this.#cachePriceOf(tokens, host)
  }

  async #cachePriceOf(tokens: number, host: Pricing): Promise<CachePrice | undefined> {
    const { dateMs } = this.#world
    const [{ costNanoUsd: readNanoUsd }, { costNanoUsd: writeNanoUsd }] = await Promise.all([
      host.priced(this.#model, { input: 0, cacheRead: tokens }, dateMs),
      host.priced(this.#model, { input: 0, cacheWrite: tokens }, dateMs),
    ])
    return readNanoUsd === undefined || writeNanoUsd === undefined ? undefined : { readNanoUsd, writeNanoUsd }
  }

  /** A failure with the context window that it passed, if it did and that is known. */
  async failed(failure: Failure, host: Pricing): Promise<Failure> {
    if (this.#context === undefined || failure.kind !== 'context-overflow') return failure
    const { contextWindow } = await host.priced(this.#model, {}, this.#world.dateMs)
    return contextWindow === undefined ? failure : { ...failure, contextWindow }
  }
}
