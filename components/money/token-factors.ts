import { z } from 'zod'
import { type DataOf, defineComponent, defineLog } from '../../src/world/component.ts'
import { lazily } from '../../src/world/lazily.ts'

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

/**
 * Own calls whose requests were not counted here yet: an estimate is seldom asked for, and then they are. Goes when the
 * projection is rewritten, as they cannot be counted any more.
 */
export const UncountedCalls = defineLog('UncountedCalls', () =>
  z.strictObject({
    /** How many messages of the conversation it answered. */
    messages: count(),
    /** `provider/model`. */
    model: z.string(),
    promptTokens: count(),
  }),
)
