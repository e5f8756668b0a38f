import { z } from 'zod'
import { defineComponent, defineTag } from '../../src/world/component.ts'
import { RestartClass } from '../../src/protocol/tool-declaration.ts'
import { entity } from '../../src/protocol/values.ts'
import { outcomeSchema } from '../../src/protocol/failure.ts'

/** Work that takes time. The Runner starts it after the commit; its outcome is an input. Its request stands beside it. */
export const Effect = defineComponent('Effect', () =>
  z.strictObject({
    /** From 1. Outcomes of earlier tries are dropped. */
    attempt: z.number().int().min(1),
    /** World time at which it fails as `timed-out`, begun or not. */
    deadlineMs: z.number().optional(),
    /** Of a `keyed` tool call that a resumed session inherited. @default the world's name and the entity */
    key: z.string().optional(),
    /** Such as `model` (ModelCall, SideCall), `tool` (ToolCall), `approval` (Approval), `session` (SubagentSession). */
    kind: z.string(),
    restart: RestartClass(),
    /** For one try, from its beginning. */
    timeoutMs: z.number().positive().optional(),
  }),
)

/** What an agent owns ends with its turn, and is despawned with it. */
export const OwnedBy = defineComponent('OwnedBy', () => z.strictObject({ agent: entity() }), {
  ref: 'agent',
  cascade: true,
})

/** Begins after the commit, once its queue has a slot. On restart, a `once` effect never began; others may have. */
export const Pending = defineTag('Pending')

/** Has a slot. After a restart a `once` effect may have happened; a `resumable` one goes on. */
export const Running = defineComponent('Running', () => z.strictObject({ sinceMs: z.number() }))

/** Waits for its next try. */
export const Due = defineComponent('Due', () => z.strictObject({ atMs: z.number() }))

/** Settled; the system that started it takes the result. */
export const Outcome = defineComponent('Outcome', outcomeSchema)
