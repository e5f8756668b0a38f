import { defineComponent } from '../../src/world/component.ts'
import { CallUsage } from '../../src/protocol/usage.ts'

/** What an agent's model calls have used in total. A count that no call reported is absent. */
export const Usage = defineComponent('Usage', CallUsage)

/**
 * What the agent of a session has used besides the replies to its steps: calls for summaries, and what is estimated of calls
 * that were cut off. Its session's parent pays for that as well.
 */
export const UsageBeside = defineComponent('UsageBeside', CallUsage)
