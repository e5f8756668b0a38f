import type { Failure, OutcomeData } from '../../protocol/failure.ts'
import type { CachePrice } from '../../../components/context/last-call.ts'
import { SideCall } from '../../../components/effects/model-call.ts'
import { Context, type ContextData } from '../../../components/context/context.ts'
import type { TokenUsage } from '../../protocol/usage.ts'
import type { PricedReply } from '../../rules/money/call-cost.ts'
import { parseModel } from '../../protocol/model-name.ts'
import type {
  ModelContext,
  ModelDelta,
  ModelOutcome,
  ModelProvider,
  ModelReply,
  ModelRequest,
} from '../../models/port.ts'
import { modelCalledBy, callToModel } from '../../rules/projection/project.ts'
import type { PricedCall, Prices } from '../../models/prices.ts'
import { providerDefaults, sizeOfDelta, tooLong } from '../../models/reply-bound.ts'
import { maxRetryAfterMsOf, retryPolicyOf } from '../../rules/projection/host-facts.ts'
import { promptTokensOf, readCounts, type TokenCounts } from '../../rules/tokens/token-counts.ts'
import type { Entity } from '../../world/component.ts'
import type { World } from '../../world/world.ts'
import type { EffectContext, EffectKind } from './effect-kind.ts'

export interface ModelHost {
  provider(name: string): ModelProvider
  readonly priced: Prices['priced']
  hold(name: string, durationMs: number): number
}

/** Model calls: the request is projected from the world at the start, and the reply streamed to listeners. */
export function modelEffect(host: ModelHost): EffectKind {
  return {
    queue: (world, effect) => parseModel(modelCalledBy(world, effect)).provider,
    prepare(world, effect) {
      const call = new CallOfModel(host, world, effect)
      return (context) => call.make(context)
    },
  }
}

class CallOfModel {
  readonly #host: ModelHost
  readonly #world: World
  readonly #effect: Entity
  readonly #agent: Entity
  readonly #model: string
  readonly #request: ModelRequest
  /** A call beside the conversation is not streamed. */
  readonly #isSideCall: boolean
  readonly #context: ContextData | undefined
  readonly #maxRetryAfterMs: number
  #deltas = 0
  #sizeBytes = 0

  constructor(host: ModelHost, world: World, effect: Entity) {
    this.#host = host
    this.#world = world
    this.#effect = effect
    const { agent, model, request } = callToModel(world, effect)
    this.#agent = agent
    this.#model = model
    this.#request = request
    this.#isSideCall = world.has(effect, SideCall)
    this.#context = this.#isSideCall ? undefined : world.get(this.#agent, Context)
    this.#maxRetryAfterMs = maxRetryAfterMsOf(retryPolicyOf(world, this.#agent, this.#model))
  }

