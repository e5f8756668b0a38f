import { z } from 'zod'
import { type DataOf, defineComponent } from '../src/world/component.ts'
import { lazily } from '../src/world/lazily.ts'

const count = () => z.number().int().nonnegative()

/** What a model's provider counted in requests, and what was counted here, the newest last. */
export const CountedCalls = lazily(() =>
  z.strictObject({
    /** Prompt tokens as the provider said, and the raw count of the same request. At most 20. */
    calls: z.array(z.tuple([count(), count()])).max(20),
  }),
)
export type CountedCalls = DataOf<typeof CountedCalls>

/** What an agent's own calls say of how far token counts are from its providers'. */
export const TokenFactors = defineComponent('TokenFactors', () =>
  z.strictObject({
    /** By `provider/model`. */
    models: z.record(z.string(), CountedCalls()),
  }),
)
