import { defineComponent } from '../../src/world/component.ts'
import { CallUsage } from '../../src/protocol/usage.ts'

/** Totals of an agent's model calls. Unreported counts are absent. */
export const Usage = defineComponent('Usage', CallUsage)

/** What a session's agent used beside its steps: summaries, and what calls that were cut are estimated to have used. Its parent pays for it too. */
export const UsageBeside = defineComponent('UsageBeside', CallUsage)
