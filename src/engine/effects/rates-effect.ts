import { type Rates, RatesCall } from '../../../components/money/model-rates.ts'
import { loadTokenizer } from '../../rules/tokens/tokenizer.ts'
import { toNanoUsd } from '../../rules/money/usd.ts'
import type { DearestRates } from '../../rules/money/call-cost.ts'
import type { Prices } from '../../models/prices.ts'
import type { Json } from '../../base/json.ts'
import type { EffectKind } from './effect-kind.ts'

export type RatesHost = Pick<Prices, 'priced' | 'rates'>

/** Looks up what a model costs; the world keeps the answer. */
export function ratesEffect(host: RatesHost): EffectKind {
  return {
    isWaiting: true,
    prepare(world, effect) {
      const { model } = world.read(effect, RatesCall)
      const { dateMs } = world
      return async () => {
        const [{ contextWindow }, rates] = await Promise.all([
          host.priced(model, {}, dateMs),
          host.rates(model, dateMs),
          // The world is about to count tokens in a tick, which cannot wait.
          loadTokenizer(),
        ])
        return { ok: true, value: { ...ratesOf(rates), ...(contextWindow !== undefined && { contextWindow }) } as Json }
      }
    },
  }
}

function ratesOf(rates: DearestRates | undefined): Rates {
  if (rates === undefined) return { isPriced: false }
  const { inputUsdPerMillion, outputUsdPerMillion } = rates
  return {
    inputNanoUsdPerMillion: toNanoUsd(inputUsdPerMillion),
    isPriced: true,
    outputNanoUsdPerMillion: toNanoUsd(outputUsdPerMillion),
  }
}
