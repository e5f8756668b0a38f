import { z } from 'zod'
import { type DataOf, defineComponent, defineLog } from '../../src/world/component.ts'
import { Failure, stops } from '../../src/protocol/failure.ts'
import { entity } from '../../src/protocol/values.ts'
import { lazily } from '../../src/base/lazily.ts'
import { ArchivalSummary } from './archival.ts'
import { archivePhases, archiveReasons, summaryStatuses } from '../../src/protocol/context.ts'
import { Llm } from '../agent/llm.ts'
import { TokenUsage } from '../../src/protocol/usage.ts'

const place = () => z.number().int().positive()

/** Results of archiving an agent's turns, in order. */
export const Archive = defineLog('Archive', () =>
  z.strictObject({
    atMs: z.number(),
    failure: Failure().optional(),
    /** `seq` of the opening message, which stays. */
    fromSeq: place(),
    phase: z.enum(archivePhases).optional(),
    reason: z.enum(archiveReasons),
    /** `archived`: one message at `toSeq` replaces all behind the opening message. `failed`: the turn is whole. */
    status: z.enum(['archived', 'failed']),
    subagentId: z.string(),
    summary: z.enum(summaryStatuses).optional(),
    task: z.string(),
    toSeq: place(),
    /** The summary hit the output limit. */
    truncated: z.literal(true).optional(),
  }),
)

/** A turn that ended in this tick, for archival to judge once. */
export const EndedTurn = defineComponent(
  'EndedTurn',
  () =>
    z.strictObject({
      agent: entity(),
      fromSeq: z.number().int().positive(),
      stop: z.enum(stops),
      toSeq: z.number().int().positive(),
    }),
  { ref: 'agent', cascade: true },
)

/** In order; each begins once the one before is durable. */
const archiveSteps = ['holder', 'entries', 'summary', 'lines'] as const

const Spent = lazily(() =>
  z.strictObject({ costNanoUsd: z.number().int().nonnegative().optional(), usage: TokenUsage() }),
)

/** The summary that replaces a turn, and its cost. */
export const TurnSummary = lazily(() =>
  Spent().extend({
    /** Unix time of its completion. */
    dateMs: z.number(),
    status: z.enum(summaryStatuses),
    text: z.string(),
    truncated: z.boolean(),
  }),
)
export type TurnSummary = DataOf<typeof TurnSummary>

/** A turn being moved to a holder; it stays in place meanwhile. The entity is the effect of the current step. */
export const ArchiveJob = defineComponent(
  'ArchiveJob',
  () =>
    z.strictObject({
      agent: entity(),
      /** Unix time of the turn's end. */
      dateMs: z.number(),
      fromSeq: z.number().int().positive(),
      /** The holder's model and settings. */
      llm: Llm.schema,
      reason: z.enum(archiveReasons),
      /** The newest text that was no valid summary. */
      reply: z.string().optional(),
      replyTruncated: z.boolean().optional(),
      spent: Spent().optional(),
      step: z.enum(archiveSteps),
      subagentId: z.string(),
      summary: TurnSummary().optional(),
      summaryBy: ArchivalSummary(),
      task: z.string(),
      toSeq: z.number().int().positive(),
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

/** The agent's last text in its newest archived turn, where the conversation now has a summary. */
export const LastWords = defineComponent('LastWords', () =>
  z.strictObject({
    seq: z.number().int().positive(),
    text: z.string(),
  }),
)
