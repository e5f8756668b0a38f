import { z } from 'zod'
import { type DataOf, defineLog, defineTag } from '../../src/world/component.ts'
import { lazily } from '../../src/world/lazily.ts'
import { TokenUsage } from '../money/usage.ts'

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

/** The newest boundary may be another one: what it covers was not brought to the agent's transcript yet. */
export const BoundaryMoved = defineTag('BoundaryMoved')

/**
 * Places in a conversation before which a text stands for all that was said. Only the newest is projected; taken away, it
 * leaves the projection as it was before, since the conversation stays whole.
 */
export const Boundary = defineLog('Boundary', BoundaryEntry, { marks: { tag: BoundaryMoved, when: () => true } })
