import { z } from 'zod'
import { type DeepReadonly, defineComponent } from '../src/world/component.ts'
import { Failure } from './failure.ts'
import { json } from './json.ts'

/** How an effect ended. It ends exactly once. */
export const outcomeSchema = lazily(() => z.discriminatedUnion('ok', [
  z.strictObject({ ok: z.literal(true), value: json }),
  z.strictObject({ ok: z.literal(false), failure: Failure }),
]))
export type OutcomeData = DeepReadonly<z.infer<typeof outcomeSchema>>

/** The effect is settled; whoever waits for it takes it from here. */
export const Outcome = defineComponent('Outcome', outcomeSchema)
