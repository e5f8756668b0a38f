import { z } from 'zod'
import { defineComponent, defineTag } from '../../src/world/component.ts'

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
