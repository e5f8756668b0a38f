import { z } from 'zod'
import { defineComponent, defineTag } from '../../src/world/component.ts'
import { Failure } from '../../src/protocol/failure.ts'

/** A turn of the agent has ended, and whether its conversation is to be compacted was not decided yet. */
export const Unweighed = defineTag('Unweighed')

/** The conversation is to be compacted before the first step of the agent's next turn. */
export const CompactionPending = defineTag('CompactionPending')

/** How the newest automatic compactions went. Absent: well. */
export const CompactionState = defineComponent('CompactionState', () =>
  z.strictObject({
    /** In a row. */
    failures: z.number().int().nonnegative(),
    /** The newest one was written, and the next own call will show what it was worth. */
    isOnTrial: z.literal(true).optional(),
    /** So many turns have to end before there is another one. */
    turnsToWait: z.number().int().nonnegative(),
  }),
)

/** Programs have asked for a compaction, which is to come at the next quiet point. */
export const CompactionAsked = defineComponent('CompactionAsked', () =>
  z.strictObject({
    focus: z.string().optional(),
    /** Only if the conversation is full enough. */
    ifNeeded: z.literal(true).optional(),
    requests: z.array(z.string()),
  }),
)

/** The agent's step was longer than the model's context window; it is tried once more when the conversation is shorter. */
export const Overflowed = defineComponent('Overflowed', () =>
  z.strictObject({ failure: Failure(), isRewritten: z.literal(true).optional() }),
)

/** The agent's task is done: a record is to take its place before the next step. */
export const CheckpointPending = defineComponent('CheckpointPending', () =>
  z.strictObject({
    /** Who said so last. */
    by: z.enum(['manual', 'model']),
    /** What was said of it last. */
    note: z.string().optional(),
    /** Of programs that wait for it. */
    requests: z.array(z.string()),
  }),
)

/** Programs wait for that record: it is written at the next quiet point, be there a step to come or not. */
export const CheckpointAsked = defineTag('CheckpointAsked')
