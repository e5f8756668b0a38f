import { z } from 'zod'
import { type DataOf, defineComponent } from '../../src/world/component.ts'
import { lazily } from '../../src/world/lazily.ts'
import { Failure } from '../../src/protocol/failure.ts'
import { json } from '../../src/protocol/json.ts'

/** How an effect ended. It ends exactly once. */
export const outcomeSchema = lazily(() =>
  z.discriminatedUnion('ok', [
    z.strictObject({ ok: z.literal(true), value: json() }),
    z.strictObject({ ok: z.literal(false), failure: Failure() }),
  ]),
)
export type OutcomeData = DataOf<typeof outcomeSchema>

/** The effect is settled; whoever waits for it takes it from here. */
export const Outcome = defineComponent('Outcome', outcomeSchema)
