import { z } from 'zod'
import { type DataOf, defineComponent } from '../../src/world/component.ts'
import { lazily } from '../../src/world/lazily.ts'

const rate = lazily(() => z.number().int().nonnegative())
const contextWindow = lazily(() => z.number().int().positive().optional())

/** The most that a million tokens of a model cost, in billionths of a US dollar; and its context window in tokens. */
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

/** What a world has asked of models' prices, once each: a replay needs no price list. One entity has it. */
export const ModelRates = defineComponent('ModelRates', () =>
  z.strictObject({
    /** By `provider/model`. */
    models: z.record(z.string(), Rates()),
  }),
)

/** What a model costs is being asked: an effect of kind `rates`. */
export const RatesCall = defineComponent('RatesCall', () =>
  z.strictObject({
    /** `provider/model`. */
    model: z.string(),
  }),
)
