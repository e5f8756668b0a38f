import { z } from 'zod'
import type { DataOf } from '../world/component.ts'
import { lazily } from '../base/lazily.ts'
import { TokenUsage } from './usage.ts'
import type { Failure } from './failure.ts'

export const BoundaryEntry = lazily(() =>
  z.strictObject({
    atMs: z.number(),
    by: z.enum(['auto', 'manual', 'model']),
    costUsd: z.number().nonnegative().optional(),
    focus: z.string().optional(),
    kind: z.enum(['summary', 'checkpoint']),
    /** Requested headings that the text lacks. */
    missingHeadings: z.array(z.string()),
    note: z.string().optional(),
    /** `seq` of the last message that the text replaces. */
    seq: z.number().int().positive(),
    text: z.string(),
    /** The text hit the output limit. */
    truncated: z.boolean(),
    usage: TokenUsage(),
  }),
)
export type BoundaryEntry = DataOf<typeof BoundaryEntry>

/** Why no summary was asked for. */
export type SummarySkipReason = 'empty' | 'below-threshold' | 'unknown-window' | 'unknown-usage' | 'no-own-call'

/** The result of a compaction or checkpoint. */
export type SummaryResult =
  | { readonly skipped: false; readonly boundary: BoundaryEntry; readonly failure?: undefined }
  | { readonly skipped: false; readonly failure: Failure; readonly boundary?: undefined }
  | {
      readonly skipped: true
      readonly reason: SummarySkipReason
      readonly boundary?: undefined
      readonly failure?: undefined
    }

export const rewriteKinds = ['summary', 'checkpoint', 'archival'] as const
export type RewriteKind = (typeof rewriteKinds)[number]

export const archiveReasons = ['max_turns', 'tool_calls', 'tokens'] as const
/** Why a turn is archived. */
export type ArchiveReason = (typeof archiveReasons)[number]

/** Where the archiving of a turn failed. */
export const archivePhases = ['spawn', 'seed', 'disk'] as const
export type ArchivePhase = (typeof archivePhases)[number]

export const summaryStatuses = ['ok', 'repaired', 'unparsed', 'unavailable'] as const
export type SummaryStatus = (typeof summaryStatuses)[number]
