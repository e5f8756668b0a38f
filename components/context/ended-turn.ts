import { z } from 'zod'
import { defineComponent } from '../../src/world/component.ts'
import { entity } from '../../src/protocol/entity.ts'
import { stops } from '../agent/last-turn.ts'

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
