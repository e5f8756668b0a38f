import { z } from 'zod'
import { type DataOf, defineComponent, defineLog } from '../../src/world/component.ts'
import { lazily } from '../../src/base/lazily.ts'

const count = () => z.number().int().nonnegative()

/** Provider's and raw token counts of the same requests, newest last. */
export const CountedCalls = lazily(() =>
  z.strictObject({
    /** [provider's prompt tokens, raw count]; at most 20. */
    calls: z.array(z.tuple([count(), count()])).max(20),
  }),
)
export type CountedCalls = DataOf<typeof CountedCalls>

/** How far token estimates are off, by `provider/model`. */
export const TokenFactors = defineComponent('TokenFactors', () =>
  z.strictObject({
    models: z.record(z.string(), CountedCalls()),
  }),
)

/** Own calls to count when an estimate is next needed; removed when the projection is rewritten. */
export const UncountedCalls = defineLog('UncountedCalls', () =>
  z.strictObject({
    messages: count(),
    model: z.string(),
    promptTokens: count(),
  }),
)
