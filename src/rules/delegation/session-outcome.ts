import { z } from 'zod'
import { Failure, failureKinds } from '../../protocol/failure.ts'
import { KnownHolder } from '../../../components/context/holder.ts'
import { SessionTexts } from '../../../components/sessions/subagent-session.ts'
import { PolicyMarks } from '../../protocol/policy.ts'
import { SessionUsage } from '../../protocol/usage.ts'
import type { DataOf } from '../../world/component.ts'
import { lazily } from '../../base/lazily.ts'

/** Longest result in an answer or event, in bytes. */
export const maxInlineBytes = 8_192

/** The start of a long prompt, and where all of it is stored, if anywhere. */
const cutPrompt = () => ({
  prompt: z.string().optional(),
  promptCut: z.strictObject({ bytes: z.number().int(), maxBytes: z.number().int() }).optional(),
  promptRecord: z.string().optional(),
})

/** Some of its turns are still being archived; what its calls have touched, where they are judged. */
const alongside = () => ({ isArchiving: z.literal(true).optional(), marks: PolicyMarks().optional() })

/** The outcome of a session's effect: how its world ended, and what the parent records of it. */
export const SessionOutcome = lazily(() =>
  z.discriminatedUnion('ok', [
    z.strictObject({
      ok: z.literal(true),
      ...alongside(),
      artifactId: z.string(),
      /** The result, where it is short. */
      inlineContent: z.string().optional(),
      ...cutPrompt(),
      recordPath: z.string(),
      resultBytes: z.number().int().nonnegative(),
      resultExcerpt: z.string(),
      summary: z.union([z.string(), z.literal(true)]).optional(),
      /** For waiting calls and listeners; cut if very long. */
      text: z.string(),
      /** For the World to keep, without a store. */
      texts: SessionTexts.schema.optional(),
      /** Absent: its own sessions have not all told what they spent; it comes later. */
      usage: SessionUsage().optional(),
    }),
    z.strictObject({
      ok: z.literal(false),
      ...alongside(),
      error: z.string(),
      kind: z.enum(failureKinds),
      ...cutPrompt(),
      usage: SessionUsage().optional(),
    }),
  ]),
)
export type SessionOutcome = DataOf<typeof SessionOutcome>

/** The outcome of a query. */
export const QueryOutcome = lazily(() =>
  z.discriminatedUnion('ok', [
    z.strictObject({
      ok: z.literal(true),
      ...alongside(),
      /** Its own archived turns. */
      holders: z.array(KnownHolder()).optional(),
      text: z.string(),
      usage: SessionUsage(),
    }),
    z.strictObject({ ok: z.literal(false), ...alongside(), error: z.string(), usage: SessionUsage() }),
  ]),
)
export type QueryOutcome = DataOf<typeof QueryOutcome>

/** The outcome of making a holder that failed. */
export const HolderFailure = lazily(() => z.strictObject({ failure: Failure(), phase: z.enum(['spawn', 'seed']) }))
export type HolderFailure = DataOf<typeof HolderFailure>

/** The outcome of removing a holder: what could not be removed, and why. */
export const HolderRemoval = lazily(() =>
  z.strictObject({ left: z.array(z.enum(['world', 'transcript'])), message: z.string().optional() }),
)

/** The outcome of a write to an agent's transcript: how many lines it has now. */
export const TranscriptOutcome = lazily(() =>
  z.strictObject({
    /** Lines that are in it now. */
    lines: z.number().int().nonnegative(),
  }),
)

/** The outcome of driving an ended session's world; `isArchiving` if it could not finish. */
export const SettlingOutcome = lazily(() =>
  z.strictObject({
    /** It could not go on. */
    isArchiving: z.literal(true).optional(),
    usage: SessionUsage(),
  }),
)
export type SettlingOutcome = DataOf<typeof SettlingOutcome>
