import { z } from 'zod'
import { defineComponent } from '../../src/world/component.ts'

/** What a projection is rewritten by. */
export const rewriteKinds = ['summary', 'checkpoint', 'archival'] as const
export type RewriteKind = (typeof rewriteKinds)[number]

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

/** What the rewrites of an agent's projection have come to, all told: those whose worth is known. */
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
