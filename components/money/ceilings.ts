import { z } from 'zod'
import { type DataOf, defineComponent } from '../../src/world/component.ts'
import { lazily } from '../../src/world/lazily.ts'
import { oneOf, positive } from '../../src/protocol/setting.ts'

export const CeilingSettings = lazily(() =>
  z.strictObject({
    /** Of all that the agent does in its life, in US dollars. Absent: no ceiling. */
    maxSessionCostUsd: positive().optional(),
    /** Of one turn, in US dollars. Absent: no ceiling. */
    maxTurnCostUsd: positive().optional(),
    /** What comes of a call to a model without a price: it is told, or the call is not started. @default 'warn' */
    onUnpriced: oneOf('warn', 'refuse').default('warn'),
  }),
)

/** What an agent may spend before it is stopped. */
export const Ceilings = defineComponent('Ceilings', CeilingSettings)
export type CeilingsData = DataOf<() => typeof Ceilings.schema>
