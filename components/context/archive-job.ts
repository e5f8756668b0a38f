import { z } from 'zod'
import { type DataOf, defineComponent } from '../../src/world/component.ts'
import { lazily } from '../../src/world/lazily.ts'
import { ArchivalSummary } from './archival.ts'
import { archiveReasons, summaryStatuses } from './archive.ts'
import { entity } from '../../src/protocol/entity.ts'
import { Llm } from '../agent/llm.ts'
import { TokenUsage } from '../money/usage.ts'

/** What is being done for a turn, in order; each begins once the one before it is durable. */
const archiveSteps = ['holder', 'entries', 'summary', 'lines'] as const

/** What calls for a summary have used, all told. */
const Spent = lazily(() =>
  z.strictObject({ costNanoUsd: z.number().int().nonnegative().optional(), usage: TokenUsage() }),
)

/** What stays behind of a turn, and how that came about. */
export const TurnSummary = lazily(() =>
  Spent().extend({
    /** Unix time at which it was there. */
    dateMs: z.number(),
    status: z.enum(summaryStatuses),
    text: z.string(),
    truncated: z.boolean(),
  }),
)
export type TurnSummary = DataOf<typeof TurnSummary>

/** A turn that is on its way to a holder. While it lasts the turn stays where it is. The entity is the effect of its step. */
export const ArchiveJob = defineComponent(
  'ArchiveJob',
  () =>
    z.strictObject({
      agent: entity(),
      /** Unix time at which the turn ended. */
      dateMs: z.number(),
      fromSeq: z.number().int().positive(),
      /** What the holder thinks with. */
      llm: Llm.schema,
      reason: z.enum(archiveReasons),
      /** The newest reply that was no summary, if it had a text. */
      reply: z.string().optional(),
      /** It was stopped at the model's output limit. */
      replyTruncated: z.boolean().optional(),
      /** On its summary so far. */
      spent: Spent().optional(),
      step: z.enum(archiveSteps),
      subagentId: z.string(),
      summary: TurnSummary().optional(),
      /** How the summary is written. */
      summaryBy: ArchivalSummary(),
      task: z.string(),
      toSeq: z.number().int().positive(),
      /** Of the step's effect. */
      tries: z.number().int().positive(),
    }),
  { ref: 'agent', cascade: true },
)
export type ArchiveJobData = DataOf<() => typeof ArchiveJob.schema>

/** The model call is about the summary for this job. */
export const SummaryOf = defineComponent('SummaryOf', () => z.strictObject({ job: entity() }), {
  ref: 'job',
  cascade: true,
})
