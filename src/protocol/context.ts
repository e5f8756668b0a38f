import { z } from 'zod'
import type { DataOf } from '../world/component.ts'
import { lazily } from '../world/lazily.ts'
import { TokenUsage } from './usage.ts'
import type { Failure } from './failure.ts'

export const BoundaryEntry = lazily(() =>
  z.strictObject({
    atMs: z.number(),
    by: z.enum(['auto', 'manual', 'model']),
    /** Absent: no price is known. */
    costUsd: z.number().nonnegative().optional(),
    focus: z.string().optional(),
    kind: z.enum(['summary', 'checkpoint']),
    /** Headings that were asked for and that the text lacks. */
    missingHeadings: z.array(z.string()),
    note: z.string().optional(),
    /** Of the last message that the text stands for. */
    seq: z.number().int().positive(),
    text: z.string(),
    /** The text was stopped at the model's output limit. */
    truncated: z.boolean(),
    usage: TokenUsage(),
  }),
)
export type BoundaryEntry = DataOf<typeof BoundaryEntry>

/** Why there was nothing to do. */
export type SummarySkipReason = 'empty' | 'below-threshold' | 'unknown-window' | 'unknown-usage' | 'no-own-call'

/** What has come of a compaction or a checkpoint that a program has asked for. */
export type SummaryResult =
  | { readonly skipped: false; readonly boundary: BoundaryEntry; readonly failure?: undefined }
  | { readonly skipped: false; readonly failure: Failure; readonly boundary?: undefined }
  | {
      readonly skipped: true
      readonly reason: SummarySkipReason
      readonly boundary?: undefined
      readonly failure?: undefined
    }

/** What a projection is rewritten by. */
export const rewriteKinds = ['summary', 'checkpoint', 'archival'] as const
export type RewriteKind = (typeof rewriteKinds)[number]

/** Why a turn is archived. */
export const archiveReasons = ['max_turns', 'tool_calls', 'tokens'] as const
export type ArchiveReason = (typeof archiveReasons)[number]

/** Where the archiving of a turn failed. */
export const archivePhases = ['spawn', 'seed', 'disk'] as const
export type ArchivePhase = (typeof archivePhases)[number]

/** Whether an archived turn has a summary, and how it was read. */
export const summaryStatuses = ['ok', 'repaired', 'unparsed', 'unavailable'] as const
export type SummaryStatus = (typeof summaryStatuses)[number]
