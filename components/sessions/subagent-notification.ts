import { z } from 'zod'
import { defineComponent } from '../../src/world/component.ts'
import { entity } from '../../src/protocol/entity.ts'

/** What an agent is told of a session that ended, once. On the session. */
export const SubagentNotification = defineComponent('SubagentNotification', () =>
  z.strictObject({
    /** `<session id>:<status>`. */
    id: z.string(),
    state: z.enum(['unread', 'read']),
  }),
)

/** The session's notification is unread: by this reference an agent's unread ones are found. */
export const UnreadBy = defineComponent('UnreadBy', () => z.strictObject({ agent: entity() }), { ref: 'agent' })
