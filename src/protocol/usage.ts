import { z } from 'zod'
import type { DataOf } from '../world/component.ts'
import { lazily } from '../base/lazily.ts'

const tokens = lazily(() => z.number().int().nonnegative().optional())

/** `input`, `cacheRead`, `cacheWrite` never overlap; `output` includes reasoning. Unreported counts are absent. */
export const TokenUsage = lazily(() =>
  z.strictObject({
    input: tokens(),
    cacheRead: tokens(),
    cacheWrite: tokens(),
    /** Part of `cacheWrite` that is cached for an hour. */
    cacheWrite1h: tokens(),
    output: tokens(),
  }),
)
export type TokenUsage = DataOf<typeof TokenUsage>

export const CallUsage = lazily(() =>
  TokenUsage().extend({
    calls: z.number().int().nonnegative(),
    /** In billionths of a US dollar; absent: no cost is known. */
    costNanoUsd: z.number().int().nonnegative().optional(),
    /** Calls whose cost is unknown. Absent: none where `costNanoUsd` is there, else all. @see `unknownCosts` */
    costUnknown: z.number().int().nonnegative().optional(),
  }),
)
export type CallUsage = DataOf<typeof CallUsage>

/** Spending of a session and its own sessions. Unreported counts are absent. */
export const SessionUsage = lazily(() =>
  CallUsage().extend({
    delegatedTokens: z.number().int().nonnegative().optional(),
    /** Launched by it and those below it. */
    sessions: z.number().int().nonnegative(),
  }),
)
export type SessionUsage = DataOf<typeof SessionUsage>

/** Unreported counts are absent. */
export const SubtaskSpending = lazily(() =>
  CallUsage().extend({
    /** Calls with estimated tokens, as the provider reported none. */
    estimated: z.number().int().nonnegative().optional(),
  }),
)
export type SubtaskSpending = DataOf<typeof SubtaskSpending>
