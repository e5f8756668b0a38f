import type { BoundaryEntry } from './context/boundary.ts'
import type { Failure } from '../src/protocol/failure.ts'

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
