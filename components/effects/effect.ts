import { z } from 'zod'
import { defineComponent } from '../../src/world/component.ts'
import { RestartClass } from '../../src/protocol/tool-declaration.ts'

/**
 * Work that takes time. Born `Pending`; once that is committed the Runner does it, and its outcome comes back as an
 * input. What is to be done stands beside it, in the component that `kind` goes with.
 */
export const Effect = defineComponent('Effect', () =>
  z.strictObject({
    /** Which try this is, from 1. An outcome of an earlier one is dropped. */
    attempt: z.number().int().min(1),
    /** World time at which it is settled as `timed-out`, begun or not. */
    deadlineMs: z.number().optional(),
    /**
     * Idempotency key of a `keyed` tool call that a session has taken over from the one that it goes on with. Absent: the name
     * of the world and the entity.
     */
    key: z.string().optional(),
    /** Such as `model` (ModelCall, SideCall), `tool` (ToolCall), `approval` (Approval), `session` (SubagentSession). */
    kind: z.string(),
    restart: RestartClass(),
    /** Longest that one try may take, from when it begins; then it is settled as `timed-out`. */
    timeoutMs: z.number().positive().optional(),
  }),
)
