import { z } from 'zod'
import { defineComponent, defineTag } from '../../src/world/component.ts'
import { entity } from '../../src/protocol/values.ts'

/** The agent begins no step until sessions have ended. */
export const SubagentWait = defineComponent('SubagentWait', () =>
  z.strictObject({
    deadlineMs: z.number().nullable(),
    mode: z.enum(['any', 'all']),
    /** `null`: all its background sessions. */
    sessions: z.array(entity()).nullable(),
    startedAtMs: z.number(),
    /** For `all` without names: those active at the start. */
    watched: z.array(entity()).optional(),
    timeoutMs: z.number().nullable(),
  }),
)

/** The effect whose deadline ends its owner's wait. */
export const WaitDeadline = defineTag('WaitDeadline')

/** On a session that ended during its parent's wait. */
export const EndedInWait = defineComponent('EndedInWait', () => z.strictObject({ agent: entity() }), { ref: 'agent' })

/** The agent has unread notifications of ended sessions. */
export const Notified = defineTag('Notified')

/** On a session: notifies its parent of the end, once. */
export const SubagentNotification = defineComponent('SubagentNotification', () =>
  z.strictObject({
    /** `<session id>:<status>`. */
    id: z.string(),
    state: z.enum(['unread', 'read']),
  }),
)

/** On a session with an unread notification, to find an agent's unread ones. */
export const UnreadBy = defineComponent('UnreadBy', () => z.strictObject({ agent: entity() }), { ref: 'agent' })
