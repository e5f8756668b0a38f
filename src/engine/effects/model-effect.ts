import type { Failure, OutcomeData } from '../../protocol/failure.ts'
import type { CachePrice } from '../../../components/context/last-call.ts'
import { SideCall } from '../../../components/effects/model-call.ts'
import type { PricedReply } from '../../rules/money/priced-reply.ts'
import { parseModel } from '../../rules/projection/model-name.ts'
import type { ModelDelta, ModelOutcome, ModelProvider, ModelReply, ModelRequest } from '../../models/port.ts'
import { callerOf, modelCalledBy, requestOf } from '../../rules/projection/model-request.ts'
import type { PricedCall, Prices } from '../../models/prices.ts'
import { providerDefaults, sizeOfDelta, tooLong } from '../../rules/projection/reply-bound.ts'
import { maxRetryAfterMsOf, retryPolicyOf } from '../../rules/projection/retry-policy-of.ts'
import { readCounts, type TokenCounts } from '../../rules/tokens/token-counts.ts'
import type { Entity } from '../../world/component.ts'
import type { World } from '../../world/world.ts'
import { withBoundedWait } from './bounded-wait.ts'
import type { EffectContext, EffectKind } from './effect-kind.ts'
import { ModelFacts } from './model-facts.ts'

/** Where model calls find their providers. */
export interface ModelHost {
  provider(name: string): ModelProvider
  /** What a call cost, and the context window of its model, as far as that is known. */
  readonly priced: Prices['priced']
  /** Starts no call of a provider for so long. Gives the instant, on the clock, at which they go on. */
  hold(name: string, durationMs: number): number
}

/** Model calls: projected from the world when they begin, done by the provider, streamed to listeners. */
export function modelEffect(host: ModelHost): EffectKind {
  return {
    queue: (world, effect) => parseModel(modelCalledBy(world, effect)).provider,
    prepare(world, effect) {
      const call = new CallOfModel(host, world, effect)
      return (context) => call.make(context)
    },
  }
}

/** One call of a model, and all that of its world it goes by. */
class CallOfModel {
  readonly #host: ModelHost
  readonly #world: World
  readonly #effect: Entity
  readonly #agent: Entity
  readonly #model: string
  readonly #request: ModelRequest
  readonly #facts: ModelFacts
  /** What is written beside a conversation is no answer to anybody. */
  readonly #isHeard: boolean
  /** Longest wait that the provider may ask for. */
  readonly #maxRetryAfterMs: number
  #deltas = 0
  /** Of the reply so far. */
  #sizeBytes = 0

  constructor(host: ModelHost, world: World, effect: Entity) {
    this.#host = host
    this.#world = world
    this.#effect = effect
    this.#agent = callerOf(world, effect)
    this.#model = modelCalledBy(world, effect)
    this.#request = requestOf(world, effect)
    this.#facts = new ModelFacts(world, effect)
    this.#maxRetryAfterMs = maxRetryAfterMsOf(retryPolicyOf(world, this.#agent, this.#model))
    this.#isHeard = !world.has(effect, SideCall)
  }

  async make(context: EffectContext): Promise<OutcomeData> {
    const { provider } = parseModel(this.#model)
    const outcome = await this.#call(provider, context)
    if (this.#deltas > 0 && (!outcome.ok || context.signal.aborted)) {
      context.tell({ type: 'model-discarded', ...this.#place(context) })
    }
    if (!outcome.ok) {
      const failure = withBoundedWait(outcome.failure, this.#maxRetryAfterMs)
      hold(this.#host, provider, failure, this.#world, context)
      return { ok: false, failure: await this.#facts.failed(failure, this.#host) }
    }
    const { usage, oddCounts } = countsOf(outcome.value)
    if (oddCounts !== undefined) {
      context.tell({ type: 'usage-dropped', ...this.#place(context), model: this.#model, counts: oddCounts })
    }
    // Prices that are known are not waited for.
    const priced = this.#host.priced(this.#model, usage, this.#world.dateMs)
    const known = priced instanceof Promise ? await priced : priced
    const cachePrice = this.#facts.cachePrice(usage, this.#host)
    return settled({ ...outcome.value, usage }, this.#model, { ...known, cachePrice: cachePrice && (await cachePrice) })
  }

  /** Calls the provider; ends the call, whether or not the provider minds it, once its reply is too long. */
  #call(name: string, context: EffectContext): Promise<ModelOutcome> {
    const { attempt, key, signal, sleep } = context
    const provider = this.#host.provider(name)
    const { maxReplyBytes = providerDefaults.maxReplyBytes } = provider
    return new Promise((resolve, reject) => {
      const onDelta = (delta: ModelDelta): void => {
        if (this.#sizeBytes > maxReplyBytes) return
        this.#sizeBytes += sizeOfDelta(delta)
        if (this.#sizeBytes <= maxReplyBytes) return this.#hear(delta, context)
        const failure = tooLong(name, maxReplyBytes)
        // First this: what the provider says of its broken call counts no more.
        resolve({ ok: false, failure })
        context.breakOff(failure.message)
      }
      provider.call(this.#request, { attempt, key, onDelta, signal, sleep }).then(resolve, reject)
    })
  }

  #hear(delta: ModelDelta, context: EffectContext): void {
    if (this.#isHeard) context.tell({ type: 'model-delta', ...this.#place(context), index: this.#deltas++, delta })
  }

  #place({ attempt }: EffectContext) {
    return { world: this.#world.name, agent: this.#agent, effect: this.#effect, attempt }
  }
}

/** A provider that asks to be left alone is left alone by all its callers. */
function hold(host: ModelHost, provider: string, failure: Failure, world: World, { tell }: EffectContext): void {
  // Who asks for more than is waited for is not held either: its next callers hear so at once.
  if (failure.isFinal === true || failure.retryAfterMs === undefined || failure.retryAfterMs <= 0) return
  const untilMs = host.hold(provider, failure.retryAfterMs)
  tell({ type: 'provider-held', world: world.name, provider, untilMs })
}

/** What a reply says of its tokens, the program's own providers included. What is no usage at all is refused later. */
function countsOf({ usage, oddCounts }: ModelReply): TokenCounts {
  if (typeof usage !== 'object' || usage === null) return { usage, oddCounts }
  const counts = readCounts(usage)
  return oddCounts === undefined ? counts : { ...counts, oddCounts: { ...counts.oddCounts, ...oddCounts } }
}

type Priced = PricedCall & { readonly cachePrice: CachePrice | undefined }

/** The message remembers which model wrote it. Price and window come along, so that a replay under other prices is the same. */
function settled({ message, stop, usage }: ModelReply, model: string, priced: Priced): OutcomeData {
  const { cachePrice, costNanoUsd, contextWindow } = priced
  const value: { -readonly [K in keyof PricedReply]?: PricedReply[K] } = {}
  if (cachePrice !== undefined) value.cachePrice = cachePrice
  if (contextWindow !== undefined) value.contextWindow = contextWindow
  if (costNanoUsd !== undefined) value.costNanoUsd = costNanoUsd
  value.message = { content: message.content, model, role: 'assistant' }
  value.stop = stop
  value.usage = usage
  return { ok: true, value }
}
