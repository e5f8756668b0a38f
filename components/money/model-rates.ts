import { z } from 'zod'
import { type DataOf, defineComponent } from '../../src/world/component.ts'
import { lazily } from '../../src/base/lazily.ts'

const rate = lazily(() => z.number().int().nonnegative())
const contextWindow = lazily(() => z.number().int().positive().optional())

/** Highest price of a million tokens in billionths of a US dollar, and the context window in tokens. */
export const Rates = lazily(() =>
  z.discriminatedUnion('isPriced', [
    z.strictObject({
      contextWindow: contextWindow(),
      inputNanoUsdPerMillion: rate(),
      isPriced: z.literal(true),
      outputNanoUsdPerMillion: rate(),
    }),
    z.strictObject({ contextWindow: contextWindow(), isPriced: z.literal(false) }),
  ]),
)
export type Rates = DataOf<typeof Rates>

/** Prices as asked once, so that a replay needs no price list. On one entity. */
export const ModelRates = defineComponent('ModelRates', () =>
  z.strictObject({
    models: z.record(z.string(), Rates()),
  }),
)

/** An effect of kind `rates`: asks a model's price. */
export const RatesCall = defineComponent('RatesCall', () =>
  z.strictObject({
    model: z.string(),
  }),
)
