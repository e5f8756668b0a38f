import { z } from 'zod'
import { type DataOf, defineComponent } from '../../src/world/component.ts'
import { lazily } from '../../src/base/lazily.ts'
import { rewriteKinds } from '../../src/protocol/context.ts'

/** Price of tokens read from the cache, and of writing them anew. */
export const CachePrice = lazily(() =>
  z.strictObject({ readNanoUsd: z.number().int().nonnegative(), writeNanoUsd: z.number().int().nonnegative() }),
)
export type CachePrice = DataOf<typeof CachePrice>

/** An agent's newest step, summaries excluded; removed when the projection is rewritten. Read it by `lastCallOf`. */
export const LastCall = defineComponent('LastCall', () =>
  z.strictObject({
    /** Price of all its prompt tokens, for agents that weigh the cache. */
    cachePrice: CachePrice().optional(),
    /** Absent: unknown. */
    contextWindow: z.number().int().positive().optional(),
    /** The newest of `UncountedCalls` has its tokens, so that most calls write only that. */
    isBehind: z.literal(true).optional(),
    model: z.string(),
    /** Input, cache read and cache write together, if reported. */
    promptTokens: z.number().int().nonnegative().optional(),
  }),
)
export type LastCallData = DataOf<() => typeof LastCall.schema>

/** A rewrite of the projection whose effect no own call has shown yet. */
export const Rewrite = defineComponent('Rewrite', () =>
  z.strictObject({
    /** Absent: not reported. */
    cachedTokensLost: z.number().int().nonnegative().optional(),
    contextWindow: z.number().int().positive().optional(),
    /** Cost of the calls that wrote the replacement. */
    costNanoUsd: z.number().int().nonnegative().optional(),
    kind: z.enum(rewriteKinds),
    /** Prompt tokens of the last own call before. */
    tokensBefore: z.number().int().nonnegative().optional(),
  }),
)

/** Totals of an agent's rewrites, as far as known. */
export const RewriteTotal = defineComponent('RewriteTotal', () =>
  z.strictObject({
    cachedTokensLost: z.number().int().nonnegative(),
    costNanoUsd: z.number().int().nonnegative(),
    count: z.number().int().positive(),
    /** Negative if prompts grew. */
    tokensSaved: z.number().int(),
  }),
)
