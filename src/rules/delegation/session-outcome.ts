import { z } from 'zod'
import { Failure, failureKinds } from '../../protocol/failure.ts'
import { KnownHolder } from '../../../components/context/holder.ts'
import { SessionTexts } from '../../../components/sessions/subagent-session.ts'
import { SessionUsage } from '../../protocol/usage.ts'
import type { DataOf } from '../../world/component.ts'
import { lazily } from '../../world/lazily.ts'

/** Longest text of a result in an answer and in an event, in bytes. */
export const maxInlineBytes = 8_192

/** The beginning of a prompt, and where the whole of it lies, or that it is nowhere. */
const cutPrompt = () => ({
  prompt: z.string().optional(),
  promptCut: z.strictObject({ bytes: z.number().int(), maxBytes: z.number().int() }).optional(),
  promptRecord: z.string().optional(),
})

/** Turns of it are still on their way to holders. */
const archiving = () => ({ isArchiving: z.literal(true).optional() })

/** What the effect of a session comes back with: how its World has ended, and what the parent's record is to hold of it. */
export const SessionOutcome = lazily(() =>
  z.discriminatedUnion('ok', [
    z.strictObject({
      ok: z.literal(true),
      ...archiving(),
      artifactId: z.string(),
      /** The result, where it is short. */
      inlineContent: z.string().optional(),
      ...cutPrompt(),
      recordPath: z.string(),
      resultBytes: z.number().int().nonnegative(),
      resultExcerpt: z.string(),
      summary: z.union([z.string(), z.literal(true)]).optional(),
      /** For a call that waits and for listeners; cut where it is very long. */
      text: z.string(),
      /** For the World to keep, where nothing else does. */
      texts: SessionTexts.schema.optional(),
      usage: SessionUsage(),
    }),
    z.strictObject({
      ok: z.literal(false),
      ...archiving(),
      error: z.string(),
      kind: z.enum(failureKinds),
      ...cutPrompt(),
      usage: SessionUsage(),
    }),
  ]),
)
export type SessionOutcome = DataOf<typeof SessionOutcome>

/** What the effect of a query comes back with. */
export const QueryOutcome = lazily(() =>
  z.discriminatedUnion('ok', [
    z.strictObject({
      ok: z.literal(true),
      ...archiving(),
      /** Turns of its own that were archived. */
      holders: z.array(KnownHolder()).optional(),
      text: z.string(),
      usage: SessionUsage(),
    }),
    z.strictObject({ ok: z.literal(false), ...archiving(), error: z.string(), usage: SessionUsage() }),
  ]),
)
export type QueryOutcome = DataOf<typeof QueryOutcome>

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
