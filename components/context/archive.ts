import { z } from 'zod'
import { type DataOf, defineComponent, defineLog } from '../../src/world/component.ts'
import { Failure, stops } from '../../src/protocol/failure.ts'
import { entity } from '../../src/protocol/values.ts'
import { lazily } from '../../src/world/lazily.ts'
import { ArchivalSummary } from './archival.ts'
import { archivePhases, archiveReasons, summaryStatuses } from '../../src/protocol/context.ts'
import { Llm } from '../agent/llm.ts'
import { TokenUsage } from '../../src/protocol/usage.ts'

const place = () => z.number().int().positive()

/** What has become of an agent's turns that were to be archived, in the order in which it was settled. */
export const Archive = defineLog('Archive', () =>
  z.strictObject({
    atMs: z.number(),
    /** Of a failed one. */
    failure: Failure().optional(),
    /** The `seq` of the turn's opening message, which stays. */
    fromSeq: place(),
    /** Of a failed one. */
    phase: z.enum(archivePhases).optional(),
    reason: z.enum(archiveReasons),
    /** `archived`: what stood behind the opening message is one message now, at `toSeq`. `failed`: the turn stays whole. */
    status: z.enum(['archived', 'failed']),
    subagentId: z.string(),
    summary: z.enum(summaryStatuses).optional(),
    task: z.string(),
    /** The `seq` of the turn's last message. */
    toSeq: place(),
    /** The summary was stopped at the model's output limit. */
    truncated: z.literal(true).optional(),
  }),
)

/** A turn that has ended in this tick, and that may have to be archived: archival looks at it once. */
export const EndedTurn = defineComponent(
  'EndedTurn',
  () =>
    z.strictObject({
      agent: entity(),
      /** The `seq` of the message that opened it. */
      fromSeq: z.number().int().positive(),
      stop: z.enum(stops),
      /** The `seq` of its last message. */
      toSeq: z.number().int().positive(),
    }),
  { ref: 'agent', cascade: true },
)

/** What is being done for a turn, in order; each begins once the one before it is durable. */
const archiveSteps = ['holder', 'entries', 'summary', 'lines'] as const

/** What calls for a summary have used in total. */
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
      /** The holder's model and settings. */
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

/** What an agent said last in its newest turn that is archived: the conversation has a summary in that place. */
export const LastWords = defineComponent('LastWords', () =>
  z.strictObject({
    /** Of the turn's last message, and of the summary that stands for it. */
    seq: z.number().int().positive(),
    text: z.string(),
  }),
)
