import { z } from 'zod'
import { defineComponent, defineTag } from '../../src/world/component.ts'
import { entity } from '../../src/protocol/values.ts'

/** The agent sleeps until sessions of its have ended: no step begins. */
export const SubagentWait = defineComponent('SubagentWait', () =>
  z.strictObject({
    deadlineMs: z.number().nullable(),
    mode: z.enum(['any', 'all']),
    /** Those named, or `null`: the agent's background sessions. */
    sessions: z.array(entity()).nullable(),
    startedAtMs: z.number(),
    /** Of a wait for all that names none: those that were active when it began. */
    watched: z.array(entity()).optional(),
    timeoutMs: z.number().nullable(),
  }),
)

/** The effect whose deadline ends its owner's wait. */
export const WaitDeadline = defineTag('WaitDeadline')

/** The session ended while its parent waited for it, as long as the wait goes on. */
export const EndedInWait = defineComponent('EndedInWait', () => z.strictObject({ agent: entity() }), { ref: 'agent' })

/** The agent has unread notifications of ended sessions. */
export const Notified = defineTag('Notified')

/** An agent's notification that a session ended, delivered once. On the session. */
export const SubagentNotification = defineComponent('SubagentNotification', () =>
  z.strictObject({
    /** `<session id>:<status>`. */
    id: z.string(),
    state: z.enum(['unread', 'read']),
  }),
)

/** The session's notification is unread: by this reference an agent's unread ones are found. */
export const UnreadBy = defineComponent('UnreadBy', () => z.strictObject({ agent: entity() }), { ref: 'agent' })
