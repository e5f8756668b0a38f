import { z } from 'zod'
import { defineLog } from '../../src/world/component.ts'
import { Failure } from '../../src/protocol/failure.ts'

/** Why a turn is archived. */
export const archiveReasons = ['max_turns', 'tool_calls', 'tokens'] as const
export type ArchiveReason = (typeof archiveReasons)[number]

/** Where the archiving of a turn failed. */
export const archivePhases = ['spawn', 'seed', 'disk'] as const
export type ArchivePhase = (typeof archivePhases)[number]

/** How the summary of an archived turn came about. */
export const summaryStatuses = ['ok', 'repaired', 'unparsed', 'unavailable'] as const
export type SummaryStatus = (typeof summaryStatuses)[number]

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
