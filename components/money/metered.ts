import { z } from 'zod'
import { defineComponent, defineTag } from '../../src/world/component.ts'

/** An agent of another world pays for this one: tokens that the provider did not report are estimated. */
export const Metered = defineTag('Metered')

/** The agent that pays has ceilings: it is asked before each call of the model. */
export const OnAllowance = defineTag('OnAllowance')

/** The parent's budget allows the model call that answers this many messages. */
export const Allowance = defineComponent('Allowance', () =>
  z.strictObject({ messages: z.number().int().nonnegative() }),
)

/** Asks whether the next call may begin. An effect of kind `allowance`. */
export const AllowanceCall = defineTag('AllowanceCall')
