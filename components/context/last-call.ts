import { z } from 'zod'
import { type DataOf, defineComponent } from '../../src/world/component.ts'
import { lazily } from '../../src/world/lazily.ts'
import { rewriteKinds } from '../../src/protocol/context.ts'

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

/** An agent's projection was rewritten, and no own call has shown yet what that was worth. */
export const Rewrite = defineComponent('Rewrite', () =>
  z.strictObject({
    /** Tokens that the provider had in its cache. Absent: it does not say. */
    cachedTokensLost: z.number().int().nonnegative().optional(),
    /** As of the last own call before it. */
    contextWindow: z.number().int().positive().optional(),
    /** Of the calls that wrote what took the place of the rest. */
    costNanoUsd: z.number().int().nonnegative().optional(),
    kind: z.enum(rewriteKinds),
    /** Prompt tokens of the last own call before it. */
    tokensBefore: z.number().int().nonnegative().optional(),
  }),
)

/** What the rewrites of an agent's projection have come to in total, where that is known. */
export const RewriteTotal = defineComponent('RewriteTotal', () =>
  z.strictObject({
    /** Tokens that the provider had in its cache. */
    cachedTokensLost: z.number().int().nonnegative(),
    costNanoUsd: z.number().int().nonnegative(),
    count: z.number().int().positive(),
    /** By which the first prompt behind a rewrite was shorter than the last one before it; longer: below 0. */
    tokensSaved: z.number().int(),
  }),
)
