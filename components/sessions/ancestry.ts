import { z } from 'zod'
import { defineComponent, defineTag } from '../../src/world/component.ts'
import { failureKinds } from '../../src/protocol/failure.ts'
import { sessionKinds } from '../../src/protocol/delegation.ts'

/** What the World of a session, or of a subtask, is. */
export const worldKinds = [...sessionKinds, 'subtask'] as const
export type WorldKind = (typeof worldKinds)[number]

/** Makes an agent the one agent of a session's World, or a subtask's: the sessions above it, outermost first, its own last. */
export const Ancestry = defineComponent('Ancestry', () =>
  z.strictObject({
    sessions: z.array(z.strictObject({ kind: z.enum(worldKinds), sessionId: z.string() })),
  }),
)

/** How the session of this agent ended. Taken away when the session is asked a further question. */
export const SessionEnd = defineComponent('SessionEnd', () =>
  z.discriminatedUnion('ok', [
    z.strictObject({ ok: z.literal(true), text: z.string() }),
    z.strictObject({ error: z.string(), kind: z.enum(failureKinds), ok: z.literal(false) }),
  ]),
)

/** The agent only waits for its own sessions and has given its slot back: it begins nothing until it has one again. */
export const SlotReleased = defineTag('SlotReleased')

/** The effect whose outcome is a slot for this world's agent. */
export const SlotRequest = defineTag('SlotRequest')

/** What a fork, or an agent below one, may run at most: other tools are declared to it all the same. */
export const ToolCeiling = defineComponent('ToolCeiling', () => z.strictObject({ allowed: z.array(z.string()) }))