  async make(context: EffectContext): Promise<OutcomeData> {
    const { provider } = parseModel(this.#model)
    const outcome = await this.#call(provider, context)
    if (this.#deltas > 0 && (!outcome.ok || context.isAborted)) {
      context.emit({ type: 'model-discarded', ...this.#place(context) })
    }
    if (!outcome.ok) {
      const failure = withBoundedWait(outcome.failure, this.#maxRetryAfterMs)
      hold(this.#host, provider, failure, this.#world, context)
      return { ok: false, failure: await this.#withWindow(failure) }
    }
    const { usage, oddCounts } = countsOf(outcome.value)
    if (oddCounts !== undefined) {
      context.emit({ type: 'usage-dropped', ...this.#place(context), model: this.#model, counts: oddCounts })
    }
    const priced = this.#host.priced(this.#model, usage, this.#world.dateMs)
    const known = priced instanceof Promise ? await priced : priced
    const cachePrice = this.#cachePrice(usage)
    return settled({ ...outcome.value, usage }, this.#model, { ...known, cachePrice: cachePrice && (await cachePrice) })
  }

  /** Calls the provider. Ends the call once its reply is too long, even if the provider ignores the signal. */
  #call(name: string, context: EffectContext): Promise<ModelOutcome> {
    const { attempt, key, sleep } = context
    const provider = this.#host.provider(name)
    const { maxReplyBytes = providerDefaults.maxReplyBytes } = provider
    return new Promise((resolve, reject) => {
      const onDelta = (delta: ModelDelta): void => {
        if (this.#sizeBytes > maxReplyBytes) return
        this.#sizeBytes += sizeOfDelta(delta)
        if (this.#sizeBytes <= maxReplyBytes) return this.#hear(delta, context)
        const failure = tooLong(name, maxReplyBytes)
        // Before the abort, whose failure the provider reports.
        resolve({ ok: false, failure })
        context.breakOff(failure.message)
      }
      const given: ModelContext = {
        attempt,
        key,
        onDelta,
        get signal() {
          return context.signal
        },
        sleep,
      }
      provider.call(this.#request, given).then(resolve, reject)
    })
  }

  #hear(delta: ModelDelta, context: EffectContext): void {
    if (!this.#isSideCall) context.emit({ type: 'model-delta', ...this.#place(context), index: this.#deltas++, delta })
  }

  #place({ attempt }: EffectContext) {
    return { world: this.#world.name, agent: this.#agent, effect: this.#effect, attempt }
  }

  /** What the prompt costs to read from the cache and to write to it, where the agent weighs that and prices are known. */
  #cachePrice(usage: TokenUsage): Promise<CachePrice | undefined> | undefined {
    const tokens = promptTokensOf(usage)
    if (this.#context?.compaction.cacheAware !== true || tokens === undefined) return undefined
    return this.#cachePriceOf(tokens)
  }

  async #cachePriceOf(tokens: number): Promise<CachePrice | undefined> {
    const { dateMs } = this.#world
    const [{ costNanoUsd: readNanoUsd }, { costNanoUsd: writeNanoUsd }] = await Promise.all([
      this.#host.priced(this.#model, { input: 0, cacheRead: tokens }, dateMs),
      this.#host.priced(this.#model, { input: 0, cacheWrite: tokens }, dateMs),
    ])
    return readNanoUsd === undefined || writeNanoUsd === undefined ? undefined : { readNanoUsd, writeNanoUsd }
  }

  async #withWindow(failure: Failure): Promise<Failure> {
    if (this.#context === undefined || failure.kind !== 'context-overflow') return failure
    const { contextWindow } = await this.#host.priced(this.#model, {}, this.#world.dateMs)
    return contextWindow === undefined ? failure : { ...failure, contextWindow }
  }
}

/** Drops a wait that is negative or NaN. A wait beyond the bound makes the failure final. */
function withBoundedWait({ retryAfterMs: asked, ...failure }: Failure, maxRetryAfterMs: number): Failure {
  if (asked === undefined || !(asked >= 0)) return failure
  // A World holds no infinite numbers.
  const retryAfterMs = Math.min(asked, Number.MAX_SAFE_INTEGER)
  if (retryAfterMs <= maxRetryAfterMs) return { ...failure, retryAfterMs }
  const message =
    `${failure.message} It asks for a wait of ${retryAfterMs / 1_000} s; the longest that is waited for is ` +
    `${maxRetryAfterMs / 1_000} s (maxRetryAfterMs of the retry policy), so the call is not tried again.`
  return { ...failure, isFinal: true, message, retryAfterMs }
}

/** A provider that asks for a pause gets it from all its callers. */
function hold(host: ModelHost, provider: string, failure: Failure, world: World, { emit }: EffectContext): void {
  // A wait beyond the bound holds nothing: later callers fail at once as well.
  if (failure.isFinal === true || failure.retryAfterMs === undefined || failure.retryAfterMs <= 0) return
  const untilMs = host.hold(provider, failure.retryAfterMs)
  emit({ type: 'provider-held', world: world.name, provider, untilMs })
}

/** The token counts of a reply. A usage that is no object is refused later. */
function countsOf({ usage, oddCounts }: ModelReply): TokenCounts {
  if (typeof usage !== 'object' || usage === null) return { usage, oddCounts }
  const counts = readCounts(usage)
  return oddCounts === undefined ? counts : { ...counts, oddCounts: { ...counts.oddCounts, ...oddCounts } }
}

type Priced = PricedCall & { readonly cachePrice: CachePrice | undefined }

/** The outcome has the message's model, and price and window, so that a replay under other prices is the same. */
function settled({ message, stop, usage }: ModelReply, model: string, priced: Priced): OutcomeData {
  const { cachePrice, costNanoUsd, contextWindow } = priced
  const value: { -readonly [K in keyof PricedReply]?: PricedReply[K] } = {}
  if (cachePrice !== undefined) value.cachePrice = cachePrice
  if (contextWindow !== undefined) value.contextWindow = contextWindow
  if (costNanoUsd !== undefined) value.costNanoUsd = costNanoUsd
  const { content, extra } = message
  value.message = { content, ...(extra !== undefined && { extra }), model, role: 'assistant' }
  value.stop = stop
  value.usage = usage
  return { ok: true, value }
}
