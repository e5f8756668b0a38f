import { z } from 'zod'
import { defineComponent, defineTag } from '../../src/world/component.ts'

/** What the agent spends is charged to an agent of another world: it keeps a `Ledger`, so that it can tell that one. */
export const Metered = defineTag('Metered')

/** The agent that pays has ceilings: it is asked before each call of the model. */
export const OnAllowance = defineTag('OnAllowance')

/** The call of the model may begin that answers so many messages. */
export const Allowance = defineComponent('Allowance', () =>
  z.strictObject({ messages: z.number().int().nonnegative() }),
)

/** Asks whether the next call may begin. An effect of kind `allowance`. */
export const AllowanceCall = defineTag('AllowanceCall')
