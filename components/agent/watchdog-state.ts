import { z } from 'zod'
import { defineComponent, defineTag } from '../../src/world/component.ts'
import { json } from '../../src/protocol/values.ts'

/** What the watchdog remembers of an agent's tool calls. */
export const WatchdogState = defineComponent('WatchdogState', () =>
  z.strictObject({
    alerts: z.number().int().nonnegative(),
    /** For the model before its next step, oldest first. */
    notes: z.array(z.string()),
    /** The newest call that it has seen: entities ascend in call order. */
    seen: z.number().int().nonnegative(),
    signals: z.record(z.string(), json()),
  }),
)

/** The watchdog has stopped the agent: it makes no model call until the watchdog is reset. */
export const WatchdogLatch = defineComponent('WatchdogLatch', () =>
  z.strictObject({ atMs: z.number(), message: z.string(), signal: z.string() }),
)

/** Notes of the watchdog wait for the agent's next step. */
export const Cautioned = defineTag('Cautioned')
