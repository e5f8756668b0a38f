import { z } from 'zod'
import { type DataOf, defineComponent } from '../../src/world/component.ts'
import { lazily } from '../../src/world/lazily.ts'

/** What so many tokens cost that are read from the cache, and what they cost that are written to it anew. */
export const CachePrice = lazily(() =>
  z.strictObject({ readNanoUsd: z.number().int().nonnegative(), writeNanoUsd: z.number().int().nonnegative() }),
)
export type CachePrice = DataOf<typeof CachePrice>

/**
 * An agent's newest own model call: a step of its, and not a summary. Goes when the projection is rewritten, since what was
 * read then says nothing of what is sent next. Systems read it by `lastCallOf`.
 */
export const LastCall = defineComponent('LastCall', () =>
  z.strictObject({
    /** What all its prompt tokens cost, in billionths of a US dollar. Of agents that weigh the cache, where it is known. */
    cachePrice: CachePrice().optional(),
    /** Tokens that the model's context window holds; absent: not known. */
    contextWindow: z.number().int().positive().optional(),
    /** What it has read says the newest of `UncountedCalls`, so that most calls write only that. */
    isBehind: z.literal(true).optional(),
    /** `provider/model`. */
    model: z.string(),
    /** Input, cache read and cache write together; absent: the provider did not say. */
    promptTokens: z.number().int().nonnegative().optional(),
  }),
)
export type LastCallData = DataOf<() => typeof LastCall.schema>
