import type { Failure } from '../../components/failure.ts'
import type { CachePrice } from '../../components/last-call.ts'
import type { OutcomeData } from '../../components/outcome.ts'
import { SideCall } from '../../components/side-call.ts'
import type { PricedReply } from '../context/priced-reply.ts'
import { parseModel } from '../models/model-name.ts'
import type { ModelProvider, ModelReply } from '../models/port.ts'
import { callerOf, modelCalledBy, requestOf } from '../models/model-request.ts'
import type { PricedCall } from '../models/prices.ts'
import type { TokenUsage } from '../../components/usage.ts'
import type { World } from '../world/world.ts'
import type { EffectKind } from './effect-kind.ts'
import type { StreamEvent } from './events.ts'
import { modelFacts } from './model-facts.ts'

/** Where model calls find their providers. */
export interface ModelHost {
  provider(name: string): ModelProvider
  /** What a call cost, and the context window of its model, as far as that is known. */
  priced(model: string, usage: TokenUsage, dateMs: number): Promise<PricedCall>
  /** Starts no call of a provider for so long. Gives the instant, on the clock, at which they go on. */
  hold(name: string, durationMs: number): number
}

/** Model calls: projected from the world when they begin, done by the provider, streamed to listeners. */
export function modelEffect(host: ModelHost): EffectKind {
  return {
    queue: (world, effect) => parseModel(modelCalledBy(world, effect)).provider,
    prepare(world, effect) {
      const agent = callerOf(world, effect)
      const model = modelCalledBy(world, effect)
      const { provider } = parseModel(model)
      const request = requestOf(world, effect)
      const facts = modelFacts((...call) => host.priced(...call), world, effect)
      // What is written beside a conversation is no answer to anybody.
      const isHeard = !world.has(effect, SideCall)
      return async ({ attempt, key, signal, sleep, tell }) => {
        let index = 0
        const place = { world: world.name, agent, effect, attempt }
        const outcome = await host.provider(provider).call(request, {
          signal,
          key,
          attempt,
          sleep,
          onDelta: (delta) => {
            if (isHeard) tell({ type: 'model-delta', ...place, index: index++, delta })
          },
        })
        if (index > 0 && (!outcome.ok || signal.aborted)) tell({ type: 'model-discarded', ...place })
        if (!outcome.ok) {
          hold(host, provider, outcome.failure, world, tell)
          return { ok: false, failure: await facts.failed(outcome.failure) }
        }
        const { usage } = outcome.value
        const priced = await host.priced(model, usage, world.dateMs)
        return settled(outcome.value, model, { ...priced, cachePrice: await facts.cachePrice(usage) })
      }
    },
  }
}

/** A provider that asks to be left alone is left alone by all its callers. */
function hold(
  host: ModelHost,
  provider: string,
  failure: Failure,
  world: World,
  tell: (event: StreamEvent) => void,
): void {
  if (failure.retryAfterMs === undefined || failure.retryAfterMs <= 0) return
  const untilMs = host.hold(provider, failure.retryAfterMs)
  tell({ type: 'provider-held', world: world.name, provider, untilMs })
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
