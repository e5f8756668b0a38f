import { z } from 'zod'
import { defineComponent } from '../../src/world/component.ts'

/** Parts of the conversation that its user took back, ascending and apart. No message gets their `seq`s again. */
export const Rewound = defineComponent('Rewound', () =>
  z.strictObject({
    ranges: z.array(z.strictObject({ fromSeq: z.number().int().positive(), toSeq: z.number().int().positive() })),
  }),
)
