import { z } from 'zod'
import { defineComponent } from '../../src/world/component.ts'
import { entity } from '../../src/protocol/values.ts'

/** How far an agent's transcript has come in the store. */
export const AgentTranscript = defineComponent('AgentTranscript', () =>
  z.strictObject({
    lines: z.number().int().nonnegative(),
    /** Turn and step of its last message. */
    place: z.strictObject({ step: z.number().int().nonnegative(), turn: z.number().int().nonnegative() }).optional(),
    /** Messages up to this `seq` are in it. */
    seq: z.number().int().nonnegative(),
  }),
)

/** Messages up to this `seq` are to be written to the transcript. */
export const TranscriptDue = defineComponent('TranscriptDue', () =>
  z.strictObject({ seq: z.number().int().positive() }),
)

/** An effect of kind `transcript`: writes the messages behind `afterSeq` up to `toSeq`, one write at a time. */
export const TranscriptWrite = defineComponent(
  'TranscriptWrite',
  () =>
    z.strictObject({
      afterSeq: z.number().int().nonnegative(),
      agent: entity(),
      /** Unix time of its lines. */
      dateMs: z.number(),
      /** Index of its first line. */
      from: z.number().int().nonnegative(),
      /** The archived turn, written behind the messages. */
      rewrite: z
        .strictObject({
          fromSeq: z.number().int().positive(),
          subagentId: z.string(),
          toSeq: z.number().int().positive(),
        })
        .optional(),
      toSeq: z.number().int().positive(),
      tries: z.number().int().positive(),
    }),
  { ref: 'agent', cascade: true },
)
