import { type Rates, RatesCall } from '../../../components/money/model-rates.ts'
import { loadTokenizer } from '../../rules/tokens/tokenizer.ts'
import { toNanoUsd } from '../../rules/money/usd.ts'
import type { DearestRates } from '../../rules/money/call-cost.ts'
import type { Prices } from '../../models/prices.ts'
import type { Json } from '../../world/json.ts'
import type { EffectKind } from './effect-kind.ts'

/** Where it is found out what models cost. */
export type RatesHost = Pick<Prices, 'priced' | 'rates'>

/** What models cost, for worlds that look ahead: asked once a model, and part of the world from then on. */
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
          // Whoever asks is about to count tokens in the midst of a tick.
          loadTokenizer(),
        ])
        return { ok: true, value: { ...told(rates), ...(contextWindow !== undefined && { contextWindow }) } as Json }
      }
    },
  }
}

function told(rates: DearestRates | undefined): Rates {
  if (rates === undefined) return { isPriced: false }
  const { inputUsdPerMillion, outputUsdPerMillion } = rates
  return {
    inputNanoUsdPerMillion: toNanoUsd(inputUsdPerMillion),
    isPriced: true,
    outputNanoUsdPerMillion: toNanoUsd(outputUsdPerMillion),
  }
}
