import { z } from 'zod'
import { defineComponent, defineTag } from '../../src/world/component.ts'
import { Failure } from '../../src/protocol/failure.ts'

/** A turn has ended; whether to compact is not decided yet. */
export const Unweighed = defineTag('Unweighed')

/** Compact before the first step of the next turn. */
export const CompactionPending = defineTag('CompactionPending')

/** Of recent automatic compactions. Absent: they went well. */
export const CompactionState = defineComponent('CompactionState', () =>
  z.strictObject({
    /** In a row. */
    failures: z.number().int().nonnegative(),
    /** The next own call shows whether the newest one helped. */
    isOnTrial: z.literal(true).optional(),
    /** Turns to wait before the next. */
    turnsToWait: z.number().int().nonnegative(),
  }),
)

/** Programs asked for a compaction at the next quiet point. */
export const CompactionAsked = defineComponent('CompactionAsked', () =>
  z.strictObject({
    focus: z.string().optional(),
    /** Only above the threshold. */
    ifNeeded: z.literal(true).optional(),
    requests: z.array(z.string()),
  }),
)

/** The step exceeded the context window; it is retried when the conversation is shorter. */
export const Overflowed = defineComponent('Overflowed', () =>
  z.strictObject({ failure: Failure(), isRewritten: z.literal(true).optional() }),
)

/** The task is done: a record replaces it before the next step. */
export const CheckpointPending = defineComponent('CheckpointPending', () =>
  z.strictObject({
    by: z.enum(['manual', 'model']),
    note: z.string().optional(),
    /** Ids of programs that wait for it. */
    requests: z.array(z.string()),
  }),
)

/** Programs wait for that record: it is written at the next quiet point, even without a next step. */
export const CheckpointAsked = defineTag('CheckpointAsked')
