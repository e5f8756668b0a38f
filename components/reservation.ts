import { z } from 'zod'
import { defineComponent } from '../src/world/component.ts'

/** What a call in flight of an agent that has `Ceilings` may cost at most, as far as that can be told ahead. On the effect. */
export const Reservation = defineComponent('Reservation', () =>
  z.strictObject({
    /** In billionths of a US dollar; 0: its model has no price. */
    nanoUsd: z.number().int().nonnegative(),
    /** Of the request, before any factor. */
    rawTokens: z.number().int().nonnegative(),
  }),
)
