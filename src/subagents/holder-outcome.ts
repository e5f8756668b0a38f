import { z } from 'zod'
import { Failure } from '../../components/failure.ts'
import { SessionUsage } from '../../components/subagent-session.ts'
import type { DataOf } from '../world/component.ts'
import { lazily } from '../world/lazily.ts'

/** What the making of a holder comes back with, if it is not there: where it failed. */
export const HolderFailure = lazily(() => z.strictObject({ failure: Failure(), phase: z.enum(['spawn', 'seed']) }))
export type HolderFailure = DataOf<typeof HolderFailure>

/** What the removal of a holder comes back with: what of it could not be removed, and why. */
export const HolderRemoval = lazily(() =>
  z.strictObject({ left: z.array(z.enum(['world', 'transcript'])), message: z.string().optional() }),
)

/** What a write to an agent's transcript comes back with. */
export const TranscriptOutcome = lazily(() =>
  z.strictObject({
    /** Lines that are in it now. */
    lines: z.number().int().nonnegative(),
  }),
)

/** What the driving on of a session's World comes back with. */
export const SettlingOutcome = lazily(() =>
  z.strictObject({
    /** It could not go on. */
    isArchiving: z.literal(true).optional(),
    usage: SessionUsage(),
  }),
)
export type SettlingOutcome = DataOf<typeof SettlingOutcome>
