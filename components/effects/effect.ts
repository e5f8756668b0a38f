import { z } from 'zod'
import { defineComponent, defineTag } from '../../src/world/component.ts'
import { RestartClass } from '../../src/protocol/tool-declaration.ts'
import { entity } from '../../src/protocol/values.ts'
import { outcomeSchema } from '../../src/protocol/failure.ts'

/**
 * Work that takes time. Spawned `Pending`; the Runner starts it after the commit and returns its outcome as an input. The
 * request is a component beside it, which depends on `kind`.
 */
export const Effect = defineComponent('Effect', () =>
  z.strictObject({
    /** Which try this is, from 1. An outcome of an earlier one is dropped. */
    attempt: z.number().int().min(1),
    /** World time at which it is settled as `timed-out`, begun or not. */
    deadlineMs: z.number().optional(),
    /** Idempotency key of a `keyed` tool call that a resumed session inherited. @default the world's name and the entity */
    key: z.string().optional(),
    /** Such as `model` (ModelCall, SideCall), `tool` (ToolCall), `approval` (Approval), `session` (SubagentSession). */
    kind: z.string(),
    restart: RestartClass(),
    /** Longest that one try may take, from when it begins; then it is settled as `timed-out`. */
    timeoutMs: z.number().positive().optional(),
  }),
)

/** Whose effect or call it is. What an agent owns ends with the agent's turn, and goes with the agent. */
export const OwnedBy = defineComponent('OwnedBy', () => z.strictObject({ agent: entity() }), {
  ref: 'agent',
  cascade: true,
})

/**
 * The effect begins once this is committed and its queue has a slot. After a restart: a `once` effect never began, any
 * other may have begun and begins again.
 */
export const Pending = defineTag('Pending')

/**
 * The effect has a slot. A `once` effect begins once this is committed; after a restart it may have happened. A `resumable`
 * one, such as a session, goes on after a restart.
 */
export const Running = defineComponent('Running', () => z.strictObject({ sinceMs: z.number() }))

/** The effect waits for its next try until this world time. */
export const Due = defineComponent('Due', () => z.strictObject({ atMs: z.number() }))

/** The effect is settled. The system that started it takes the result from here. */
export const Outcome = defineComponent('Outcome', outcomeSchema)
