import { z } from 'zod'
import { defineComponent } from '../../src/world/component.ts'
import { entity } from '../../src/protocol/values.ts'

/** How far an agent's transcript has come in the store. */
export const AgentTranscript = defineComponent('AgentTranscript', () =>
  z.strictObject({
    lines: z.number().int().nonnegative(),
    /** Of its last message: which turn it belongs to, and how many steps that had by then. */
    place: z.strictObject({ step: z.number().int().nonnegative(), turn: z.number().int().nonnegative() }).optional(),
    /** Messages up to this `seq` are in it. */
    seq: z.number().int().nonnegative(),
  }),
)

/** Messages of the agent up to this `seq` are to be brought to its transcript. */
export const TranscriptDue = defineComponent('TranscriptDue', () =>
  z.strictObject({ seq: z.number().int().positive() }),
)

/** Lines that are on their way to an agent's transcript: one write at a time. An effect of kind `transcript`. */
export const TranscriptWrite = defineComponent(
  'TranscriptWrite',
  () =>
    z.strictObject({
      /** Messages behind this `seq` … */
      afterSeq: z.number().int().nonnegative(),
      agent: entity(),
      /** Unix time that its lines bear. */
      dateMs: z.number(),
      /** Place of its first line. */
      from: z.number().int().nonnegative(),
      /** The turn that was archived: written behind the messages. */
      rewrite: z
        .strictObject({
          fromSeq: z.number().int().positive(),
          subagentId: z.string(),
          toSeq: z.number().int().positive(),
        })
        .optional(),
      /** … up to this one. */
      toSeq: z.number().int().positive(),
      tries: z.number().int().positive(),
    }),
  { ref: 'agent', cascade: true },
)
