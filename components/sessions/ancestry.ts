import { z } from 'zod'
import { defineComponent, defineTag } from '../../src/world/component.ts'
import { failureKinds } from '../../src/protocol/failure.ts'
import { sessionKinds } from '../../src/protocol/delegation.ts'

export const worldKinds = [...sessionKinds, 'subtask'] as const
export type WorldKind = (typeof worldKinds)[number]

/** On the one agent of a session's or subtask's World: the sessions above it, outermost first, its own last. */
export const Ancestry = defineComponent('Ancestry', () =>
  z.strictObject({
    sessions: z.array(z.strictObject({ kind: z.enum(worldKinds), sessionId: z.string() })),
  }),
)

/** How the session of this agent ended; removed when it is queried again. */
export const SessionEnd = defineComponent('SessionEnd', () =>
  z.discriminatedUnion('ok', [
    z.strictObject({ ok: z.literal(true), text: z.string() }),
    z.strictObject({ error: z.string(), kind: z.enum(failureKinds), ok: z.literal(false) }),
  ]),
)

/** The session of this agent was stopped from above: it does not go on, unless another session resumes it. */
export const SessionStopped = defineTag('SessionStopped')

/** The agent only waits, for its sessions or for a person, and has released its slot: it begins nothing without a new one. */
export const SlotReleased = defineTag('SlotReleased')

/** The effect whose outcome is a slot for this world's agent. */
export const SlotRequest = defineTag('SlotRequest')

/** Tools that a fork, or an agent below one, may run at most; others are still declared. */
export const ToolCeiling = defineComponent('ToolCeiling', () => z.strictObject({ allowed: z.array(z.string()) }))
