import { z } from 'zod'
import type { DataOf } from '../world/component.ts'
import { lazily } from '../world/lazily.ts'

const tokens = lazily(() => z.number().int().nonnegative().optional())

/**
 * Tokens of one model call, or of several summed up. `input`, `cacheRead` and `cacheWrite` never overlap; `output`
 * includes reasoning. What the provider did not say is absent, never 0.
 */
export const TokenUsage = lazily(() =>
  z.strictObject({
    input: tokens(),
    cacheRead: tokens(),
    cacheWrite: tokens(),
    /** The part of `cacheWrite` that the cache keeps for an hour; it is not beside it. */
    cacheWrite1h: tokens(),
    output: tokens(),
  }),
)
export type TokenUsage = DataOf<typeof TokenUsage>

/** Tokens of several calls, and what they cost. */
export const CallUsage = lazily(() =>
  TokenUsage().extend({
    calls: z.number().int().nonnegative(),
    /** In billionths of a US dollar; absent: no price is known. */
    costNanoUsd: z.number().int().nonnegative().optional(),
  }),
)
export type CallUsage = DataOf<typeof CallUsage>

/** What a session and its own sessions have spent. A count that was not reported is absent. */
export const SessionUsage = lazily(() =>
  CallUsage().extend({
    /** Tokens of its own sessions. */
    delegatedTokens: z.number().int().nonnegative().optional(),
    /** Sessions that it and those below it launched. */
    sessions: z.number().int().nonnegative(),
  }),
)
export type SessionUsage = DataOf<typeof SessionUsage>

/** What a subtask has spent in total. A count that was not reported is absent. */
export const SubtaskSpending = lazily(() =>
  CallUsage().extend({
    /** Calls whose tokens were estimated, since the provider said nothing. */
    estimated: z.number().int().nonnegative().optional(),
  }),
)
export type SubtaskSpending = DataOf<typeof SubtaskSpending>
