import { z } from 'zod'
import { defineComponent } from '../../src/world/component.ts'
import { entity } from '../../src/protocol/values.ts'

/** One step of an agent. Its request is projected when it begins. */
export const ModelCall = defineComponent('ModelCall', () =>
  z.strictObject({
    /** The projection was rewritten since: its token count says nothing of the next request. */
    isOutdated: z.literal(true).optional(),
    /** Messages of the conversation that it answers; the reply goes right behind. */
    messages: z.number().int().nonnegative(),
  }),
)

/** A model call about a part of the conversation, without tools: no step, and not ended with the turn. */
export const SideCall = defineComponent(
  'SideCall',
  () =>
    z.strictObject({
      agent: entity(),
      /** Question before the part; `close` ends it behind. */
      ask: z.string(),
      /** Text of an earlier boundary, before the part. */
      carried: z.string().optional(),
      close: z.string().optional(),
      /** The part begins behind this `seq`; 0: at the first message. */
      fromSeq: z.number().int().nonnegative(),
      /** Longer parts are cut in the middle. */
      maxChars: z.number().int().nonnegative().optional(),
      maxOutputTokens: z.number().int().positive(),
      model: z.string(),
      purpose: z.enum(['compaction', 'checkpoint', 'archival-summary']),
      /** An earlier reply and what was wrong with it. */
      repair: z.strictObject({ problem: z.string(), reply: z.string() }).optional(),
      system: z.string(),
      toSeq: z.number().int().nonnegative(),
    }),
  { ref: 'agent', cascade: true },
)
